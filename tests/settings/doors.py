"""Ways into the settings, with credentials in place so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import pytest

from exoscaler.errors import SettingsError
from exoscaler.settings import LoadedSettings, Settings, load_settings

CREDENTIALS: Mapping[str, str] = MappingProxyType(
    {
        "EXOSCALE_ZONE": "ch-gva-2",
        "EXOSCALE_API_KEY": "EXO0123456789abcdef01234567",
        "EXOSCALE_API_SECRET": "made-up-secret-made-up-secret",
    }
)


def load(
    *argv: str, env: Mapping[str, str] | None = None, installed: Collection[str] = ("exoscale", "sandcloud")
) -> LoadedSettings:
    return load_settings(argv, {**CREDENTIALS, **(env or {})}, installed_providers=installed)


def settings(*argv: str, env: Mapping[str, str] | None = None) -> Settings:
    return load(*argv, env=env).settings


def mistakes(*argv: str, env: Mapping[str, str] | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        load(*argv, env=env)
    return caught.value.mistakes


def mistake(*argv: str, env: Mapping[str, str] | None = None) -> str:
    """The one and only mistake."""
    (only,) = mistakes(*argv, env=env)
    return only


def warning(*argv: str, env: Mapping[str, str] | None = None) -> str:
    """The one and only warning."""
    (only,) = load(*argv, env=env).warnings
    return only
