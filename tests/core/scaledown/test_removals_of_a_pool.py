"""How the state of a pool decides whether its unneeded nodes go now, and the operations that result."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.core.model import PoolState
from exoscaler.core.operations.model import ShrinkMode, ShrinkPhase
from exoscaler.core.reasons import Unremovable
from tests.builders import (
    instance_id,
    make_group,
    make_growth,
    make_node,
    make_removal,
    make_scene,
)
from tests.core.scaledown.plans import (
    AT_ONCE,
    LONG,
    cluster,
    going,
    in_flight,
    operation_for,
    planned,
    reasons,
    shrinking,
    unneeded,
    verdict,
)
from tests.core.scenes import remembering

EMPTY = ShrinkMode.EMPTY


# What is happening to the pool


@pytest.mark.parametrize("state", [PoolState.BUSY, PoolState.SCALING_UP, PoolState.SCALING_DOWN, PoolState.UNKNOWN])
def test_busy_pool_is_waited_for_while_times_go_on(state: PoolState) -> None:
    nodes = [make_node("a"), make_node("b")]
    plan = planned(cluster(nodes, group=make_group(nodes=nodes, state=state)))
    assert going(plan) == {}
    assert unneeded(plan) == ["a", "b"]
    assert set(reasons(plan).values()) == {Unremovable.OPERATION_IN_FLIGHT}
    assert verdict(plan, "a").detail == f"the pool is {state.value}"


def test_pool_with_trouble_still_shrinks() -> None:
    nodes = [make_node("a"), make_node("b")]
    plan = planned(cluster(nodes, group=make_group(nodes=nodes, state=PoolState.DEGRADED)))
    assert going(plan) == {"a": EMPTY}


def test_nothing_goes_on_an_old_view_of_the_pool_while_times_go_on() -> None:
    nodes = [make_node("a"), make_node("b")]
    plan = planned(cluster(nodes, group=make_group(nodes=nodes, stale="HTTP 503")))
    assert going(plan) == {}
    assert unneeded(plan) == ["a", "b"]
    assert (verdict(plan, "a").reason, verdict(plan, "a").detail) == (Unremovable.CLOUD_VIEW_STALE, "HTTP 503")


def test_pool_from_which_instances_are_being_taken_is_waited_for() -> None:  # I3
    nodes = [make_node(name) for name in "abc"]
    scene = cluster(nodes)
    plan = planned(in_flight(scene, make_removal(scene.groups[0], nodes[0], phase=ShrinkPhase.EVICTING)))
    assert going(plan) == {}
    assert verdict(plan, "b").detail == "instances are being taken out"


def test_pool_that_grows_is_waited_for() -> None:  # I3
    nodes = [make_node(name) for name in "ab"]
    scene = cluster(nodes, policy=shrinking(replace(AT_ONCE, delay_is_local=True)))
    document = scene.state.operations.model_copy(update={"growing": (make_growth(scene.groups[0], to=3),)})
    plan = planned(replace(scene, state=scene.state.model_copy(update={"operations": document})))
    assert verdict(plan, "a").detail == "it is growing"


def test_one_broken_pool_does_not_hold_the_others() -> None:  # pain 22
    broken, well = [make_node("a"), make_node("b")], [make_node("c"), make_node("d")]
    groups = (make_group("broken", nodes=broken, stale="HTTP 500"), make_group("well", nodes=well))
    scene = make_scene(*groups, nodes=[*broken, *well], policy=shrinking())
    plan = planned(remembering(scene, unneeded={n.name: LONG for n in (*broken, *well)}))
    assert going(plan) == {"c": EMPTY}


# The operations


def test_operation_names_node_instance_group_and_decision() -> None:
    nodes = [make_node("a"), make_node("b")]
    scene = cluster(nodes)
    operation = operation_for(planned(scene), "a")
    assert (operation.node_uid, operation.instance_id) == ("uid-of-a", instance_id("a"))
    assert (operation.group_id, operation.group_name) == ("id-of-pool", "pool")
    assert (operation.decision_id, operation.phase) == ("decision", ShrinkPhase.PLANNED)
    assert operation.taint_value == ""
    assert operation_for(planned(scene), "a").id == operation.id
    assert operation_for(planned(replace(scene, decision_id="other")), "a").id != operation.id


def test_nodes_that_go_together_have_operations_of_their_own() -> None:
    nodes = [make_node(f"n{i}") for i in range(6)]
    plan = planned(cluster(nodes))
    assert len({op.id for op in plan.operations}) == len(plan.operations) == 5
