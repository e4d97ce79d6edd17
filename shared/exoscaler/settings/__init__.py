"""Flags, environment and file as one frozen model.

`load_settings` is the door: it reads every source, and returns the settings or raises one error with every mistake.
A flag is described once, in `exoscaler.settings.fields` when it works, else in `without_effect` or `refused`; the
command line, the environment, the file and the reference page (``docs/settings.md``) are made from that.
"""

from exoscaler.settings.composite import IMPLEMENTED_EXPANDERS, KNOWN_EXPANDERS, DrainPriority, GpuLimits
from exoscaler.settings.environment import process_environment
from exoscaler.settings.loading import LoadedSettings, load_settings
from exoscaler.settings.model import ExoscaleAccess, Settings
from exoscaler.settings.origin import Origin, Source
from exoscaler.settings.providers import PROVIDERS_GROUP, installed_providers

__all__ = [
    "IMPLEMENTED_EXPANDERS",
    "KNOWN_EXPANDERS",
    "PROVIDERS_GROUP",
    "DrainPriority",
    "ExoscaleAccess",
    "GpuLimits",
    "LoadedSettings",
    "Origin",
    "Settings",
    "Source",
    "installed_providers",
    "load_settings",
    "process_environment",
]
