"""Bounded retries with jitter, for calls that may be repeated, within the time that the invocation has."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from exoscaler.adapters.kubernetes.answers import Expired
from exoscaler.errors import ExoscalerError, RateLimited, TimedOut, Unavailable
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import TimeLeft

T = TypeVar("T")

FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=2)
LONGEST_WISH = timedelta(seconds=5)
"""A server that wants a longer pause than this gets it from the next tick, not from a waiting function."""

GRACE = timedelta(seconds=3)
"""How long calls may go on after the invocation's time is up: what is left to do then is to save what was done."""

_LEAST = timedelta(seconds=1)
_ENDLESS = timedelta(days=1)


def is_transient(error: ExoscalerError) -> bool:
    """Whether the same call may succeed in a moment."""
    if isinstance(error, RateLimited):
        return (error.retry_after or timedelta(0)) <= LONGEST_WISH
    return isinstance(error, Unavailable | TimedOut) and not isinstance(error, Expired)


class Patience:
    """How long to wait for the API server. Without `time_left`, only the bounds of each call count."""

    def __init__(self, clock: Clock, time_left: TimeLeft | None = None) -> None:
        self.clock = clock
        self._time_left = time_left

    def left(self) -> timedelta:
        """How long calls may still go on; zero or less when they should not."""
        return (min(self._time_left(), _ENDLESS) if self._time_left is not None else _ENDLESS) + GRACE

    def bound(self, timeout: timedelta) -> timedelta:
        """How long one call may take: no longer than the invocation has, but long enough to be worth making."""
        return min(timeout, max(_LEAST, self.left()))

    def repeat(self, action: Callable[[], T], *, attempts: int, again: Callable[[ExoscalerError], bool]) -> T:
        """Do `action` until it succeeds, fails in a way that `again` does not accept, or was tried `attempts` times.

        The longest pause doubles from `FIRST_PAUSE` to `LONGEST_PAUSE`; each is drawn at random below it, so that those
        who failed together do not come back together. A server that asked for a pause gets it on top. A pause that the
        invocation has no time for is not begun.
        """
        bound = FIRST_PAUSE
        for more in range(attempts - 1, -1, -1):
            try:
                return action()
            except ExoscalerError as error:
                pause = _asked(error) + _below(bound)
                if not more or not again(error) or pause >= self.left():
                    raise
                self.clock.pause(pause)
            bound = min(2 * bound, LONGEST_PAUSE)
        raise ValueError(f"attempts must be at least 1, not {attempts}")


def _asked(error: ExoscalerError) -> timedelta:
    return (error.retry_after if isinstance(error, RateLimited) else None) or timedelta(0)


def _below(bound: timedelta) -> timedelta:
    return timedelta(milliseconds=1 + secrets.randbelow(max(1, bound // timedelta(milliseconds=1))))
