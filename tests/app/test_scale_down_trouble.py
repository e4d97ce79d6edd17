"""Carrying out removals: every answer of cloud and cluster, and what speaks against one on its way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.app.outcome import OutcomeKind
from exoscaler.core.model import PoolState
from exoscaler.core.operations.effects import EvictPod, TaintNode, UntaintNode
from exoscaler.core.operations.model import CloudOperationState, ShrinkMode, ShrinkPhase
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.state import CounterName
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)
from tests.app.shrinking import (
    WEB,
    act,
    effects_of,
    ended,
    follow,
    in_flight,
    instance_of,
    node,
    plan,
    put_web_pod,
    reasons_told,
    sent,
    until,
    world_of,
)
from tests.builders import make_budget
from tests.fakes.pools import Course, Timing

# What the cloud answers to a removal


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Denied("evict-sks-nodepool-members", WEB, status=403), RollbackReason.DENIED),
        (Rejected("evict-sks-nodepool-members", WEB, status=400), RollbackReason.REJECTED),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, RemoteError) else "",
)
def test_refusal_for_good_gives_the_node_back_and_is_told(error: RemoteError, reason: RollbackReason) -> None:
    world = world_of(2)
    world.cloud.fail("remove_instances", error)
    plan(world, 2)
    follow(world, 60)

    (removal,) = ended(world)
    assert (removal.phase, removal.rollback) == (ShrinkPhase.ROLLED_BACK, reason)
    assert node(world, 2).deletion_taint is None
    assert not node(world, 2).unschedulable
    assert world.state.observations.shrink_failed_at == {WEB: removal.phase_since}  # R107
    assert reasons_told(world)[-1] == "ScaleDownFailed"
    assert world.size("web") == 2


@pytest.mark.parametrize(
    "error",
    [
        Conflict("evict", WEB, status=409),
        RateLimited("evict", WEB),
        NotFound("evict", WEB, status=404),
        Unavailable("evict", WEB, status=503),
        TimedOut("evict", WEB),
    ],
    ids=lambda error: type(error).__name__,
)
def test_passing_trouble_sends_the_removal_again_once_it_is_sure_that_it_was_not_done(error: RemoteError) -> None:
    world = world_of(2)
    world.cloud.fail("remove_instances", error)
    plan(world, 2)
    victim = instance_of(world, 2)
    follow(world, 90)

    assert sent(world) == [(victim,), (victim,)]
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


@pytest.mark.parametrize("error", [Unavailable("evict", WEB), TimedOut("evict", WEB)], ids=lambda e: type(e).__name__)
def test_removal_that_took_effect_although_its_answer_was_lost_is_not_sent_again(error: RemoteError) -> None:  # I3
    world = world_of(3)
    world.cloud.fail("remove_instances", error, after=True)
    plan(world, 2, 3)
    follow(world, 90)

    assert len(sent(world)) == 1
    assert world.size("web") == 1
    assert {op.phase for op in ended(world)} == {ShrinkPhase.REMOVED}


def test_slow_departure_after_a_lost_answer_is_not_helped_along_by_a_second_removal() -> None:  # I3
    """The pool reports itself free again long before the members are gone."""
    world = world_of(3, timing=Timing(settles=5, leaves=300, node_gone=320))
    world.cloud.fail("remove_instances", TimedOut("evict", WEB), after=True)
    plan(world, 3)
    follow(world, 400)

    assert len(sent(world)) == 1
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


def test_removal_that_failed_in_the_cloud_gives_the_node_back() -> None:
    world = world_of(2)
    world.cloud.run_next_change(Course(effective=False, ends=CloudOperationState.FAILURE, detail="fault"))
    plan(world, 2)
    follow(world, 90)

    (removal,) = ended(world)
    assert (removal.rollback, removal.detail) == (RollbackReason.CLOUD_FAILURE, "fault")
    assert node(world, 2).deletion_taint is None


def test_removal_that_met_a_busy_pool_is_sent_again() -> None:
    world = world_of(2)
    world.cloud.run_next_change(Course(effective=False, ends=CloudOperationState.FAILURE, busy=True))
    plan(world, 2)
    follow(world, 90)

    assert len(sent(world)) == 2
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


def test_removal_whose_operation_may_not_be_read_is_followed_by_the_pool() -> None:  # I7
    world = world_of(2)
    world.cloud.fail("read_operation", *[Denied("get-operation", status=403)] * 50)
    plan(world, 2)
    follow(world, 90)

    assert len(sent(world)) == 1
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


# What speaks against it on the way


@pytest.mark.parametrize("phase", [ShrinkPhase.TAINTED, ShrinkPhase.DRAINED], ids=str)
def test_pod_that_arrives_in_spite_of_the_taint_keeps_the_node(phase: ShrinkPhase) -> None:  # I2, R141
    world = world_of(2)
    plan(world, 2)
    until(world, phase, 2)
    put_web_pod(world, 2)
    world.workloads.run("web", 1)
    follow(world, 30)

    (removal,) = ended(world)
    assert removal.phase is ShrinkPhase.ROLLED_BACK
    assert sent(world) == []
    assert node(world, 2).deletion_taint is None
    assert not node(world, 2).unschedulable


def test_budget_that_never_allows_it_gives_the_node_back() -> None:  # R146
    world = world_of(3)
    put_web_pod(world, 3)
    world.workloads.run("web", 1)
    plan(world, 3, mode=ShrinkMode.DRAIN)
    until(world, ShrinkPhase.TAINTED, 3)
    world.pass_time(world.policy.shrink.delay_after_taint.total_seconds())
    act(world)
    world.cluster.put_pod(replace(world.cluster.all_pods[0], deleted_at=None))
    world.cluster.put_budget(make_budget(labels={"app": "web"}, allowed=0))
    follow(world, world.policy.shrink.max_pod_eviction_time.total_seconds() + 60)

    (removal,) = ended(world)
    assert removal.phase is ShrinkPhase.ROLLED_BACK
    assert node(world, 3).deletion_taint is None
    assert sent(world) == []


def test_cordon_of_a_person_stays_when_the_removal_is_undone() -> None:
    world = world_of(2)
    world.cluster.change_node("web-02", unschedulable=True)
    plan(world, 2)
    until(world, ShrinkPhase.TAINTED, 2)
    put_web_pod(world, 2)
    world.workloads.run("web", 1)
    follow(world, 30)

    assert [op.phase for op in ended(world)] == [ShrinkPhase.ROLLED_BACK]
    assert node(world, 2).unschedulable
    assert node(world, 2).deletion_taint is None


def test_group_that_is_gone_gives_nothing_more_to_do() -> None:
    world = world_of(2)
    plan(world, 2)
    until(world, ShrinkPhase.TAINTED, 2)
    world.cloud.delete_pool("web")
    follow(world, 30)

    (removal,) = ended(world)
    assert (removal.phase, removal.rollback) == (ShrinkPhase.ROLLED_BACK, RollbackReason.POOL_GONE)
    assert node(world, 2).deletion_taint is None


def test_busy_pool_is_waited_for() -> None:  # I3
    world = world_of(2)
    plan(world, 2)
    world.cloud.pool("web").state = PoolState.BUSY
    follow(world, 40)
    assert sent(world) == []

    world.cloud.pool("web").state = PoolState.RUNNING
    follow(world, 40)
    assert len(sent(world)) == 1


# What the cluster answers


@pytest.mark.parametrize("method", ["node", "pods_on", "snapshot"])
def test_cluster_that_cannot_be_read_leaves_the_removal_for_the_next_tick(method: str) -> None:
    world = world_of(2)
    plan(world, 2)
    world.cluster.fail(method, Unavailable(f"get {method}", status=503))
    outcome = act(world)

    assert outcome.kind is OutcomeKind.DONE
    assert outcome.facts["operations"] == [{"pool": WEB, "left": f"get {method}: unavailable (HTTP 503)"}]
    assert [op.phase for op in in_flight(world)] == [ShrinkPhase.PLANNED]
    follow(world, 60)
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]


@pytest.mark.parametrize(
    "error",
    [Conflict("patch nodes"), Unavailable("patch nodes"), TimedOut("patch nodes"), Denied("patch nodes", status=403)],
    ids=lambda error: type(error).__name__,
)
def test_taint_that_failed_is_tried_again(error: RemoteError) -> None:
    world = world_of(2)
    plan(world, 2)
    world.cluster.fail("taint", error)
    act(world)
    assert [op.phase for op in in_flight(world)] == [ShrinkPhase.PLANNED]
    assert [op.detail for op in in_flight(world)] == [str(error)]

    follow(world, 90)
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]
    assert len(effects_of(world, TaintNode)) == 2


def test_taint_that_is_never_allowed_gives_up() -> None:
    world = world_of(2)
    plan(world, 2)
    world.cluster.fail("taint", *[Denied("patch nodes", status=403)] * 200)
    follow(world, world.policy.pace.operation_timeout.total_seconds() + 20, step=10)

    (removal,) = ended(world)
    assert (removal.phase, removal.rollback) == (ShrinkPhase.ROLLED_BACK, RollbackReason.CLUSTER_REFUSED)


def test_eviction_that_failed_is_tried_again() -> None:
    world = world_of(3)
    put_web_pod(world, 3)
    world.workloads.run("web", 1)
    plan(world, 3, mode=ShrinkMode.DRAIN)
    world.cluster.fail("evict", Unavailable("create evictions", status=503))
    follow(world, 120)

    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]
    assert len(effects_of(world, EvictPod)) == 2


def test_untaint_that_failed_is_tried_again_until_the_node_is_given_back() -> None:
    world = world_of(2)
    plan(world, 2)
    world.cloud.fail("remove_instances", Denied("evict", WEB, status=403))
    world.cluster.fail("untaint", Conflict("patch nodes"), Unavailable("patch nodes"))
    follow(world, 90)

    assert [op.phase for op in ended(world)] == [ShrinkPhase.ROLLED_BACK]
    assert node(world, 2).deletion_taint is None
    assert len(effects_of(world, UntaintNode)) == 3


def test_node_is_given_back_although_the_cloud_cannot_be_read() -> None:
    """Taking a taint off needs no cloud, and a node that takes no pods for hours helps nobody."""
    world = world_of(2)
    plan(world, 2)
    world.cloud.fail("remove_instances", Denied("evict", WEB, status=403))
    until(world, ShrinkPhase.ROLLING_BACK, 2)
    world.cloud.fail("read_pool", *[Denied("list-sks-clusters", status=403)] * 50)
    follow(world, 20)

    assert [op.phase for op in ended(world)] == [ShrinkPhase.ROLLED_BACK]
    assert node(world, 2).deletion_taint is None


def test_node_is_given_back_when_the_cloud_stays_silent_for_too_long() -> None:
    world = world_of(2)
    plan(world, 2)
    until(world, ShrinkPhase.DRAINED, 2)
    world.cloud.fail("read_pool", *[Unavailable("get-instance-pool", status=503)] * 500)
    follow(world, 20 * 60, step=10)
    assert [op.phase for op in in_flight(world)] == [ShrinkPhase.DRAINED]  # a while is nothing to worry about

    follow(world, 10 * 60, step=10)

    assert [op.phase for op in ended(world)] == [ShrinkPhase.ROLLED_BACK]
    assert node(world, 2).deletion_taint is None


# Instances without a node


def test_instance_that_never_became_a_node_is_removed() -> None:  # R42
    world = world_of(2)
    plan(world, 2, mode=ShrinkMode.NEVER_REGISTERED)
    world.cluster.remove_node("web-02")
    follow(world, 60)

    assert world.size("web") == 1
    assert world.state.observations.counters[CounterName.INSTANCES_REMOVED_UNREGISTERED] == 1
    assert reasons_told(world) == ["DeleteUnregistered"]


def test_instance_that_became_a_node_after_all_stays() -> None:
    world = world_of(2)
    plan(world, 2, mode=ShrinkMode.NEVER_REGISTERED)
    follow(world, 20)

    assert [op.rollback for op in ended(world)] == [RollbackReason.NODE_REGISTERED]
    assert sent(world) == []
