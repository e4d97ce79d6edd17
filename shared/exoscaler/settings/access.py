"""Access to Exoscale's API, from the environment variables that Exoscale's own tools use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import SecretStr

from exoscaler.settings.identifiers import dns_label, is_loopback, read_url
from exoscaler.settings.model import ExoscaleAccess
from exoscaler.settings.origin import Origin, Source
from exoscaler.settings.report import Report

PROVIDER = "exoscale"
"""The provider that needs this access."""

ZONE = "EXOSCALE_ZONE"
API_KEY = "EXOSCALE_API_KEY"
API_SECRET = "EXOSCALE_API_SECRET"  # noqa: S105 (the name of a variable, not a secret)
API_ENVIRONMENT = "EXOSCALE_API_ENVIRONMENT"
API_ENDPOINT = "EXOSCALE_API_ENDPOINT"

VARIABLES: Mapping[str, str] = {
    ZONE: "Zone of the cluster, e.g. `ch-gva-2`. Required.",
    API_KEY: "API key. Required.",
    API_SECRET: "Its secret. Required.",
    API_ENVIRONMENT: "First part of the API's host name; `api` unless set. "
    "The endpoint is `https://{environment}-{zone}.exoscale.com/v2`.",
    API_ENDPOINT: "Base address of the API with `/v2`, instead of the one above.",
}
"""What each of them means."""

KNOWN_ZONES = ("at-vie-1", "at-vie-2", "bg-sof-1", "ch-dk-2", "ch-gva-2", "de-fra-1", "de-muc-1", "hr-zag-1")
"""The zones known when this was written. Others are accepted: zones are added faster than clients are updated."""

_DEFAULT_ENVIRONMENT = "api"
# The key stands unquoted in a header whose parts are separated by commas.
_KEY = re.compile(r"[!-+\--~]+")


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values that must never be shown, as they stand in the environment."""
    return tuple(environ[name] for name in (API_KEY, API_SECRET) if environ.get(name))


def read_access(environ: Mapping[str, str], report: Report) -> ExoscaleAccess | None:
    """Read the access. Missing variables are one mistake that names them all, and blank counts as missing.

    Returns:
        None when there is a mistake in the report.
    """
    mistakes_before = len(report.mistakes)
    values = {name: environ.get(name, "").strip() for name in VARIABLES}
    _check_present(values, report)
    _check_credentials(environ, values, report)
    zone, environment = values[ZONE], values[API_ENVIRONMENT] or _DEFAULT_ENVIRONMENT
    _check_host(zone, environment, report)
    endpoint = f"https://{environment}-{zone}.exoscale.com/v2"
    if values[API_ENDPOINT]:
        endpoint = _endpoint(values[API_ENDPOINT], report)
    if len(report.mistakes) > mistakes_before:
        return None
    return ExoscaleAccess(
        zone=zone,
        api_key=SecretStr(values[API_KEY]),
        api_secret=SecretStr(values[API_SECRET]),
        environment=environment,
        endpoint=endpoint,
    )


def _check_present(values: Mapping[str, str], report: Report) -> None:
    if missing := [name for name in (ZONE, API_KEY, API_SECRET) if not values[name]]:
        report.mistake(", ".join(missing), "must be set in the environment to use the cloud provider exoscale")


def _check_credentials(environ: Mapping[str, str], values: Mapping[str, str], report: Report) -> None:
    """Nothing here shows a value, not even a wrong one."""
    for name in (API_KEY, API_SECRET):
        if values[name] and values[name] != environ[name]:
            report.warning(
                name, "white space around it was left out; a Secret made from a file often ends in a new line"
            )
    if values[API_KEY] and not _KEY.fullmatch(values[API_KEY]):
        report.mistake(API_KEY, "holds characters that no API key has, such as a space or a comma")


def _check_host(zone: str, environment: str, report: Report) -> None:
    for name, value in ((ZONE, zone), (API_ENVIRONMENT, environment)):
        try:
            if value:
                dns_label(value)
        except ValueError as wrong:
            report.mistake(
                Origin(Source.ENVIRONMENT, name), f"{wrong}, e.g. {'ch-gva-2' if name == ZONE else 'api'}", value
            )
            return
    if len(f"{environment}-{zone}") > 63:
        report.mistake(ZONE, f"together with {API_ENVIRONMENT} it must be no longer than 63 characters")
    elif zone and zone not in KNOWN_ZONES:
        what = f"not one of the zones known to this version: {', '.join(KNOWN_ZONES)}"
        report.warning(Origin(Source.ENVIRONMENT, ZONE), what, zone)


def _endpoint(text: str, report: Report) -> str:
    origin = Origin(Source.ENVIRONMENT, API_ENDPOINT)
    try:
        endpoint = read_url(text)
    except ValueError as wrong:
        report.mistake(origin, str(wrong), text)
        return text
    if endpoint.startswith("http:") and not is_loopback(endpoint):
        report.warning(origin, "requests to it are signed but not encrypted; use https", text)
    if not urlsplit(endpoint).path.endswith("/v2"):
        report.warning(origin, "does not end in /v2, where the API answers", text)
    return endpoint
