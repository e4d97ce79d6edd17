"""Deciding: the order of looking and committing, events in storms, and telling whoever should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

import pytest

from exoscaler.app.evaluate import ALREADY_EVALUATED, MOST_ATTEMPTS, Recollection, evaluate
from exoscaler.app.outcome import Outcome, OutcomeKind
from exoscaler.core.planner import NO_GROUPS
from exoscaler.core.state import State
from exoscaler.errors import BudgetExhausted, Denied, RemoteError, StateConflict, TimedOut, Unavailable
from exoscaler.ports.events import FunctionName, OperationKind, Wakeup, WakeupKind
from tests.app.interleaving import Interleaver
from tests.app.wired import CallKind, through
from tests.app.world import TICK, World
from tests.fakes.pools import SizeChange

T = TypeVar("T")

EVALUATE = FunctionName.EVALUATE
INTERVAL = World().policy.pace.min_evaluation_interval


def world_with_waiting_pods(replicas: int = 7) -> World:
    """One node with room for two pods; the others wait."""
    world = World()
    world.add_pool("web", size=1, maximum=6)
    run_web(world, replicas)
    return world


def run_web(world: World, replicas: int) -> None:
    """Have so many pods, old enough to count."""
    world.workloads.run("web", replicas)
    world.settle()
    world.pass_time(1)


def decide(world: World, wakeup: Wakeup = TICK) -> Outcome:
    outcome = world.invoke(EVALUATE, wakeup)
    assert outcome is not None, world.troubles
    return outcome


def pod_event(world: World, *, seconds_ago: float) -> Wakeup:
    return Wakeup(WakeupKind.POD, occurred_at=world.clock.now() - timedelta(seconds=seconds_ago))


@dataclass
class Recorder:
    """A probe that notes the calls, and does something of its own before the one it is told."""

    before: str = ""
    then: Callable[[], None] = lambda: None
    calls: list[str] = field(default_factory=list)

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        self.calls.append(label)
        if label == self.before:
            self.before = ""
            self.then()
        return call()


def test_waiting_pods_become_one_growth_in_the_state() -> None:
    world = world_with_waiting_pods()
    outcome = decide(world)

    (growth,) = world.state.operations.growing
    assert (growth.base_size, growth.target_size) == (1, 4)
    assert outcome.facts["grow"] == [{"group": "web", "from": 1, "to": 4, "operation": growth.id}]
    assert world.cloud.mutations == []  # deciding changes nothing outside
    assert world.cluster.effects == []


def test_state_is_loaded_before_the_cluster_is_looked_at_and_committed_after() -> None:
    world = world_with_waiting_pods()
    recorder = Recorder()
    world.invoke(EVALUATE, wiring=through(recorder))

    # The first look finds no groups in the state, so it reads the cloud before it reads the cluster.
    looks = [call for call in recorder.calls if call in ("load", "snapshot", "read_groups", "commit")]
    assert looks == ["load", "read_groups", "load", "commit", "snapshot", "commit"]


def test_somebody_elses_write_makes_it_look_at_everything_anew() -> None:
    world = world_with_waiting_pods()
    world.tick(FunctionName.REFRESH)

    def meanwhile() -> None:
        world.pass_time(1)
        world.invoke(FunctionName.REFRESH)

    recorder = Recorder(before="commit", then=meanwhile)
    world.invoke(EVALUATE, wiring=through(recorder))

    assert [c for c in recorder.calls if c in ("load", "snapshot", "commit")] == [
        "load",
        "snapshot",
        "commit",
        "load",
        "snapshot",
        "commit",
    ]
    assert len(world.state.operations.growing) == 1


def test_pods_that_got_their_node_between_two_attempts_are_not_bought_a_second_time() -> None:
    world = world_with_waiting_pods(4)
    world.tick(FunctionName.REFRESH)

    def somebody_adds_a_node() -> None:
        world.cloud.add_pool("by-hand", size=1)
        world.settle()
        world.invoke(FunctionName.REFRESH)

    world.invoke(EVALUATE, wiring=through(Recorder("commit", somebody_adds_a_node)))

    assert world.workloads.waiting == ()
    assert world.state.operations.growing == ()


def test_state_that_others_keep_writing_is_left_for_a_later_event() -> None:
    world = world_with_waiting_pods()
    world.tick(FunctionName.REFRESH)
    attempts: list[str] = []

    class Busy(Recorder):
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            if label == "commit":
                attempts.append(label)
                raise StateConflict("the state was changed by others")
            return call()

    outcome = world.invoke(EVALUATE, wiring=through(Busy()))

    assert outcome is not None
    assert (outcome.kind, outcome.retry_after) == (OutcomeKind.COME_AGAIN, INTERVAL)
    assert len(attempts) == MOST_ATTEMPTS
    assert world.state.operations.growing == ()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("warmed_up", [False, True], ids=["cold", "warm"])
def test_two_evaluations_interleaved_at_any_call_order_the_nodes_once(after: bool, warmed_up: bool) -> None:
    """The two run in processes of their own, so the second knows nothing but the state."""
    visited = 0
    for at in range(1, 200):
        world = world_with_waiting_pods()
        if warmed_up:
            world.tick(FunctionName.REFRESH)
        interleaver = Interleaver(at, partial(evaluate_elsewhere, world), after)
        world.invoke(EVALUATE, wiring=through(interleaver))
        if interleaver.seen < at:
            break
        visited += 1
        assert [op.target_size for op in world.state.operations.growing] == [4], f"at call {at}"
        world.tick(FunctionName.SCALE_UP)
        assert world.cloud.mutations == [SizeChange("id-of-web", 4)], f"at call {at}"

    assert visited >= 8


def evaluate_elsewhere(world: World) -> None:
    evaluate(world.begin(), TICK, Recollection())


# Event storms


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


# The view of the cloud


def test_old_cache_is_read_anew_before_deciding() -> None:
    world = world_with_waiting_pods(2)
    decide(world)
    calls = world.cloud.calls["read_groups"]
    world.pass_time(world.policy.pace.cache_ttl.total_seconds() - 1)
    decide(world)
    assert world.cloud.calls["read_groups"] == calls

    world.pass_time(2)
    decide(world)
    assert world.cloud.calls["read_groups"] == calls + 1


def test_plan_that_changes_something_is_made_on_a_fresh_view() -> None:
    world = world_with_waiting_pods(2)
    decide(world)
    world.pass_time(world.policy.pace.decision_max_age.total_seconds() + 1)
    world.cloud.pool("web").min_available = 3  # somebody changes the pool in the portal
    run_web(world, 3)
    decide(world)

    (growth,) = world.state.operations.growing
    assert growth.target_size == 3  # not 2, as the cache would have had it


def test_plan_that_changes_nothing_asks_the_cloud_for_nothing() -> None:
    world = world_with_waiting_pods(2)
    decide(world)
    calls = world.cloud.calls.total()
    world.pass_time(world.policy.pace.decision_max_age.total_seconds() + 1)
    decide(world)

    assert world.cloud.calls.total() == calls


def test_cache_dated_in_the_future_is_not_taken_for_fresh() -> None:
    world = world_with_waiting_pods(2)
    decide(world)
    world.clock.skew = timedelta(minutes=-5)
    calls = world.cloud.calls["read_groups"]
    decide(world)

    assert world.cloud.calls["read_groups"] == calls + 1


def test_cloud_that_refuses_the_credentials_still_lets_it_decide() -> None:
    world = world_with_waiting_pods()
    world.cloud.fail("read_groups", Denied("list-sks-clusters", status=403))
    outcome = decide(world)

    assert outcome.kind is OutcomeKind.DONE
    assert outcome.facts["removals_held"] == NO_GROUPS


# What goes wrong


def test_cluster_that_cannot_be_read_ends_it_with_nothing_recorded() -> None:
    world = world_with_waiting_pods()
    world.tick(FunctionName.REFRESH)
    before = world.state
    world.cluster.fail("snapshot", Unavailable("list pods", status=503))

    assert world.invoke(EVALUATE) is None
    assert world.state == before
    assert world.troubles == ["evaluate: list pods: unavailable (HTTP 503)"]


def test_used_up_budget_ends_it_before_anything_is_committed() -> None:
    world = world_with_waiting_pods()
    world.policy = replace(world.policy, pace=replace(world.policy.pace, invocation_budget=timedelta(0)))

    with pytest.raises(BudgetExhausted):
        evaluate(world.begin(), TICK, Recollection())
    assert world.state == State()


@pytest.mark.parametrize("error", [Unavailable("post event"), TimedOut("post event")], ids=lambda e: type(e).__name__)
def test_sink_that_fails_costs_nothing_but_time(error: RemoteError) -> None:
    world = world_with_waiting_pods()
    world.sink.fail(error)

    assert decide(world).kind is OutcomeKind.DONE
    world.tick(FunctionName.SCALE_UP)
    assert world.size("web") == 4


def test_actuator_is_told_of_the_growth() -> None:
    world = world_with_waiting_pods()
    decide(world)

    (growth,) = world.state.operations.growing
    (event,) = world.sink.sent
    assert (event.operation_id, event.group_id, event.kind) == (growth.id, "id-of-web", OperationKind.GROW)
    assert event.decision_id == growth.decision_id


def test_kubernetes_event_that_cannot_be_written_costs_only_itself() -> None:
    world = world_with_waiting_pods()
    world.cluster.fail("publish", Unavailable("create events", status=503))

    assert decide(world).kind is OutcomeKind.DONE
    assert len(world.state.operations.growing) == 1
    assert {event.reason for event in world.cluster.events} == {"TriggeredScaleUp"}


def test_slow_api_server_does_not_keep_it_telling_beyond_its_budget() -> None:
    world = world_with_waiting_pods(30)

    class Slow(Recorder):
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            if label in ("publish", "send"):
                self.calls.append(label)
                world.true_clock.advance(10)
            return call()

    slow = Slow()
    outcome = world.invoke(EVALUATE, wiring=through(slow))

    assert outcome is not None
    assert outcome.kind is OutcomeKind.DONE
    assert slow.calls.count("publish") <= world.policy.pace.invocation_budget / timedelta(seconds=10) + 1


def test_cluster_without_groups_is_told_once_that_exoscaler_is_disabled() -> None:
    world = World()
    for _ in range(3):
        outcome = decide(world)
        assert outcome.facts["removals_held"] == NO_GROUPS
        world.pass_time(90)

    assert [event.message for event in world.cluster.events] == [NO_GROUPS]
