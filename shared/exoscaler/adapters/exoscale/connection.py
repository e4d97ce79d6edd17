"""Builds the client from a `CloudConnection`, or says everything that is wrong with it."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import timedelta

import httpx
from pydantic import SecretStr

from exoscaler import __version__
from exoscaler.adapters.exoscale.calls import is_id
from exoscaler.adapters.exoscale.client import ExoscaleClient
from exoscaler.adapters.exoscale.http import Http, Monotonic, Patience, open_connections
from exoscaler.adapters.exoscale.signing import ExoscaleAuth
from exoscaler.errors import SettingsError
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import CallObserver, CloudConnection, TimeLeft

_KEY = re.compile(r"[!-+\--~]+")
"""Printable ASCII without blanks and commas: what fits the ``Authorization`` header."""

_AGENT = re.compile(r"[ -~]*")


def connect(
    connection: CloudConnection,
    clock: Clock,
    on_call: CallObserver,
    time_left: TimeLeft | None = None,
    *,
    transport: httpx.BaseTransport | None = None,
    monotonic: Monotonic = time.monotonic,
) -> ExoscaleClient:
    """A client for the connection; `transport` stands in for the network, `monotonic` for the time that passes.

    Raises:
        SettingsError: the connection cannot work as described.
    """
    if mistakes := tuple(_mistakes(connection)):
        raise SettingsError(mistakes)
    patience = Patience(connection.request_timeout, connection.call_timeout, connection.max_attempts)
    connections = open_connections(
        connection.endpoint,
        ExoscaleAuth(connection.api_key, connection.api_secret, clock.now),
        f"exoscaler/{__version__} {connection.user_agent_suffix}".rstrip(),
        transport,
    )
    return ExoscaleClient(Http(connections, clock, on_call, patience, time_left=time_left, monotonic=monotonic))


def _mistakes(connection: CloudConnection) -> Iterator[str]:
    """One sentence per mistake; none of them quotes a credential."""
    yield from _endpoint_mistakes(connection.endpoint)
    yield from _credential_mistakes("key", connection.api_key)
    yield from _credential_mistakes("secret", connection.api_secret)
    key = connection.api_key.get_secret_value()
    if key and key == key.strip() and _KEY.fullmatch(key) is None:
        yield "the Exoscale API key has characters that no key has; it looks like EXO followed by letters and digits"
    if connection.cluster_id and not is_id(connection.cluster_id.lower()):
        yield f"the SKS cluster id {connection.cluster_id!r} is not a UUID"
    if connection.request_timeout <= timedelta(0) or connection.call_timeout <= timedelta(0):
        yield "the time-outs of the Exoscale API must be longer than zero"
    if connection.max_attempts < 1:
        yield f"a call needs at least 1 attempt, not {connection.max_attempts}"
    if _AGENT.fullmatch(connection.user_agent_suffix) is None:
        yield f"the user agent {connection.user_agent_suffix!r} has characters other than printable ASCII"


def _credential_mistakes(name: str, credential: SecretStr) -> Iterator[str]:
    text = credential.get_secret_value()
    if not text.strip():
        yield f"the Exoscale API {name} is empty"
    elif text != text.strip():
        yield f"the Exoscale API {name} begins or ends with white space, often a newline left by a text file"


def _endpoint_mistakes(endpoint: str) -> Iterator[str]:
    form = "expected a base URL such as https://api-ch-gva-2.exoscale.com/v2"
    try:
        url = httpx.URL(endpoint)
    except httpx.InvalidURL:
        yield f"the Exoscale endpoint is not a URL; {form}"
        return
    if url.userinfo:
        yield f"the Exoscale endpoint carries credentials, which would be logged; {form}"
    elif url.scheme not in ("http", "https") or not url.host:
        yield f"the Exoscale endpoint {endpoint!r} is not an HTTP URL; {form}"
    elif url.query or url.fragment:
        yield f"the Exoscale endpoint {endpoint!r} ends in a query or a fragment; {form}"
