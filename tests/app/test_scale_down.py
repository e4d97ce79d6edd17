"""Carrying out removals: the whole way."""

from __future__ import annotations

from dataclasses import replace

from exoscaler.core.model import NodeBounds
from exoscaler.core.operations.effects import DeleteNode, EvictPod
from exoscaler.core.operations.model import ShrinkMode, ShrinkPhase
from exoscaler.core.operations.removal import NODE_OBJECT_POLLS
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.state import CounterName
from exoscaler.ports.events import FunctionName
from tests.app.shrinking import (
    WEB,
    act,
    effects_of,
    ended,
    follow,
    in_flight,
    instance_of,
    names,
    node,
    plan,
    put_web_pod,
    reasons_told,
    sent,
    until,
    world_of,
)
from tests.fakes.pools import Timing


def test_empty_node_is_tainted_waited_for_removed_and_forgotten() -> None:
    world = world_of(3)
    plan(world, 3)
    until(world, ShrinkPhase.TAINTED, 3)
    assert node(world, 3).deletion_taint is not None
    assert node(world, 3).unschedulable
    assert world.cloud.mutations == []

    victim = instance_of(world, 3)
    follow(world, 60)
    assert sent(world) == [(victim,)]
    assert world.size("web") == 2
    assert names(world) == {"web-01", "web-02"}
    (removal,) = ended(world)
    assert removal.phase is ShrinkPhase.REMOVED
    assert world.state.observations.counters[CounterName.NODES_REMOVED_EMPTY] == 1
    assert world.state.observations.shrunk_at == {WEB: removal.phase_since}
    assert reasons_told(world) == ["ScaleDown", "ScaleDownEmpty"]
    assert world.state.operations.claims == ()


def test_node_with_pods_is_drained_before_it_is_removed() -> None:
    world = world_of(3)
    world.workloads.run("web", 0)
    put_web_pod(world, 3)
    world.workloads.run("web", 1)
    plan(world, 3, mode=ShrinkMode.DRAIN)
    until(world, ShrinkPhase.DRAINING, 3)
    assert [effect.name for effect in effects_of(world, EvictPod) if isinstance(effect, EvictPod)] == ["web-pod-3"]
    assert world.cloud.mutations == []

    follow(world, 120)
    assert names(world) == {"web-01", "web-02"}
    assert world.state.observations.counters[CounterName.NODES_REMOVED_DRAINED] == 1
    assert world.state.observations.counters[CounterName.PODS_EVICTED] == 1
    assert world.workloads.waiting == ()


def test_nothing_planned_asks_nobody_anything() -> None:
    world = world_of(1)
    world.cloud.calls.clear()
    world.cluster.looks.clear()

    assert act(world).facts == {"operations": []}
    assert world.cloud.calls.total() == 0
    assert world.cluster.looks == {}


def test_drained_nodes_of_one_pool_go_in_one_call() -> None:
    world = world_of(4)
    plan(world, 2, 3, 4)
    victims = {instance_of(world, number) for number in (2, 3, 4)}
    follow(world, 60)

    (call,) = sent(world)
    assert set(call) == victims
    assert names(world) == {"web-01"}


def test_removals_that_would_take_the_pool_below_its_minimum_together_are_not_begun() -> None:  # I1
    world = world_of(3, minimum=2)
    plan(world, 2, 3)
    follow(world, 60)

    assert world.size("web") >= 2
    assert RollbackReason.GROUP_MIN_SIZE_REACHED in [op.rollback for op in ended(world)]
    assert [n.name for n in world.cluster.all_nodes if n.unschedulable or n.deletion_taint] == []


def test_minimum_that_was_raised_on_the_way_holds() -> None:  # I1
    world = world_of(3)
    plan(world, 2, 3)
    until(world, ShrinkPhase.DRAINED, 2)
    world.policy = replace(world.policy, bounds=(NodeBounds(2, 10, "web"),))
    world.tick(FunctionName.REFRESH)
    follow(world, 60)

    assert world.size("web") == 2
    assert {op.phase for op in ended(world)} == {ShrinkPhase.REMOVED, ShrinkPhase.ROLLED_BACK}
    assert [n.name for n in world.cluster.all_nodes if n.unschedulable or n.deletion_taint] == []


def test_removal_that_ends_does_not_lose_what_was_done_to_its_neighbour() -> None:
    """Both are looked at in one round: the first one's node has gone meanwhile, the second is tainted."""
    world = world_of(3)
    plan(world, 2, 3)
    world.cluster.remove_node("web-02")
    act(world)

    (gone,) = ended(world)
    assert gone.rollback is RollbackReason.NODE_GONE
    (tainted,) = in_flight(world)
    assert tainted.phase is ShrinkPhase.TAINTED
    assert "ScaleDown" in reasons_told(world)


def test_node_that_outlives_its_instance_is_deleted_in_the_end() -> None:
    world = world_of(2, timing=Timing(node_gone=None))
    plan(world, 2)
    uid = node(world, 2).uid
    until(world, ShrinkPhase.EVICTING, 2)
    patience = NODE_OBJECT_POLLS * world.policy.pace.operation_poll_interval.total_seconds()
    follow(world, patience - 10)
    assert effects_of(world, DeleteNode) == []

    follow(world, 30)
    assert effects_of(world, DeleteNode) == [DeleteNode("web-02", uid)]
    assert names(world) == {"web-01"}
    assert [op.phase for op in ended(world)] == [ShrinkPhase.REMOVED]
