"""One evaluation as a whole: growth first, removals with what is left, and what is remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from exoscaler.core.operations.model import ShrinkMode
from exoscaler.core.planner import NO_GROUPS, evaluate
from exoscaler.core.policy import Policy, ShrinkPolicy
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scene import Scene
from exoscaler.core.state import State
from tests.builders import ago, make_group, make_node, make_pod, make_scene
from tests.core.scenes import busy, remembering

LOCAL = Policy(shrink=ShrinkPolicy(delay_is_local=True))


def idle_pair() -> Scene:
    """A pool of two idle nodes, long unneeded, of which one may go."""
    nodes = [make_node("a"), make_node("b")]
    scene = make_scene(make_group(nodes=nodes), nodes=nodes)
    return remembering(scene, unneeded={"a": 700, "b": 700})


def test_nothing_is_done_without_node_groups_and_the_plan_says_so() -> None:
    node = make_node()
    plan = evaluate(make_scene(nodes=[node], pods=[make_pod()]))

    assert plan.shrink.held == NO_GROUPS
    assert not plan.changes_something
    assert plan.state.observations.evaluations == 1


def test_idle_node_goes_once_its_time_is_up() -> None:
    plan = evaluate(idle_pair())

    assert [(op.node_name, op.mode) for op in plan.shrink.operations] == [("a", ShrinkMode.EMPTY)]
    assert plan.state.operations.shrinking == plan.shrink.operations
    assert plan.changes_something


def test_operations_in_flight_are_kept_beside_new_ones() -> None:
    scene = idle_pair()
    first = evaluate(scene)
    again = evaluate(replace(scene, state=first.state, now=scene.now + timedelta(seconds=10)))
    assert again.state.operations.shrinking == first.state.operations.shrinking


def test_unwell_cluster_is_not_changed_and_its_times_stand_still() -> None:  # R39
    nodes = [make_node("idle"), make_node("spare"), *(make_node(f"dead-{i}", ready=False) for i in range(4))]
    scene = make_scene(make_group(nodes=nodes), nodes=nodes, pods=[make_pod("huge", cpu="8")])
    plan = evaluate(remembering(scene, unneeded={"idle": 700}))

    assert not plan.changes_something
    assert plan.shrink.held == "the cluster is unhealthy: 4 of 6 nodes are not ready"
    assert plan.state.observations.unhealthy_since == scene.now
    assert plan.state.observations.unneeded["uid-of-idle"].since == ago(700)


def test_node_that_a_pending_pod_fits_is_not_taken_away_from_it() -> None:  # K3, R25
    nodes = [make_node("a"), make_node("b")]
    pods = [make_pod("one", cpu="3"), make_pod("two", cpu="3")]
    scene = remembering(make_scene(make_group(nodes=nodes), nodes=nodes, pods=pods), unneeded={"a": 700, "b": 700})
    plan = evaluate(scene)

    assert not plan.changes_something
    assert {v.reason for v in plan.shrink.staying} == {Unremovable.NOT_UNDERUTILIZED}
    assert plan.state.observations.unneeded == {}


def test_pod_that_fits_a_node_that_stays_does_not_hold_one_that_goes() -> None:  # pain 17
    stays, load = busy("stays", cpu="2100m")
    nodes = [make_node("a"), make_node("b"), stays]
    waiting = make_pod("waiting", cpu="100m", node_selector={"disk": "ssd"})
    scene = make_scene(make_group(nodes=nodes), nodes=nodes, pods=[load, waiting])
    plan = evaluate(remembering(scene, unneeded={"a": 700, "b": 700}))

    # A pod that nothing helps, and that no node here fits, is no reason to keep idle ones.
    assert [u.pod.name for u in plan.growth.unhelped] == ["waiting"]
    assert [op.node_name for op in plan.shrink.operations] == ["a", "b"]


def test_nothing_is_removed_in_an_evaluation_that_grows_a_group() -> None:
    nodes = [make_node("a"), make_node("b")]
    big = [make_pod(f"big-{i}", cpu="3500m", node_selector={"pool": "big"}) for i in range(2)]
    example = make_node("big-1", labels={"pool": "big"})
    full = make_pod("full", node="big-1", cpu="3500m")
    groups = (make_group("idle", nodes=nodes), make_group("big", nodes=[example]))
    scene = remembering(make_scene(*groups, nodes=[*nodes, example], pods=[*big, full]), unneeded={"a": 700, "b": 700})
    plan = evaluate(scene)

    assert [op.group_name for op in plan.growth.operations] == ["big"]
    assert plan.shrink.operations == ()
    assert plan.shrink.held == "growing: big"
    # Its time goes on all the same.
    assert plan.state.observations.unneeded["uid-of-a"].since == ago(700)


def test_with_local_delays_one_group_grows_while_another_shrinks() -> None:  # R108
    nodes = [make_node("a"), make_node("b")]
    big = make_pod("big", cpu="3500m", node_selector={"pool": "big"})
    example = make_node("big-1", labels={"pool": "big"})
    full = make_pod("full", node="big-1", cpu="3500m")
    groups = (make_group("idle", nodes=nodes), make_group("big", nodes=[example]))
    scene = make_scene(*groups, nodes=[*nodes, example], pods=[big, full], policy=LOCAL)
    plan = evaluate(remembering(scene, unneeded={"a": 700, "b": 700}))

    assert [op.group_name for op in plan.growth.operations] == ["big"]
    assert [op.node_name for op in plan.shrink.operations] == ["a"]


def test_group_that_was_just_raised_to_its_minimum_does_not_lose_the_node_again() -> None:  # pain 21
    nodes = [make_node("a"), make_node("b")]
    scene = make_scene(make_group(nodes=nodes, min_size=3), nodes=nodes, policy=LOCAL)
    plan = evaluate(remembering(scene, unneeded={"a": 700, "b": 700}))

    assert [op.target_size for op in plan.growth.operations] == [3]
    assert plan.shrink.operations == ()


def test_first_evaluation_ever_removes_nothing() -> None:  # I6, pain 38
    nodes = [make_node("a"), make_node("b")]
    scene = make_scene(make_group(nodes=nodes), nodes=nodes)
    plan = evaluate(scene)

    assert plan.shrink.operations == ()
    assert {n.name for n in plan.state.observations.unneeded.values()} == {"a", "b"}


def test_lost_state_gives_every_node_its_full_time_again() -> None:  # I6
    scene = idle_pair()
    lost = replace(scene, state=State(node_groups=scene.state.node_groups))
    assert evaluate(lost).shrink.operations == ()


def test_equal_scenes_get_equal_plans() -> None:
    assert evaluate(idle_pair()) == evaluate(idle_pair())
