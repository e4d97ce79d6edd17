"""Carrying out growths: every failure of every call, claims, and what is never sent twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

import pytest

from exoscaler.core.model import NodeBounds, PoolState
from exoscaler.core.operations.model import CloudOperationState, GrowPhase, ShrinkMode
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.state import CounterName
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)
from exoscaler.ports.events import FunctionName
from tests.app.growing import SCALE_UP, WEB, act, ended, follow, growth, planned_world, submitted_world, warnings
from tests.app.wired import CallKind, through
from tests.app.world import World
from tests.fakes.pools import Course, SizeChange

T = TypeVar("T")


def test_growth_is_submitted_followed_and_done_when_its_nodes_are_ready() -> None:
    world = planned_world()
    phases = []
    for _ in range(8):
        act(world)
        phases.append([op.phase for op in world.state.operations.growing])
        world.pass_time(10)

    assert phases[0] == [GrowPhase.SUBMITTED]
    assert [GrowPhase.PROVISIONING] in phases
    assert ended(world).phase is GrowPhase.DONE
    assert world.cloud.mutations == [SizeChange(WEB, 4)]
    assert world.state.observations.counters[CounterName.NODES_ADDED] == 3
    assert world.state.observations.grown_at == {WEB: ended(world).phase_since}
    assert world.state.operations.claims == ()


def test_nothing_planned_asks_nobody_anything() -> None:
    world = World()
    world.add_pool("web", size=1)

    assert act(world).facts == {"operations": []}
    assert world.cloud.calls.total() == 0
    assert world.cluster.looks == {}


def test_growth_that_is_not_due_is_not_looked_at() -> None:
    world = submitted_world()
    world.pass_time(1)
    act(world)  # still pending: looks again in a while
    calls = world.cloud.calls.total()
    world.pass_time(1)
    act(world)

    assert world.cloud.calls.total() == calls


def test_clock_set_back_by_an_hour_does_not_stop_a_growth_for_an_hour() -> None:
    world = submitted_world()
    world.pass_time(1)
    act(world)  # looks again in a while
    world.clock.skew = timedelta(hours=-1)
    calls = world.cloud.calls["read_pool"]
    act(world)

    assert world.cloud.calls["read_pool"] == calls + 1


# What the cloud answers to the new size


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (QuotaExceeded("scale-sks-nodepool", WEB, status=403), GrowFailure.QUOTA_EXCEEDED),
        (Denied("scale-sks-nodepool", WEB, status=403), GrowFailure.DENIED),
        (Rejected("scale-sks-nodepool", WEB, status=400), GrowFailure.REJECTED),
        (NotFound("scale-sks-nodepool", WEB, status=404), GrowFailure.POOL_GONE),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, RemoteError) else "",
)
def test_refusal_for_good_fails_the_growth_backs_the_group_off_and_is_told(
    error: RemoteError, failure: GrowFailure
) -> None:  # R45, I7
    world = planned_world()
    world.cloud.fail("set_size", error)
    act(world)

    assert (ended(world).phase, ended(world).failure) == (GrowPhase.FAILED, failure)
    assert world.state.observations.backoffs[WEB].failure is failure
    assert warnings(world) == ["FailedToScaleUpGroup"]
    assert failure.remedy in world.cluster.events[-1].message
    assert world.size("web") == 1


@pytest.mark.parametrize(
    "error",
    [
        Conflict("scale-sks-nodepool", WEB, status=409),
        RateLimited("scale-sks-nodepool", WEB),
        Unavailable("scale-sks-nodepool", WEB, status=503),
        TimedOut("scale-sks-nodepool", WEB),
    ],
    ids=lambda error: type(error).__name__,
)
def test_passing_trouble_sends_the_same_size_again_later(error: RemoteError) -> None:  # I7
    world = planned_world()
    world.cloud.fail("set_size", error)
    act(world)
    assert growth(world).phase is GrowPhase.PLANNED
    assert growth(world).detail == str(error)

    act(world)  # not before its time
    assert len(world.cloud.mutations) == 1
    follow(world, 10)
    assert world.cloud.mutations == [SizeChange(WEB, 4)] * 2
    assert world.size("web") == 4


def test_rate_limit_is_waited_out_for_as_long_as_the_cloud_asks() -> None:
    world = planned_world()
    world.cloud.fail("set_size", RateLimited("scale-sks-nodepool", retry_after=timedelta(seconds=60)))
    act(world)
    follow(world, 50)
    assert len(world.cloud.mutations) == 1
    follow(world, 10)
    assert len(world.cloud.mutations) == 2


@pytest.mark.parametrize("error", [Unavailable("scale", WEB), TimedOut("scale", WEB)], ids=lambda e: type(e).__name__)
def test_size_that_took_effect_although_its_answer_was_lost_is_not_sent_again(error: RemoteError) -> None:  # I3
    world = planned_world()
    world.cloud.fail("set_size", error, after=True)
    act(world)
    follow(world, 60)

    assert world.cloud.mutations == [SizeChange(WEB, 4)]
    assert ended(world).phase is GrowPhase.DONE


# What the other calls answer


@pytest.mark.parametrize("error", [Unavailable("list nodes"), Denied("list nodes", status=403)], ids=str)
def test_cluster_that_cannot_be_read_leaves_the_growth_for_the_next_tick(error: RemoteError) -> None:
    world = planned_world()
    world.cluster.fail("nodes", error)
    outcome = act(world)

    assert outcome.facts["operations"] == [{"operation": growth(world).id, "left": str(error)}]
    act(world)
    assert world.size("web") == 4


@pytest.mark.parametrize("error", [Unavailable("get-instance-pool"), TimedOut("get-instance-pool")], ids=str)
def test_pool_that_cannot_be_read_leaves_the_growth_for_the_next_tick(error: RemoteError) -> None:
    world = planned_world()
    world.cloud.fail("read_pool", error)
    act(world)
    assert world.cloud.mutations == []
    assert world.state.operations.claims == ()

    act(world)
    assert world.size("web") == 4


def test_pool_that_is_gone_fails_the_growth() -> None:
    world = planned_world()
    world.cloud.delete_pool("web")
    act(world)

    assert ended(world).failure is GrowFailure.POOL_GONE


def test_one_pool_that_cannot_be_read_does_not_hold_up_another() -> None:
    world = planned_world()
    world.add_pool("batch", size=1, maximum=3)
    world.workloads.run("batch", 4, group="batch")
    world.settle()
    world.pass_time(1)
    world.tick(FunctionName.REFRESH)
    world.pass_time(5)
    world.tick(FunctionName.EVALUATE)
    world.cloud.fail("read_pool", Unavailable("get-instance-pool"))
    act(world)

    assert {op.group_id for op in world.state.operations.growing} == {WEB, "id-of-batch"}
    assert len(world.cloud.mutations) == 1


def test_operation_that_the_cloud_forgot_is_replaced_by_the_pools_word() -> None:
    world = submitted_world()
    world.cloud.forget_operations()
    follow(world, 60)

    assert ended(world).phase is GrowPhase.DONE
    assert world.cloud.mutations == [SizeChange(WEB, 4)]


def test_operation_that_may_not_be_read_is_replaced_by_the_pools_word() -> None:  # I7
    """A key without get-operation must not hold the group for ever."""
    world = submitted_world()
    world.cloud.fail("read_operation", *[Denied("get-operation", status=403)] * 50)
    follow(world, 60)

    assert ended(world).phase is GrowPhase.DONE


def test_operation_that_cannot_be_read_is_asked_for_again() -> None:
    world = submitted_world()
    world.cloud.fail("read_operation", Unavailable("get-operation"), TimedOut("get-operation"))
    follow(world, 80)

    assert ended(world).phase is GrowPhase.DONE


def test_change_that_fails_in_the_cloud_fails_the_growth() -> None:
    world = planned_world()
    world.cloud.run_next_change(Course(effective=False, ends=CloudOperationState.FAILURE, detail="no capacity"))
    act(world)
    follow(world, 20)

    assert (ended(world).failure, ended(world).detail) == (GrowFailure.CLOUD_FAILURE, "no capacity")
    assert world.size("web") == 1


def test_change_that_fails_for_want_of_quota_is_told_so() -> None:
    world = planned_world()
    world.cloud.run_next_change(Course(effective=False, ends=CloudOperationState.FAILURE, quota=True))
    act(world)
    follow(world, 20)

    assert ended(world).failure is GrowFailure.QUOTA_EXCEEDED


def test_change_that_met_a_busy_pool_is_sent_again_when_the_pool_is_free() -> None:
    world = planned_world()
    world.cloud.run_next_change(Course(effective=False, ends=CloudOperationState.FAILURE, busy=True))
    act(world)
    follow(world, 90)

    assert ended(world).phase is GrowPhase.DONE
    assert world.cloud.mutations == [SizeChange(WEB, 4)] * 2


def test_operation_that_never_ends_does_not_hold_the_growth_whose_nodes_came() -> None:
    world = planned_world()
    world.cloud.run_next_change(Course(ends=CloudOperationState.PENDING))
    act(world)
    follow(world, world.policy.pace.operation_timeout.total_seconds() + 10)

    assert ended(world).phase is GrowPhase.DONE


def test_busy_pool_is_waited_for_and_nothing_is_sent() -> None:  # I3
    world = planned_world()
    world.cloud.pool("web").state = PoolState.SCALING_DOWN
    follow(world, 30)
    assert world.cloud.mutations == []

    world.cloud.pool("web").state = PoolState.RUNNING
    follow(world, 10)
    assert world.cloud.mutations == [SizeChange(WEB, 4)]


# What the world did meanwhile


def test_instance_that_never_becomes_a_node_is_given_up_and_removed() -> None:  # R42
    world = planned_world()
    world.cloud.dead_on_arrival = 1
    act(world)
    follow(world, world.policy.growth.max_node_provision_time.total_seconds() + 20)

    assert (ended(world).phase, ended(world).failure) == (GrowPhase.TIMED_OUT, GrowFailure.NEVER_READY)
    assert warnings(world) == ["ScaleUpTimedOut"]
    (removal,) = world.state.operations.shrinking
    dead = [i.id for i in world.cloud.pool("web").instances.values() if not i.has_joined]
    assert [removal.instance_id] == dead
    assert removal.mode is ShrinkMode.NEVER_REGISTERED


def test_each_instance_that_never_registered_gets_its_own_removal() -> None:
    """Ids may begin alike."""
    world = planned_world()
    world.cloud.dead_on_arrival = 2
    act(world)
    pool = world.cloud.pool("web")
    for number, instance in enumerate([i for i in pool.instances.values() if not i.boots]):
        del pool.instances[instance.id]
        instance.id = f"instance-{number}"
        pool.instances[instance.id] = instance
    follow(world, world.policy.growth.max_node_provision_time.total_seconds() + 20)

    removals = world.state.operations.shrinking
    assert {removal.instance_id for removal in removals} == {"instance-0", "instance-1"}
    assert len({removal.id for removal in removals}) == 2


def test_pool_that_shrank_after_the_plan_is_not_grown_by_more_than_was_planned() -> None:
    """Removals that were under way when the growth was planned were counted as gone already."""
    world = World()
    world.add_pool("web", size=4, maximum=9)
    world.workloads.run("web", 9)
    world.settle()
    world.pass_time(1)
    world.tick(FunctionName.EVALUATE)
    assert (growth(world).base_size, growth(world).target_size) == (4, 5)

    leaving = world.cloud.pool("web").members[-1]
    world.cloud.remove_instances(world.state.node_groups.groups[WEB], [leaving])
    follow(world, 120)

    assert world.cloud.pool("web").made == 5  # one more, not two
    assert ended(world).phase is GrowPhase.DONE


def test_growth_that_nobody_looked_at_for_too_long_is_dropped_without_blame() -> None:
    """The functions were down: the pool did nothing wrong, and the next evaluation sees what is needed now."""
    world = planned_world()
    world.pass_time(world.policy.pace.operation_timeout.total_seconds() + 1)
    act(world)

    assert ended(world).failure is GrowFailure.SUPERSEDED
    assert world.state.observations.backoffs == {}
    assert world.cloud.mutations == []


def test_maximum_that_was_lowered_meanwhile_holds() -> None:  # I1
    world = planned_world()
    world.policy = replace(world.policy, bounds=(NodeBounds(1, 2, "web"),))
    world.pass_time(1)
    world.tick(FunctionName.REFRESH)
    act(world)

    assert ended(world).failure is GrowFailure.SUPERSEDED
    assert world.cloud.mutations == []


def test_growth_that_the_lost_state_forgot_is_not_written_into_the_new_one() -> None:  # I6
    world = planned_world()

    class Loser:
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            result = call()
            if label == "set_size":
                world.store.put(None)
            return result

    world.invoke(SCALE_UP, wiring=through(Loser()))

    assert world.store.payload is None
    assert world.size("web") == 4
