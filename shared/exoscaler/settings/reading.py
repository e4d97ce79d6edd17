"""What one source says, flag by flag, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from exoscaler.settings.catalogue import flags, nearest, normal_name
from exoscaler.settings.flag import Flag, Status
from exoscaler.settings.kinds import BOOL
from exoscaler.settings.origin import Origin
from exoscaler.settings.report import Report


@dataclass(frozen=True, slots=True)
class Given:
    """One occurrence of a flag: its text and where it stands."""

    text: str
    origin: Origin


class Reading:
    """What one source gives, by flag name, in the order written.

    Names that are unknown or refused are reported here, so that a stronger source cannot hide them.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._given: dict[str, list[Given]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._given

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def of(self, name: str) -> tuple[Given, ...]:
        """The occurrences of a flag, none when the source does not mention it."""
        return tuple(self._given.get(name, ()))

    def add(self, flag: Flag, text: str, origin: Origin) -> None:
        """Take one occurrence of a flag."""
        if flag.status is Status.REFUSED and not _asks_for_nothing(flag, text):
            # Without the text: a refused flag may be an attempt to hand over a secret.
            self._report.mistake(origin, flag.why)
            return
        self._given.setdefault(flag.name, []).append(Given(text, origin))

    def find(self, written: str, origin: Origin) -> Flag | None:
        """The flag of this name. An unknown one is reported, with what may have been meant, and is None."""
        name = normal_name(written)
        if flag := flags().get(name):
            return flag
        self._report.mistake(origin, unknown(name))
        return None


def unknown(name: str) -> str:
    """What to say of a name that is no flag."""
    alike = nearest(name)
    return f"unknown flag; did you mean {' or '.join('--' + found for found in alike)}?" if alike else "unknown flag"


def _asks_for_nothing(flag: Flag, text: str) -> bool:
    if flag.only is None or flag.kind is not BOOL:
        return False
    try:
        return BOOL.read(text) == flag.only
    except ValueError:
        return False
