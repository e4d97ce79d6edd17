"""Access to Exoscale: required, from the environment alone."""

from __future__ import annotations

import pytest

from exoscaler.errors import SettingsError
from exoscaler.settings import ExoscaleAccess, LoadedSettings, load_settings
from tests.settings.doors import CREDENTIALS, load, mistake, mistakes, warning


def access(**env: str) -> ExoscaleAccess:
    found = load(env=env).settings.exoscale
    assert found is not None
    return found


def load_with(env: dict[str, str], *argv: str) -> LoadedSettings:
    return load_settings(argv, env, installed_providers=["exoscale", "sandcloud"])


@pytest.mark.parametrize(
    "missing",
    [
        ["EXOSCALE_ZONE"],
        ["EXOSCALE_API_KEY"],
        ["EXOSCALE_API_SECRET"],
        ["EXOSCALE_ZONE", "EXOSCALE_API_SECRET"],
        ["EXOSCALE_ZONE", "EXOSCALE_API_KEY", "EXOSCALE_API_SECRET"],
    ],
)
@pytest.mark.parametrize("blank", [None, "", "  ", "\n"])
def test_one_mistake_names_all_that_is_missing(missing: list[str], blank: str | None) -> None:
    env = {name: value for name, value in CREDENTIALS.items() if name not in missing}
    if blank is not None:
        env |= dict.fromkeys(missing, blank)

    with pytest.raises(SettingsError) as caught:
        load_with(env)

    assert caught.value.mistakes == (
        f"{', '.join(missing)}: must be set in the environment to use the cloud provider exoscale",
    )


def test_another_provider_needs_none_of_it() -> None:
    assert load_with({}, "--cloud-provider=sandcloud").settings.exoscale is None


def test_credentials_are_kept_as_secrets() -> None:
    found = access()

    assert found.api_key.get_secret_value() == CREDENTIALS["EXOSCALE_API_KEY"]
    assert found.api_secret.get_secret_value() == CREDENTIALS["EXOSCALE_API_SECRET"]


@pytest.mark.parametrize(
    ("env", "endpoint"),
    [
        ({}, "https://api-ch-gva-2.exoscale.com/v2"),
        ({"EXOSCALE_ZONE": "de-fra-1"}, "https://api-de-fra-1.exoscale.com/v2"),
        ({"EXOSCALE_API_ENVIRONMENT": "ppapi"}, "https://ppapi-ch-gva-2.exoscale.com/v2"),
        ({"EXOSCALE_API_ENVIRONMENT": " "}, "https://api-ch-gva-2.exoscale.com/v2"),
        ({"EXOSCALE_API_ENDPOINT": "https://proxy.example/exo/v2/"}, "https://proxy.example/exo/v2"),
        ({"EXOSCALE_API_ENDPOINT": "http://127.0.0.1:8123/v2"}, "http://127.0.0.1:8123/v2"),
        ({"EXOSCALE_API_ENDPOINT": "http://[::1]:8123/v2"}, "http://[::1]:8123/v2"),
        (
            {"EXOSCALE_API_ENDPOINT": "http://localhost:8123/v2", "EXOSCALE_API_ENVIRONMENT": "ppapi"},
            "http://localhost:8123/v2",
        ),
    ],
)
def test_endpoint_follows_from_zone_and_environment_unless_it_is_given(env: dict[str, str], endpoint: str) -> None:
    loaded = load(env=env)

    assert loaded.settings.exoscale is not None
    assert loaded.settings.exoscale.endpoint == endpoint
    assert loaded.warnings == ()


def test_zone_that_is_new_is_accepted_with_a_warning() -> None:
    assert access(EXOSCALE_ZONE="fr-par-1").endpoint == "https://api-fr-par-1.exoscale.com/v2"
    assert warning(env={"EXOSCALE_ZONE": "fr-par-1"}).startswith("EXOSCALE_ZONE=fr-par-1: not one of the zones known")


@pytest.mark.parametrize("zone", ["ch_gva_2", "CH-GVA-2", "ch-gva-2.evil.example/", "-a", "a-", "zone one", "a" * 64])
def test_zone_that_cannot_be_part_of_a_host_name_is_refused(zone: str) -> None:
    assert "must be 1 to 63 lower-case letters" in mistake(env={"EXOSCALE_ZONE": zone})


def test_environment_that_cannot_be_part_of_a_host_name_is_refused() -> None:
    assert mistake(env={"EXOSCALE_API_ENVIRONMENT": "api.evil/"}).startswith(
        "EXOSCALE_API_ENVIRONMENT=api.evil/: must be"
    )


def test_zone_and_environment_must_fit_one_label_together() -> None:
    told = mistake(env={"EXOSCALE_ZONE": "a" * 40, "EXOSCALE_API_ENVIRONMENT": "b" * 40})

    assert told == "EXOSCALE_ZONE: together with EXOSCALE_API_ENVIRONMENT it must be no longer than 63 characters"


@pytest.mark.parametrize(
    "endpoint", ["api.exoscale.com", "ftp://api/v2", "https://", "https://api/v2?x=1", "https://a b/v2", "http://["]
)
def test_endpoint_that_is_no_address_is_refused(endpoint: str) -> None:
    assert mistake(env={"EXOSCALE_API_ENDPOINT": endpoint}).startswith("EXOSCALE_API_ENDPOINT=")


def test_endpoint_without_encryption_is_accepted_with_a_warning() -> None:
    assert warning(env={"EXOSCALE_API_ENDPOINT": "http://exoscale.sandbox.svc/v2"}) == (
        "EXOSCALE_API_ENDPOINT=http://exoscale.sandbox.svc/v2: requests to it are signed but not encrypted; use https"
    )


def test_endpoint_without_version_is_accepted_with_a_warning() -> None:
    assert "does not end in /v2" in warning(env={"EXOSCALE_API_ENDPOINT": "https://api-ch-gva-2.exoscale.com"})


def test_credentials_in_an_endpoint_are_refused_and_not_shown() -> None:
    told = mistake(env={"EXOSCALE_API_ENDPOINT": "https://me:p@ss/word@proxy.example/v2"})

    assert told.startswith("EXOSCALE_API_ENDPOINT=https://***@proxy.example/v2: ")
    assert "word" not in told


def test_new_line_after_a_secret_is_left_out_with_a_warning() -> None:
    secret = CREDENTIALS["EXOSCALE_API_SECRET"]
    loaded = load(env={"EXOSCALE_API_SECRET": f"{secret}\n"})

    assert loaded.settings.exoscale is not None
    assert loaded.settings.exoscale.api_secret.get_secret_value() == secret
    assert loaded.warnings == (
        "EXOSCALE_API_SECRET: white space around it was left out; a Secret made from a file often ends in a new line",
    )


@pytest.mark.parametrize("key", ["EXO with space", "EXO,comma", "EXO\x00null", "EXÖ"])
def test_key_that_would_break_the_header_is_refused_and_not_shown(key: str) -> None:
    assert mistake(env={"EXOSCALE_API_KEY": key}) == (
        "EXOSCALE_API_KEY: holds characters that no API key has, such as a space or a comma"
    )


@pytest.mark.parametrize("secret", ["with space", "with,comma=and\"quote'", "\u00e9\u4e16", "x", "y" * 10_000])
def test_secret_of_any_length_and_characters_is_taken_as_it_is(secret: str) -> None:
    assert access(EXOSCALE_API_SECRET=secret).api_secret.get_secret_value() == secret


@pytest.mark.parametrize("name", ["exoscale-zone", "exoscale-api-key", "exoscale-api-secret", "exoscale-api-endpoint"])
def test_access_on_a_command_line_is_refused_without_showing_it(name: str) -> None:
    variable = name.upper().replace("-", "_")
    expected = (f"--{name}: read from the environment variable {variable} only",)

    assert mistakes(f"--{name}=hush-hush") == expected
    assert mistakes(f"--{name}", "hush-hush") == expected
