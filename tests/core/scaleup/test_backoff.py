from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.scaleup.backoff import backed_off, forget_old, in_backoff
from exoscaler.core.state import Backoff
from tests.builders import NOW

_POLICY = GrowthPolicy()
_SECOND = timedelta(seconds=1)


def _fail(previous: Backoff | None, after: timedelta) -> Backoff:
    return backed_off(previous, GrowFailure.CLOUD_FAILURE, "no capacity", NOW + after, _POLICY)


def test_the_first_failure_pauses_for_the_initial_time() -> None:
    # R46
    first = _fail(None, timedelta(0))

    assert (first.seconds, first.until, first.failed_at) == (300, NOW + timedelta(minutes=5), NOW)
    assert (first.failure, first.detail) == (GrowFailure.CLOUD_FAILURE, "no capacity")


def test_a_failure_after_a_pause_doubles_it_up_to_the_maximum() -> None:
    # R46
    pause, at = _fail(None, timedelta(0)), timedelta(0)
    lengths = [pause.seconds]
    for _ in range(4):
        at += timedelta(seconds=pause.seconds) + _SECOND
        pause = _fail(pause, at)
        lengths.append(pause.seconds)

    assert lengths == [300, 600, 1200, 1800, 1800]


def test_a_failure_within_a_pause_starts_it_again_at_the_same_length() -> None:
    # R46
    first = _fail(None, timedelta(0))
    second = _fail(first, timedelta(minutes=5))  # its very last moment

    assert second.seconds == 300
    assert second.until == NOW + timedelta(minutes=10)


@pytest.mark.parametrize(("after", "paused"), [(0, True), (300, True), (301, False)])
def test_the_last_moment_belongs_to_the_pause(after: int, paused: bool) -> None:
    # R47
    assert in_backoff(_fail(None, timedelta(0)), NOW + timedelta(seconds=after)) is paused
    assert not in_backoff(None, NOW)


def test_a_failure_long_ago_is_forgotten_and_the_next_pause_is_short_again() -> None:
    # R47
    long = _fail(_fail(None, timedelta(0)), timedelta(minutes=6))
    still_known = long.failed_at + _POLICY.backoff_reset
    forgotten = still_known + _SECOND

    assert forget_old({"g": long}, still_known, _POLICY) == {"g": long}
    assert forget_old({"g": long}, forgotten, _POLICY) == {}
    assert _fail(long, forgotten - NOW).seconds == 300
    assert _fail(long, still_known - NOW).seconds == 1200
