"""When an operation is to be looked at again."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.policy import Policy


def is_due(look_at: datetime | None, policy: Policy, now: datetime) -> bool:
    """Whether the time has come.

    A moment further ahead than any pause lasts was set by a clock that has been set back since: nothing is to stand
    still until the clock has caught up.
    """
    return look_at is None or look_at <= now or look_at > now + longest_pause(policy)


def pause_for(wish: timedelta, policy: Policy) -> timedelta:
    """How long to pause when the cloud wishes for so much."""
    return min(wish, longest_pause(policy))


def longest_pause(policy: Policy) -> timedelta:
    """No operation is left alone for longer."""
    return policy.pace.operation_timeout
