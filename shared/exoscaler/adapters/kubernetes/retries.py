"""Bounded retries with jitter, for calls that may be repeated."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from exoscaler.adapters.kubernetes.answers import Expired
from exoscaler.errors import ExoscalerError, RateLimited, TimedOut, Unavailable
from exoscaler.ports.clock import Clock

T = TypeVar("T")

FIRST_PAUSE = timedelta(milliseconds=100)
LONGEST_PAUSE = timedelta(seconds=2)
LONGEST_WISH = timedelta(seconds=5)
"""A server that wants a longer pause than this gets it from the next tick, not from a waiting function."""


def is_transient(error: ExoscalerError) -> bool:
    """Whether the same call may succeed in a moment."""
    if isinstance(error, RateLimited):
        return (error.retry_after or timedelta(0)) <= LONGEST_WISH
    return isinstance(error, Unavailable | TimedOut) and not isinstance(error, Expired)


def repeat(action: Callable[[], T], *, clock: Clock, attempts: int, again: Callable[[ExoscalerError], bool]) -> T:
    """Do `action` until it succeeds, raises something that `again` does not accept, or was tried `attempts` times.

    The longest pause doubles from `FIRST_PAUSE` to `LONGEST_PAUSE`; each is drawn at random below it, so that those who
    failed together do not come back together. A server that asked for a pause gets it on top.
    """
    bound = FIRST_PAUSE
    for left in range(attempts - 1, -1, -1):
        try:
            return action()
        except ExoscalerError as error:
            if not left or not again(error):
                raise
            clock.pause(_asked(error) + _below(bound))
        bound = min(2 * bound, LONGEST_PAUSE)
    raise ValueError(f"attempts must be at least 1, not {attempts}")


def _asked(error: ExoscalerError) -> timedelta:
    return (error.retry_after if isinstance(error, RateLimited) else None) or timedelta(0)


def _below(bound: timedelta) -> timedelta:
    return timedelta(milliseconds=1 + secrets.randbelow(max(1, bound // timedelta(milliseconds=1))))
