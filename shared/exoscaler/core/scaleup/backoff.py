"""Leaving a group alone for a while after a growth failed (R45-R47)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.state import Backoff


def backed_off(
    previous: Backoff | None, failure: GrowFailure, detail: str, now: datetime, policy: GrowthPolicy
) -> Backoff:
    """The pause after a failure at `now`.

    The first one is ``initial-node-group-backoff-duration`` long. A failure after an earlier pause has run out doubles
    it, up to the maximum; one within a pause starts that pause again without making it longer, for it tells nothing
    new (R46). Success does not shorten anything: only time does (R47).
    """
    seconds = _seconds(policy.initial_backoff)
    if previous is not None and not _is_forgotten(previous, now, policy):
        longer = min(2 * previous.seconds, _seconds(policy.max_backoff))
        seconds = previous.seconds if in_backoff(previous, now) else longer
    return Backoff(
        seconds=seconds, until=now + timedelta(seconds=seconds), failed_at=now, failure=failure, detail=detail
    )


def in_backoff(backoff: Backoff | None, now: datetime) -> bool:
    """Whether a group is left alone at `now`; the last moment of the pause belongs to it (R47)."""
    return backoff is not None and backoff.until >= now


def forget_old(backoffs: Mapping[str, Backoff], now: datetime, policy: GrowthPolicy) -> dict[str, Backoff]:
    """The pauses, less those whose failure is longer ago than ``node-group-backoff-reset-timeout`` (R47)."""
    return {group: backoff for group, backoff in backoffs.items() if not _is_forgotten(backoff, now, policy)}


def _is_forgotten(backoff: Backoff, now: datetime, policy: GrowthPolicy) -> bool:
    return backoff.failed_at + policy.backoff_reset < now


def _seconds(duration: timedelta) -> int:
    return duration // timedelta(seconds=1)
