"""How a use case ended, and what to tell whoever asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import TypeAlias

Told: TypeAlias = "str | int | float | bool | Sequence[Told] | Mapping[str, Told] | None"
"""What an outcome may tell: JSON."""


class OutcomeKind(StrEnum):
    """What the sender of an event should make of it."""

    DONE = "done"
    DROPPED = "dropped"
    """There was nothing to do, on purpose."""
    COME_AGAIN = "come-again"
    """It could not be finished; the same event again is welcome."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of one invocation. `facts` is what was decided, for people and logs."""

    kind: OutcomeKind
    facts: Mapping[str, Told] = field(default_factory=dict)
    reason: str = ""
    retry_after: timedelta = timedelta(0)


def done(**facts: Told) -> Outcome:
    """The use case did its work."""
    return Outcome(OutcomeKind.DONE, facts)


def dropped(reason: str) -> Outcome:
    """There was nothing to do."""
    return Outcome(OutcomeKind.DROPPED, reason=reason)


def come_again(reason: str, retry_after: timedelta) -> Outcome:
    """The work could not be done or finished now."""
    return Outcome(OutcomeKind.COME_AGAIN, reason=reason, retry_after=retry_after)
