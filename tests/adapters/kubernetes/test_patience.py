"""How long the API server is waited for, given the time that the invocation has."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from exoscaler.adapters.kubernetes import connect
from exoscaler.adapters.kubernetes.retries import FIRST_PAUSE, GRACE, LONGEST_PAUSE, Patience
from exoscaler.errors import ExoscalerError, RateLimited, Unavailable
from tests.adapters.kubernetes.stub import Stub, failure, success, write_config
from tests.core.state.states import simple_state
from tests.fakes.clock import FakeClock

SECOND = timedelta(seconds=1)


class Failing:
    """Fails a number of times and then succeeds."""

    def __init__(self, times: int, error: ExoscalerError | None = None) -> None:
        self.times = times
        self.error = error or Unavailable("list pods")
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return self.calls


def always(_: ExoscalerError) -> bool:
    return True


def test_success_is_not_repeated(clock: FakeClock) -> None:
    assert Patience(clock).repeat(Failing(0), attempts=5, again=always) == 1
    assert clock.pauses == []


def test_last_attempt_raises_what_went_wrong(clock: FakeClock) -> None:
    failing = Failing(9)
    with pytest.raises(Unavailable) as raised:
        Patience(clock).repeat(failing, attempts=4, again=always)
    assert raised.value is failing.error
    assert (failing.calls, len(clock.pauses)) == (4, 3)


def test_error_that_is_not_accepted_is_raised_at_once(clock: FakeClock) -> None:
    failing = Failing(9)
    with pytest.raises(Unavailable):
        Patience(clock).repeat(failing, attempts=4, again=lambda _: False)
    assert failing.calls == 1


def test_what_is_no_error_of_exoscaler_is_never_repeated(clock: FakeClock) -> None:
    calls: list[int] = []

    def broken() -> None:
        calls.append(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Patience(clock).repeat(broken, attempts=4, again=always)
    assert len(calls) == 1


def test_pauses_grow_within_bounds_and_differ(clock: FakeClock) -> None:
    for _ in range(20):
        Patience(clock).repeat(Failing(8), attempts=9, again=always)
    rounds = [clock.pauses[start : start + 8] for start in range(0, 160, 8)]
    for number in range(8):
        longest = min(FIRST_PAUSE * 2**number, LONGEST_PAUSE)
        assert all(timedelta(0) < pauses[number] <= longest for pauses in rounds)
    assert len({pauses[7] for pauses in rounds}) > 10, "those who failed together must not come back together"


def test_pause_that_a_server_asks_for_is_kept(clock: FakeClock) -> None:
    error = RateLimited("list pods", retry_after=3 * SECOND)
    Patience(clock).repeat(Failing(1, error), attempts=2, again=always)
    assert clock.pauses[0] > 3 * SECOND


def test_pause_that_there_is_no_time_for_is_not_begun(clock: FakeClock) -> None:
    error = RateLimited("list pods", retry_after=3 * SECOND)
    patience = Patience(clock, lambda: SECOND - GRACE)
    with pytest.raises(RateLimited):
        patience.repeat(Failing(1, error), attempts=5, again=always)
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("left", "bound"),
    [
        (timedelta.max, 30 * SECOND),
        (60 * SECOND, 30 * SECOND),
        (5 * SECOND, 5 * SECOND + GRACE),
        (timedelta(0), GRACE),
        (-60 * SECOND, SECOND),
    ],
)
def test_call_does_not_outlast_the_invocation_and_its_grace(
    clock: FakeClock, left: timedelta, bound: timedelta
) -> None:
    assert Patience(clock, lambda: left).bound(30 * SECOND) == bound


def test_short_time_limit_of_calls_stays_short(clock: FakeClock) -> None:
    assert Patience(clock).bound(SECOND / 10) == SECOND / 10


def test_what_was_done_can_be_saved_after_the_time_is_up(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", stub.url)
    stub.answers(failure(404), success({"metadata": {"uid": "u", "resourceVersion": "7"}}))
    with connect(clock, kubeconfig=str(kubeconfig), time_left=lambda: -SECOND) as connection:
        assert connection.state_store("kube-system").update(lambda _: simple_state()).version == "7"


def test_nothing_is_tried_again_after_time_and_grace_are_up(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", stub.url)
    stub.answers(failure(503))
    connection = connect(clock, kubeconfig=str(kubeconfig), time_left=lambda: -GRACE)
    with connection, pytest.raises(Unavailable):
        connection.cluster.nodes()
    assert len(stub.requests) == 1
