"""What is put in order whatever else happens: marks left when the state was lost, and instances without a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from exoscaler.core.model import Node, NodeGroup
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.scaledown.orphans import orphans
from exoscaler.core.scaledown.unregistered import long_unregistered
from exoscaler.core.scene import Scene
from exoscaler.core.state import State
from tests.builders import ago, make_group, make_growth, make_node, make_removal, make_scene
from tests.core.scaledown.plans import AT_ONCE, cluster, planned, reasons, shrinking
from tests.core.scenes import marked, remembering, report, with_objects

NODE, OTHER = make_node("n"), make_node("other")
TOO_LONG = 15 * 60 + 1


def holding(*nodes: Node, shrinking: Sequence[ShrinkOperation] = ()) -> Scene:
    return make_scene(make_group(nodes=nodes), nodes=nodes, shrinking=shrinking)


# Marks


def test_node_with_our_mark_that_nobody_knows_of_is_given_back() -> None:  # H.2-5, I6
    node = marked(NODE, since=900, cordoned=True, by="lost-operation")
    (undo,) = orphans(holding(node))

    assert (undo.phase, undo.rollback) == (ShrinkPhase.ROLLING_BACK, RollbackReason.STATE_LOST)
    assert node.deletion_taint is not None
    assert (undo.node_uid, undo.taint_value, undo.cordons) == (node.uid, node.deletion_taint.value, True)
    assert undo.group_id == "id-of-pool"


def test_cordon_that_is_not_ours_stays() -> None:  # R155
    node = replace(marked(NODE, by="lost-operation"), unschedulable=True)
    (undo,) = orphans(holding(node))
    assert not undo.cordons


def test_mark_of_others_is_never_touched() -> None:
    assert orphans(holding(marked(NODE, since=100_000))) == ()


def test_annotation_without_the_taint_is_nothing_to_undo() -> None:
    node = replace(NODE, annotations=NODE.annotations.with_entry("exoscaler.dev/scale-down", "x"))
    assert orphans(holding(node)) == ()


@pytest.mark.parametrize("phase", [ShrinkPhase.PLANNED, ShrinkPhase.DRAINING, ShrinkPhase.ROLLING_BACK])
def test_mark_of_an_operation_in_flight_is_no_orphan(phase: ShrinkPhase) -> None:
    node = marked(NODE, by="operation")
    removal = make_removal(make_group(nodes=[node]), node, phase=phase)
    assert orphans(holding(node, shrinking=[removal])) == ()


def test_node_made_anew_under_the_name_of_one_in_flight_is_an_orphan() -> None:
    removal = make_removal(make_group(nodes=[NODE]), NODE)
    node = replace(marked(NODE, by="operation"), uid="another-uid")
    assert [op.node_uid for op in orphans(holding(node, shrinking=[removal]))] == ["another-uid"]


def test_marked_node_of_no_group_is_left_alone() -> None:
    stranger = marked(make_node("stranger"), by="operation")
    assert orphans(make_scene(make_group(nodes=[NODE]), nodes=[NODE, stranger])) == ()


def test_each_undoing_has_an_id_of_its_own() -> None:
    nodes = [marked(node, by="lost") for node in (OTHER, NODE)]
    undoing = orphans(holding(*nodes))
    assert [op.node_name for op in undoing] == ["n", "other"]
    assert len({op.id for op in undoing}) == 2


def test_node_that_is_given_back_is_not_judged_meanwhile() -> None:
    scene = cluster([marked(NODE, since=900, by="lost"), OTHER, make_node("third")])
    plan = planned(scene)
    assert [op.phase for op in plan.operations if op.node_name == "n"] == [ShrinkPhase.ROLLING_BACK]
    assert "n" not in reasons(plan)
    assert "n" not in dict(plan.unneeded).values()


def test_marks_are_undone_although_removals_are_off_or_in_doubt() -> None:
    nodes = [marked(NODE, since=900, by="lost"), OTHER]
    off = planned(cluster(nodes, policy=shrinking(replace(AT_ONCE, enabled=False))))
    doubtful = planned(with_objects(cluster(nodes), daemonsets=[report(9)]))
    for plan in (off, doubtful):
        assert [op.rollback for op in plan.operations] == [RollbackReason.STATE_LOST]


# Instances without a node: R42, pain 39


def group_with(*lost: str, min_size: int = 1, stale: str = "") -> NodeGroup:
    return make_group(members=["instance-of-n", *lost], min_size=min_size, stale=stale)


def waiting_for(group: NodeGroup, seconds: float = TOO_LONG, **rest: Sequence[ShrinkOperation]) -> Scene:
    scene = make_scene(group, nodes=[NODE], shrinking=rest.get("shrinking", ()))
    observations = remembering(
        scene, unregistered={i: ago(seconds) for i in group.pool.members if i != "instance-of-n"}
    ).state.observations
    return replace(scene, state=scene.state.model_copy(update={"observations": observations}))


def lost_in(scene: Scene) -> list[str]:
    return [op.instance_id for op in long_unregistered(scene, ())]


@pytest.mark.parametrize(("seconds", "goes"), [(TOO_LONG - 1, False), (TOO_LONG, True)])
def test_instance_that_is_no_node_after_the_provision_time_goes(seconds: float, goes: bool) -> None:  # R33, R42
    assert lost_in(waiting_for(group_with("x"), seconds)) == (["x"] if goes else [])


def test_it_goes_without_taint_or_drain_and_under_its_own_id() -> None:
    first, second = long_unregistered(waiting_for(group_with("instance-1", "instance-2")), ())
    assert (first.mode, first.phase, first.node_uid) == (ShrinkMode.NEVER_REGISTERED, ShrinkPhase.DRAINED, "")
    assert first.id != second.id


def test_minimum_holds_for_instances_without_a_node() -> None:  # R42, I1
    assert lost_in(waiting_for(group_with("x", "y", min_size=2))) == ["x"]
    assert lost_in(waiting_for(group_with("x", "y", min_size=3))) == []


def test_instance_whose_removal_is_under_way_or_being_undone_gets_no_second_one() -> None:
    group = group_with("x")
    removal = replace(make_removal(group, NODE), instance_id="x", node_uid="", node_name="")
    assert lost_in(waiting_for(group, shrinking=[removal])) == []
    undoing = replace(removal, phase=ShrinkPhase.ROLLING_BACK)
    assert lost_in(waiting_for(group, shrinking=[undoing])) == []


def test_removals_planned_in_the_same_evaluation_count_against_the_minimum() -> None:
    group = group_with("x", min_size=1)
    going = make_removal(group, NODE, phase=ShrinkPhase.PLANNED)
    assert long_unregistered(waiting_for(group), [going]) == ()


def test_nothing_is_removed_on_an_old_view_of_the_pool() -> None:
    assert lost_in(waiting_for(group_with("x", stale="HTTP 503"))) == []


def test_growth_under_way_looks_after_its_own_instances() -> None:
    group = group_with("x")
    scene = waiting_for(group)
    operations = scene.state.operations.model_copy(update={"growing": (make_growth(group, to=3),)})
    assert lost_in(replace(scene, state=scene.state.model_copy(update={"operations": operations}))) == []


def test_view_without_any_node_of_ours_is_doubted_rather_than_the_instances() -> None:  # pain 38
    scene = waiting_for(group_with("x"))
    assert lost_in(replace(scene, snapshot=replace(scene.snapshot, nodes=()))) == []


def test_failed_removal_is_not_repeated_at_once() -> None:  # pain 39
    scene = waiting_for(group_with("x"))
    observations = scene.state.observations
    for seconds, expected in ((179, []), (180, ["x"])):
        failed = observations.model_copy(update={"shrink_failed_at": {"id-of-pool": ago(seconds)}})
        assert lost_in(replace(scene, state=scene.state.model_copy(update={"observations": failed}))) == expected


def test_lost_state_gives_instances_their_full_time_again() -> None:  # I6
    scene = waiting_for(group_with("x"))
    assert lost_in(replace(scene, state=State(node_groups=scene.state.node_groups))) == []


def test_instances_without_a_node_go_although_scale_down_is_off() -> None:  # R42
    scene = replace(waiting_for(group_with("x")), policy=shrinking(replace(AT_ONCE, enabled=False)))
    assert [op.instance_id for op in planned(scene).operations] == ["x"]
