"""What survives between invocations, and how it is written without losing anybody's change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from exoscaler.core.state import State

Version: TypeAlias = str
"""Opaque; names what was loaded, so that a write against something newer is refused."""

Change: TypeAlias = Callable[[State], State]
"""A pure function; it may be applied more than once. What it raises ends the update with nothing written."""


@dataclass(frozen=True, slots=True)
class LoadedState:
    """A state and the version that it was loaded at."""

    state: State
    version: Version


class StateStore(Protocol):
    """Keeps the state. Every method may raise `RemoteError`; nothing is then written."""

    def load(self) -> LoadedState:
        """The current state; an empty one when there is none yet, or when it was unreadable.

        An unreadable state is put aside first, never overwritten silently.
        """

    def commit(self, state: State, version: Version) -> LoadedState:
        """Write `state` if `version` is still the current one.

        Raises:
            StateConflict: somebody wrote meanwhile; nothing was written.
            StateTooLarge: it does not fit; nothing was written.
        """

    def update(self, change: Change) -> LoadedState:
        """Apply `change` to the current state and write the result, again from the start when others write too.

        Nothing is written when `change` returns the state it was given.

        Raises:
            StateConflict: others kept writing; nothing was written.
            StateTooLarge: it does not fit; nothing was written.
        """
