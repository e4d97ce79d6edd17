from __future__ import annotations

from datetime import timedelta

import pytest

from exoscaler.core.operations.due import is_due, longest_pause, pause_for
from exoscaler.core.operations.grow import refused
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.operations.removal import removal_refused
from exoscaler.errors import RateLimited
from tests.builders import NOW
from tests.core.operations.builders import POLICY, growth, shrinking

LONGEST = longest_pause(POLICY)


@pytest.mark.parametrize("seconds", [0, 1, 3600])
def test_operation_is_due_from_its_moment_on(seconds: int) -> None:
    assert is_due(NOW - timedelta(seconds=seconds), POLICY, NOW)


def test_operation_without_a_moment_is_always_due() -> None:
    assert is_due(None, POLICY, NOW)


@pytest.mark.parametrize("pause", [timedelta(seconds=1), LONGEST], ids=str)
def test_operation_rests_until_its_moment(pause: timedelta) -> None:
    assert not is_due(NOW + pause, POLICY, NOW)


def test_moment_from_a_clock_that_was_set_back_since_stops_nothing() -> None:
    assert is_due(NOW + LONGEST + timedelta(seconds=1), POLICY, NOW)


def test_pause_that_the_cloud_wishes_for_is_kept_within_reason() -> None:
    assert pause_for(timedelta(seconds=90), POLICY) == timedelta(seconds=90)
    assert pause_for(timedelta(hours=5), POLICY) == LONGEST


def test_rate_limit_for_hours_never_looks_like_a_clock_set_back() -> None:
    """Or the operation would be due, and the cloud be asked, at every tick."""
    error = RateLimited("scale", retry_after=timedelta(hours=5))

    assert not is_due(refused(growth(), error, POLICY, NOW).look_at, POLICY, NOW)
    assert not is_due(removal_refused(shrinking(ShrinkPhase.EVICTING), error, POLICY, NOW).look_at, POLICY, NOW)
