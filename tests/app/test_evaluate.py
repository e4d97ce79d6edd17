"""Deciding: the order of looking and committing, the view of the cloud, and telling whoever should know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

import pytest

from exoscaler.app.evaluate import MOST_ATTEMPTS, Recollection, evaluate
from exoscaler.app.outcome import OutcomeKind
from exoscaler.core.operations.effects import TaintNode
from exoscaler.core.planner import NO_GROUPS
from exoscaler.core.state import CounterName, State
from exoscaler.errors import BudgetExhausted, Denied, RemoteError, StateConflict, TimedOut, Unavailable
from exoscaler.ports.events import FunctionName, OperationKind
from tests.app.deciding import (
    EVALUATE,
    INTERVAL,
    Recorder,
    decide,
    evaluate_elsewhere,
    run_web,
    world_with_waiting_pods,
)
from tests.app.interleaving import Interleaver
from tests.app.wired import CallKind, through
from tests.app.world import TICK, World
from tests.fakes.pools import SizeChange

T = TypeVar("T")


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
    assert world.state.observations.counters[CounterName.EVALUATION_CONFLICTS] == 1


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


def test_node_that_a_lost_state_left_tainted_is_told_to_come_back_and_not_to_go() -> None:  # I6
    world = World()
    world.add_pool("web", size=2)
    member = TaintNode("web-02", world.cluster.node("web-02").uid, "17", True, "an-operation-nobody-knows")
    world.cluster.taint(member)
    outcome = decide(world)

    (undoing,) = world.state.operations.shrinking
    assert outcome.facts["remove"] == []
    assert outcome.facts["undo"] == [
        {"group": "web", "node": "web-02", "reason": "state-lost", "operation": undoing.id}
    ]


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
