"""What is known of a flag: the one description that every source and the reference page are made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from exoscaler.settings.kinds import Kind

VARIABLE_PREFIX = "EXOSCALER_"


class Status(StrEnum):
    """What becomes of a flag that somebody sets."""

    WORKS = "works"
    ACCEPTED = "accepted"
    """It is checked, has no effect, and a warning says why."""
    REFUSED = "refused"
    """It stops the start, and the message says why."""


@dataclass(frozen=True, slots=True)
class About:
    """Describes a field of `Settings`; stands in its annotation.

    Attributes:
        rule: the number of the upstream flag (``F75``), empty for a flag of exoscaler's own.
        meaning: one or two sentences for the reference page.
        unit: what a number counts.
        not_yet: why a value other than the default has no effect in this version; empty when it has.
        variables: environment variables, besides the one named after the flag, that set it.
    """

    rule: str
    meaning: str
    unit: str = ""
    not_yet: str = ""
    variables: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag that may be written on a command line, in the environment or in a file.

    Attributes:
        name: in kebab-case, without dashes in front.
        group: the section of the reference page.
        rule: the number of the upstream flag, empty for exoscaler's own.
        kind: how its text is read; None for a refused flag, whose text nobody reads.
        default: the typed value without the flag; for flags without effect the text of the upstream default.
        meaning: for the reference page.
        status: what becomes of it.
        why: why it is accepted without effect, or refused, as a sentence without its subject.
        field: the attribute of `Settings` that holds it, empty when there is none.
        only: the one value that is fine although the flag is not supported, since it asks for nothing.
        variables: environment variables that set it, the first that is set wins.
        unit: what a number counts.
    """

    name: str
    group: str
    rule: str
    kind: Kind | None
    default: object
    meaning: str
    status: Status
    why: str = ""
    field: str = ""
    only: object = None
    variables: tuple[str, ...] = ()
    unit: str = ""


def variable_of(name: str) -> str:
    """The environment variable of a flag: ``scan-interval`` is ``EXOSCALER_SCAN_INTERVAL``."""
    return VARIABLE_PREFIX + name.upper().replace("-", "_")


def flag_of_field(field: str) -> str:
    """The flag of a field of `Settings`: ``scan_interval`` is ``scan-interval``."""
    return field.replace("_", "-")
