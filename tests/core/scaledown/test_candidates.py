"""Which nodes are looked at for removal, and why the others stay (R106, R110-R116)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.model import FrozenMap, Node, Pod, PoolState
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.policy import Policy, StartupTaints
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scene import Scene
from exoscaler.core.state import StayingNode
from tests.builders import (
    NOW,
    instance_id,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
    resources,
    taint,
)
from tests.core.scaledown.plans import AT_ONCE, cluster, going, keep, planned, reasons, shrinking, unneeded, verdict
from tests.core.scenes import marked, remembering

NODE = make_node("n")
OTHER = make_node("other", cpu="1", memory="1Gi")


def stays(node: Node, pods: Sequence[Pod] = (), *, policy: Policy | None = None) -> tuple[Unremovable | None, str]:
    """Why the node, the only candidate beside another one, is not looked at; None when it is."""
    plan = planned(cluster([node, OTHER], pods, policy=policy))
    if node.name in unneeded(plan):
        return None, ""
    found = verdict(plan, node.name)
    return found.reason, found.detail


def test_node_of_no_group_is_never_looked_at() -> None:
    plan = planned(cluster([NODE, OTHER, make_node("stranger")], group=make_group(nodes=[NODE, OTHER])))

    assert verdict(plan, "stranger").reason is Unremovable.NOT_AUTOSCALED
    assert verdict(plan, "stranger").group_id == ""


def test_control_plane_stays_even_in_a_managed_group() -> None:
    node = make_node("n", labels={"node-role.kubernetes.io/control-plane": ""})
    assert stays(node) == (Unremovable.NOT_AUTOSCALED, "it belongs to the control plane")


def test_instance_that_two_nodes_claim_is_not_taken_from_either() -> None:
    # To remove it would take the pods of the other node with it.
    ghost = replace(make_node("ghost"), provider_id=NODE.provider_id)
    nodes = [NODE, ghost, OTHER]
    scene = make_scene(make_group(nodes=[NODE, OTHER]), nodes=nodes, policy=shrinking())
    plan = planned(remembering(scene, unneeded={n.name: 9999 for n in nodes}))
    assert reasons(plan)["n"] is reasons(plan)["ghost"] is Unremovable.INSTANCE_SHARED


def at_minimum(*, size: int | None = None) -> Scene:
    nodes = [make_node("a"), make_node("b"), make_node("c")]
    return cluster(nodes, group=make_group(nodes=nodes, size=size, min_size=3))


def test_nodes_of_a_group_at_its_minimum_are_not_looked_at_and_lose_their_time() -> None:  # R106, K1
    plan = planned(at_minimum())
    assert set(reasons(plan).values()) == {Unremovable.GROUP_MIN_SIZE_REACHED}
    assert plan.unneeded == ()
    assert verdict(plan, "a").detail == "3 of 3 members, minimum 3"


def test_group_whose_instances_are_missing_is_at_its_minimum_too() -> None:
    assert set(reasons(planned(at_minimum(size=5))).values()) == {Unremovable.GROUP_MIN_SIZE_REACHED}


def test_removals_in_flight_bring_a_group_to_its_minimum() -> None:  # R125
    nodes = [make_node("a"), make_node("b")]
    group = make_group(nodes=nodes)
    scene = make_scene(
        group, nodes=nodes, shrinking=[make_removal(group, nodes[0], phase=ShrinkPhase.DRAINED)], policy=shrinking()
    )
    plan = planned(remembering(scene, unneeded={"b": 9999}))
    assert reasons(plan) == {"b": Unremovable.GROUP_MIN_SIZE_REACHED}


@pytest.mark.parametrize("state", [PoolState.BLOCKED, PoolState.GOING])
def test_pool_that_a_person_must_look_at_loses_no_node_and_holds_no_place(state: PoolState) -> None:
    stuck, free = make_node("stuck"), make_node("free")
    pods = [make_pod("p", node="stuck", cpu="1"), make_pod("q", node="free", cpu="1")]
    # The only room is where one of the two pods fits.
    room = make_node("room", cpu="1100m")
    groups = (
        make_group("stuck", nodes=[stuck, make_node("s2", cpu="1m")], state=state),
        make_group("free", nodes=[free, make_node("f2", cpu="1m")]),
    )
    scene = make_scene(*groups, nodes=[stuck, free, room], pods=pods, policy=shrinking())
    plan = planned(remembering(scene, unneeded={"stuck": 9999, "free": 9999}))

    assert verdict(plan, "stuck").reason is Unremovable.POOL_BLOCKED
    assert list(going(plan)) == ["free"]


def test_verdict_of_a_simulation_holds_for_a_while_and_keeps_its_reason() -> None:  # R112, R119, K1
    known = StayingNode(
        name="n", reason=Unremovable.BLOCKED_BY_POD, detail="default/p: why", until=NOW + timedelta(seconds=1)
    )
    scene = remembering(cluster([NODE, OTHER]), unneeded={"n": 9999}, staying={NODE.uid: known})
    plan = planned(scene)

    assert verdict(plan, "n").reason is Unremovable.RECENTLY_UNREMOVABLE
    assert verdict(plan, "n").detail == "BlockedByPod: default/p: why"
    assert NODE.uid in plan.cached
    assert "n" not in unneeded(plan)

    again = StayingNode(name="n", reason=Unremovable.RECENTLY_UNREMOVABLE, detail="BlockedByPod: x", until=known.until)
    plan = planned(remembering(scene, staying={NODE.uid: again}))
    assert verdict(plan, "n").detail == "BlockedByPod: x"


def test_verdict_that_has_run_out_is_found_anew() -> None:  # R119: until <= now
    known = StayingNode(name="n", reason=Unremovable.BLOCKED_BY_POD, until=NOW)
    plan = planned(remembering(cluster([NODE, OTHER]), unneeded={"n": 9999}, staying={NODE.uid: known}))
    assert "n" in unneeded(plan)


@pytest.mark.parametrize("age", [0, 299])
def test_node_that_another_autoscaler_is_about_to_delete_is_left_to_it(age: float) -> None:  # R113
    reason, detail = stays(marked(NODE, since=age))
    assert reason is Unremovable.CURRENTLY_BEING_DELETED
    assert detail.startswith("ToBeDeletedByClusterAutoscaler=")


def test_old_or_unreadable_mark_says_nothing_but_is_not_ours_to_take_away() -> None:  # R113
    old = marked(NODE, since=300)
    odd = replace(NODE, taints=(taint("ToBeDeletedByClusterAutoscaler", "soon"),))
    for node in (old, odd):
        plan = planned(cluster([node, OTHER]))
        assert "n" in unneeded(plan)
        assert "n" not in going(plan)
        assert verdict(plan, "n").reason is Unremovable.CURRENTLY_BEING_DELETED


@pytest.mark.parametrize(("value", "forbidden"), [("true", True), ("True", False), ("false", False), ("", False)])
def test_annotation_forbids_the_removal_of_a_node(value: str, forbidden: bool) -> None:  # R113a
    key = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
    reason, _ = stays(make_node("n", annotations={key: value}))
    assert reason is (Unremovable.SCALE_DOWN_DISABLED if forbidden else None)


@pytest.mark.parametrize(
    ("age", "expected"), [(10, Unremovable.STILL_STARTING), (899, Unremovable.STILL_STARTING), (900, None)]
)
def test_node_that_is_not_ready_yet_is_not_judged(age: float, expected: Unremovable | None) -> None:  # R32, R38
    assert stays(make_node("n", ready=False, age=age))[0] is expected


def test_young_node_that_is_ready_is_judged() -> None:
    assert stays(make_node("n", age=60))[0] is None


@pytest.mark.parametrize(("age", "expected"), [(60, Unremovable.STILL_STARTING), (3600, None)])
def test_node_with_a_startup_taint_is_starting_until_it_is_too_old_for_that(
    age: float, expected: Unremovable | None
) -> None:  # R21: then it is an unready one, which has to wait longer
    policy = replace(shrinking(), taints=StartupTaints(keys=frozenset({"cni"})))
    assert stays(make_node("n", age=age, taints=[taint("cni")]), policy=policy)[0] is expected


def test_young_node_without_the_devices_of_its_group_is_still_starting() -> None:  # R20, pain 12
    gpu = resources(cpu="4", memory="16Gi", pods=110, storage="40Gi", nvidia_com__gpu=1)
    grown, fresh = make_node("grown", allocatable=gpu), make_node("fresh", age=120)
    plan = planned(cluster([grown, fresh, keep()], group=make_group(nodes=[grown, fresh])))
    assert verdict(plan, "fresh").reason is Unremovable.STILL_STARTING
    assert "grown" in unneeded(plan)


def test_unready_nodes_may_be_left_alone() -> None:  # R116
    unready = make_node("n", ready=False)
    assert stays(unready)[0] is None
    policy = shrinking(replace(AT_ONCE, unready_enabled=False))
    assert stays(unready, policy=policy)[0] is Unremovable.SCALE_DOWN_UNREADY_DISABLED
    # Asked before utilisation.
    full = [make_pod("p", node="n", cpu="4")]
    assert stays(unready, full, policy=policy)[0] is Unremovable.SCALE_DOWN_UNREADY_DISABLED


def test_node_used_above_the_threshold_stays_with_both_numbers() -> None:  # R115, pain 33
    reason, detail = stays(NODE, [make_pod("p", node="n", cpu="2100m", memory="1Gi")])
    assert reason is Unremovable.NOT_UNDERUTILIZED
    assert detail == "52.5% of CPU and 6.2% of memory are requested"


def test_node_that_reports_no_resources_has_no_utilisation() -> None:  # R114
    assert stays(make_node("n", allocatable=resources(pods=110)))[0] is Unremovable.NO_UTILIZATION


def test_expendable_pods_are_not_seen() -> None:  # R15, R132
    pod = make_pod("cheap", node="n", cpu="4", owner=None, priority=-11)
    assert stays(NODE, [pod])[0] is None
    assert stays(NODE, [replace(pod, spec=replace(pod.spec, priority=-10))])[0] is Unremovable.NOT_UNDERUTILIZED


def test_pending_pod_that_was_promised_the_node_counts_like_one_that_runs_there() -> None:  # K3, R25
    waiting = make_pod("waiting", cpu="2100m")
    assert stays(NODE, [waiting])[0] is Unremovable.NOT_UNDERUTILIZED
    # A bare one blocks too.
    assert stays(NODE, [make_pod("bare", cpu="1500m", owner=None)])[0] is Unremovable.BLOCKED_BY_POD


def test_node_on_its_way_out_is_not_judged_a_second_time() -> None:  # R110
    nodes = [NODE, OTHER, make_node("third")]
    group = make_group(nodes=nodes)
    for phase in (ShrinkPhase.PLANNED, ShrinkPhase.EVICTING, ShrinkPhase.ROLLING_BACK):
        scene = make_scene(group, nodes=nodes, shrinking=[make_removal(group, NODE, phase=phase)], policy=shrinking())
        plan = planned(remembering(scene, unneeded={"n": 9999}))
        assert "n" not in unneeded(plan)
        assert "n" not in reasons(plan)
        assert "n" not in going(plan)


def test_every_node_gets_exactly_one_answer() -> None:
    nodes = [make_node(f"n{i}", annotations={"x": "y"}) for i in range(6)]
    plan = planned(cluster([*nodes, OTHER], [make_pod("p", node="n3", owner=None)]))
    answers = [v.node_name for v in plan.staying] + list(going(plan))
    assert sorted(answers) == sorted([*(n.name for n in nodes), "other"])


def test_node_without_an_instance_is_no_node_of_ours() -> None:  # pain 23
    nameless = replace(NODE, provider_id="", system_uuid="", annotations=FrozenMap())
    scene = make_scene(
        make_group(members=[instance_id("n"), instance_id("other")]), nodes=[nameless, OTHER], policy=shrinking()
    )
    assert reasons(planned(scene))["n"] is Unremovable.NOT_AUTOSCALED
