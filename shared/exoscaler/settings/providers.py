"""Which cloud providers are installed."""

from __future__ import annotations

from importlib.metadata import entry_points

PROVIDERS_GROUP = "exoscaler.providers"
"""The entry-point group under which a provider registers; the name of its entry is the value of ``cloud-provider``."""


def installed_providers() -> frozenset[str]:
    """The names of all installed providers. None of them is imported."""
    return frozenset(entry_points(group=PROVIDERS_GROUP).names)
