"""Events in storms: what an evaluation has covered is dropped cheaply, and the clocks of senders are not trusted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TypeVar

from exoscaler.app.evaluate import ALREADY_EVALUATED, Recollection
from exoscaler.app.outcome import OutcomeKind
from tests.app.deciding import (
    EVALUATE,
    INTERVAL,
    Recorder,
    decide,
    evaluate_elsewhere,
    pod_event,
    world_with_waiting_pods,
)
from tests.app.wired import CallKind, through
from tests.app.world import TICK

T = TypeVar("T")


def test_event_from_before_the_last_evaluation_costs_one_read_of_the_state() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.recollection = Recollection()  # another process
    world.pass_time(3)
    looks, loads = dict(world.cluster.looks), world.store.loads
    outcome = decide(world, pod_event(world, seconds_ago=4))

    assert (outcome.kind, outcome.reason) == (OutcomeKind.DROPPED, ALREADY_EVALUATED)
    assert world.store.loads == loads + 1
    assert dict(world.cluster.looks) == looks


def test_warm_process_drops_an_event_it_has_covered_without_any_call() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.pass_time(3)
    loads = world.store.loads
    outcome = decide(world, pod_event(world, seconds_ago=4))

    assert outcome.kind is OutcomeKind.DROPPED
    assert world.store.loads == loads


def test_event_of_the_very_moment_an_evaluation_began_is_looked_at() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.pass_time(INTERVAL.total_seconds())

    assert decide(world, pod_event(world, seconds_ago=INTERVAL.total_seconds())).kind is OutcomeKind.DONE


def test_event_inside_the_minimum_interval_waits_for_its_end() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.pass_time(2, step=1)
    outcome = decide(world, pod_event(world, seconds_ago=1))

    assert outcome.kind is OutcomeKind.DONE
    assert world.true_clock.pauses == [INTERVAL - timedelta(seconds=2)]


def test_event_that_waited_is_dropped_when_another_process_has_evaluated_meanwhile() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.recollection = Recollection()
    world.pass_time(2, step=1)

    class Elsewhere(Recorder):
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            result = call()
            if label == "load":  # while this one waits
                self.calls.append(label)
                if len(self.calls) == 1:
                    world.true_clock.advance(1)
                    evaluate_elsewhere(world)
            return result

    probe = Elsewhere()
    outcome = world.invoke(EVALUATE, TICK, wiring=through(probe))

    assert outcome is not None
    assert (outcome.kind, outcome.reason) == (OutcomeKind.DROPPED, ALREADY_EVALUATED)
    assert world.state.observations.evaluations == 2


def test_event_dated_in_the_future_counts_as_of_now() -> None:
    world = world_with_waiting_pods()
    decide(world)
    world.pass_time(10)

    assert decide(world, pod_event(world, seconds_ago=-3600)).kind is OutcomeKind.DONE


def test_clock_that_was_set_back_does_not_silence_evaluations_until_it_catches_up() -> None:
    world = world_with_waiting_pods(2)
    decide(world)
    world.clock.skew = timedelta(minutes=-5)

    assert decide(world).kind is OutcomeKind.DONE
    assert world.state.last_evaluation_at == world.clock.now()
