"""Flags that set another flag's field: ``v``, ``logging-format`` and the deprecated ``ignore-taint``."""

from __future__ import annotations

from dataclasses import dataclass, field

from exoscaler.logs import LogLevel
from exoscaler.settings.catalogue import VERBOSE
from exoscaler.settings.reading import Given
from exoscaler.settings.report import Report


@dataclass(slots=True)
class Resolved:
    """What the flags amount to, on the way to `Settings`.

    Attributes:
        values: typed values by flag name; of a list only those elements that could be read.
        given: the occurrences behind each value, for a list one for each element.
        mistaken: flags of which something could not be read.
    """

    values: dict[str, object] = field(default_factory=dict)
    given: dict[str, tuple[Given, ...]] = field(default_factory=dict)
    mistaken: set[str] = field(default_factory=set)

    def move(self, name: str, target: str, value: object) -> None:
        """Give another flag this value, as from where this one was written."""
        self.values[target] = value
        self.given[target] = self.given[name]


def apply_stand_ins(resolved: Resolved, report: Report) -> None:
    """Let stand-ins set what they stand for; the flag itself is stronger, wherever it is set."""
    verbosity = resolved.values.get("v")
    if isinstance(verbosity, int) and verbosity >= VERBOSE:
        _stand_in(resolved, "v", "log-level", LogLevel.DEBUG, report)
    if "logging-format" in resolved.values:
        _stand_in(resolved, "logging-format", "log-format", resolved.values["logging-format"], report)
    old = resolved.values.get("ignore-taint")
    if isinstance(old, tuple):
        _join(resolved, old, report)


def _stand_in(resolved: Resolved, name: str, target: str, value: object, report: Report) -> None:
    given = resolved.given[name][-1]
    if target not in resolved.values:
        resolved.move(name, target, value)
    elif resolved.values[target] != value:
        report.warning(given.origin, f"does not count, since {target} is set", given.text)


def _join(resolved: Resolved, old: tuple[object, ...], report: Report) -> None:
    for given in resolved.given["ignore-taint"]:
        report.warning(given.origin, "deprecated; write --startup-taint", given.text)
    new = resolved.values.get("startup-taint", ())
    both = (*old, *new) if isinstance(new, tuple) else old
    givens = (*resolved.given["ignore-taint"], *resolved.given.get("startup-taint", ()))
    resolved.values["startup-taint"] = both
    resolved.given["startup-taint"] = givens
