from __future__ import annotations

from typing import Any

import pytest

from exoscaler.core.model import Constraint, GroupDescription, Node, NodeGroup, Pod, PoolState, Quota
from exoscaler.core.operations.model import GrowOperation, ShrinkPhase
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.policy import ExpanderName, GrowthPolicy, Policy, ResourceLimits
from exoscaler.core.reasons import GroupSkip, GrowFailure, Obstacle, PodSkip
from exoscaler.core.scaleup import ledger_for, plan_growth
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, Origin
from exoscaler.core.state import Backoff
from tests.builders import (
    NOW,
    ago,
    instance_id,
    make_daemonset_pod,
    make_group,
    make_growth,
    make_node,
    make_pod,
    make_removal,
    make_scene,
    taint,
)


def _planned(scene: Scene) -> tuple[GrowthPlan, Ledger]:
    ledger = ledger_for(scene)
    return plan_growth(scene, ledger), ledger


def _plan(*groups: NodeGroup, **scene: Any) -> GrowthPlan:
    return _planned(make_scene(*groups, **scene))[0]


def _targets(plan: GrowthPlan) -> dict[str, int]:
    return {op.group_name: op.target_size for op in plan.operations}


def _why_skipped(plan: GrowthPlan) -> dict[str, PodSkip]:
    return {skipped.pod.name: skipped.reason for skipped in plan.skipped}


def _verdicts(plan: GrowthPlan, pod: str = "pod") -> dict[str, str]:
    return {v.group_name: v.text for entry in plan.unhelped if entry.pod.name == pod for v in entry.verdicts}


def _full(name: str, **node: Any) -> tuple[Node, Pod]:
    """A node without any CPU left, and the pod that took it."""
    return make_node(name, **node), make_pod(f"filler-of-{name}", node=name, cpu="4")


def _policy(**growth: Any) -> Policy:
    return Policy(growth=GrowthPolicy(**growth))


def _backoff() -> Backoff:
    return Backoff(seconds=300, until=ago(-60), failed_at=NOW, failure=GrowFailure.CLOUD_FAILURE)


def test_pods_that_fit_nowhere_make_a_group_grow_to_an_absolute_size() -> None:
    node, filler = _full("a")
    group = make_group(nodes=[node])
    waiting = [make_pod(f"w{i}", cpu="1500m") for i in range(5)]
    plan, ledger = _planned(make_scene(group, nodes=[node], pods=[filler, *waiting], decision_id="d7"))

    assert plan.operations == (
        GrowOperation(
            id="d7-grow-1",
            group_id=group.id,
            group_name="pool",
            decision_id="d7",
            base_size=1,
            base_members=group.pool.members,
            target_size=4,
            planned_at=NOW,
            phase_since=NOW,
        ),
    )
    assert [helped.pod for helped in plan.helped] == waiting
    assert {helped.group_id for helped in plan.helped} == {group.id}
    assert not plan.unhelped
    ordered = ledger.destinations(Origin.ORDERED)
    assert [len(ledger.pods_on(name)) for name in ordered] == [2, 2, 1]


def test_with_nothing_waiting_nothing_is_ordered() -> None:
    node = make_node("a")

    assert _plan(make_group(nodes=[node]), nodes=[node], pods=[make_pod(node="a")]) == GrowthPlan()


def test_a_pod_that_fits_on_a_node_that_exists_takes_its_room() -> None:
    # R25
    node = make_node("a", cpu="2")
    pods = [make_pod("first", cpu="1500m", age=900), make_pod("second", cpu="1500m")]
    plan, ledger = _planned(make_scene(make_group(nodes=[node]), nodes=[node], pods=pods))

    assert _why_skipped(plan) == {"first": PodSkip.FITS_EXISTING}
    assert [helped.pod.name for helped in plan.helped] == ["second"]
    assert [pod.name for pod in ledger.pods_on("a")] == ["first"]


def test_the_more_important_pod_gets_the_room_that_exists() -> None:
    # R23
    node = make_node("a", cpu="2")
    pods = [make_pod("old", cpu="1500m", age=9000), make_pod("important", cpu="1500m", priority=10, age=1)]

    assert _why_skipped(_plan(make_group(nodes=[node]), nodes=[node], pods=pods)) == {
        "important": PodSkip.FITS_EXISTING
    }


def test_nothing_is_bought_as_long_as_some_arrangement_holds_all() -> None:
    # One by one by age, the small ones would leave no node with room for the large one.
    nodes = [make_node("a", cpu="3"), make_node("b", cpu="2100m")]
    pods = [make_pod("tiny", cpu="100m", age=990), make_pod("small", cpu="2", age=900), make_pod("large", cpu="3")]
    plan = _plan(make_group(nodes=nodes), nodes=nodes, pods=pods)

    assert not plan.operations
    assert set(_why_skipped(plan).values()) == {PodSkip.FITS_EXISTING}


def test_a_pod_that_fits_on_a_node_that_is_coming_orders_nothing() -> None:
    node, filler = _full("a")
    group = make_group(members=[instance_id("a"), "i-1"])
    plan = _plan(group, nodes=[node], pods=[filler, make_pod("w", cpu="3")])

    assert _why_skipped(plan) == {"w": PodSkip.FITS_UPCOMING}
    assert not plan.operations


def test_only_what_does_not_fit_on_coming_nodes_is_ordered_for() -> None:
    node, filler = _full("a")
    group = make_group(members=[instance_id("a"), "i-1"])
    plan = _plan(group, nodes=[node], pods=[filler, *(make_pod(f"w{i}", cpu="3") for i in range(3))])

    assert _targets(plan) == {"pool": 4}
    assert _why_skipped(plan) == {"w0": PodSkip.FITS_UPCOMING}


def test_pods_covered_by_a_backed_off_group_make_another_one_grow() -> None:
    groups, nodes, fillers = _two_groups()
    a = make_group("a", members=[instance_id("a"), "a-1"])
    plan = _plan(a, groups[1], nodes=nodes, pods=[*fillers, make_pod(cpu="3")], backoffs={a.id: _backoff()})

    assert _targets(plan) == {"b": 2}


# Which pods


@pytest.mark.parametrize(("age", "helped"), [(30, False), (31, True)])
def test_a_young_pod_orders_nothing_yet(age: float, helped: bool) -> None:
    # R28
    node, filler = _full("a")
    policy = _policy(new_pod_delay=NOW - ago(30))
    plan = _plan(make_group(nodes=[node]), nodes=[node], pods=[filler, make_pod(cpu="2", age=age)], policy=policy)

    assert bool(plan.operations) is helped
    assert ("pod" in _why_skipped(plan)) is not helped


def test_a_young_pod_takes_room_all_the_same() -> None:
    node = make_node("a", cpu="2")
    policy = _policy(new_pod_delay=NOW - ago(60))
    pods = [make_pod("young", cpu="1500m", age=5, priority=10), make_pod("other", cpu="1500m")]
    plan = _plan(make_group(nodes=[node]), nodes=[node], pods=pods, policy=policy)

    assert [helped.pod.name for helped in plan.helped] == ["other"]
    assert _why_skipped(plan) == {"young": PodSkip.FITS_EXISTING}


def test_a_daemons_pod_takes_room_and_orders_nothing() -> None:
    # R27
    node = make_node("a", cpu="2")
    daemon = make_pod("daemon", owner_kind="DaemonSet", cpu="1500m", priority=10)
    homeless = make_pod("homeless", owner_kind="DaemonSet", cpu="9")
    plan = _plan(make_group(nodes=[node]), nodes=[node], pods=[daemon, homeless, make_pod("w", cpu="1")])

    assert [helped.pod.name for helped in plan.helped] == ["w"]
    assert _why_skipped(plan) == {"daemon": PodSkip.DAEMONSET, "homeless": PodSkip.DAEMONSET}


def test_room_is_kept_for_pods_of_a_node_on_its_way_out_and_they_order_nothing() -> None:
    # R22-3
    going, other = make_node("going"), make_node("other", cpu="2")
    group = make_group(nodes=[going, other])
    moving = make_pod("moving", node="going", cpu="1500m", age=9000)
    stuck = make_pod("stuck", node="going", cpu="3", age=9000)
    scene = make_scene(
        group,
        nodes=[going, other],
        pods=[moving, stuck, make_pod("w", cpu="1")],
        shrinking=[make_removal(group, going, phase=ShrinkPhase.DRAINING)],
    )
    plan, ledger = _planned(scene)

    assert [helped.pod.name for helped in plan.helped] == ["w"]
    assert _targets(plan) == {"pool": 3}
    assert ledger.pods_on("other") == (moving,)
    assert not plan.skipped


@pytest.mark.parametrize("constraint", list(Constraint))
def test_a_pod_that_cannot_be_simulated_is_reported_not_guessed(constraint: Constraint) -> None:
    node = make_node("a")
    plan = _plan(make_group(nodes=[node]), nodes=[node], pods=[make_pod(unmodelled=[constraint])])

    assert not plan.operations
    assert _verdicts(plan) == {"pool": f"cannot simulate: {constraint.value}"}
    rejection = plan.unhelped[0].verdicts[0].rejections[0]
    assert rejection.obstacle is Obstacle.CANNOT_SIMULATE


# Which groups


@pytest.mark.parametrize(
    ("group", "scene", "skip"),
    [  # R51
        ({"stale": "time-out"}, {}, GroupSkip.STALE),
        ({"state": PoolState.BLOCKED}, {}, GroupSkip.POOL_BLOCKED),
        ({"state": PoolState.GOING}, {}, GroupSkip.POOL_BLOCKED),
        ({"state": PoolState.BUSY}, {}, GroupSkip.POOL_BUSY),
        ({"state": PoolState.UNKNOWN}, {}, GroupSkip.POOL_BUSY),
        ({"state": PoolState.SCALING_DOWN}, {}, GroupSkip.POOL_BUSY),
        ({"max_size": 1}, {}, GroupSkip.AT_MAX),
        ({}, {"backoffs": {"id-of-pool": _backoff()}}, GroupSkip.BACKED_OFF),
        ({}, {"quota": Quota(5, 5)}, GroupSkip.QUOTA),
        ({}, {"policy": _policy(max_nodes_total=1)}, GroupSkip.MAX_NODES_TOTAL),  # R86
        ({}, {"policy": _policy(cores=ResourceLimits(0, 7))}, GroupSkip.CLUSTER_LIMIT),  # R94
        ({}, {"policy": _policy(memory=ResourceLimits(0, 17 * 2**30))}, GroupSkip.CLUSTER_LIMIT),
    ],
)
def test_a_group_that_may_not_grow_says_why(group: dict[str, Any], scene: dict[str, Any], skip: GroupSkip) -> None:
    node, filler = _full("a")
    plan = _plan(make_group(nodes=[node], **group), nodes=[node], pods=[filler, make_pod(cpu="3")], **scene)

    assert not plan.operations
    assert plan.unhelped[0].verdicts[0].skip is skip
    assert _verdicts(plan) == {"pool": skip.value}


def test_a_degraded_pool_may_still_grow() -> None:
    node, filler = _full("a")
    group = make_group(nodes=[node], state=PoolState.DEGRADED)

    assert _targets(_plan(group, nodes=[node], pods=[filler, make_pod(cpu="3")])) == {"pool": 2}


def test_a_group_with_a_growth_in_flight_gets_no_second_one() -> None:
    node, filler = _full("a")
    group = make_group(nodes=[node])
    pods = [filler, make_pod("one", cpu="3", age=900), make_pod("pod", cpu="3")]
    plan = _plan(group, nodes=[node], pods=pods, growing=[make_growth(group, to=2)])

    assert not plan.operations
    assert _why_skipped(plan) == {"one": PodSkip.FITS_UPCOMING}
    assert _verdicts(plan) == {"pool": GroupSkip.OPERATION_IN_FLIGHT.value}


@pytest.mark.parametrize(
    ("phase", "grows"),
    [(ShrinkPhase.DRAINING, True), (ShrinkPhase.DRAINED, True), (ShrinkPhase.EVICTING, False)],
)
def test_a_removal_stands_in_the_way_only_once_it_reached_the_cloud(phase: ShrinkPhase, grows: bool) -> None:
    going = make_node("b")
    node, filler = _full("a")
    group = make_group(nodes=[node, going])
    removal = make_removal(group, going, phase=phase)
    plan = _plan(group, nodes=[node, going], pods=[filler, make_pod(cpu="3")], shrinking=[removal])

    assert _targets(plan) == ({"pool": 3} if grows else {})


def test_a_group_of_which_nothing_is_known_is_not_grown_for_pods() -> None:
    # R100
    plan = _plan(make_group(min_size=0), pods=[make_pod()])

    assert not plan.operations
    assert _verdicts(plan) == {"pool": GroupSkip.NO_TEMPLATE.value}


def test_an_empty_group_grows_by_what_another_of_its_type_shows() -> None:
    description = GroupDescription(instance_type_id="t", taints=(taint("gpu"),))
    node, filler = _full("a")
    groups = [
        make_group("full", nodes=[node], max_size=1, description=GroupDescription(instance_type_id="t")),
        make_group("empty", min_size=0, description=GroupDescription(instance_type_id="t")),
        make_group("tainted", min_size=0, description=description),
    ]
    plan = _plan(*groups, nodes=[node], pods=[filler, make_pod(cpu="3"), make_pod("huge", cpu="9")])

    assert _targets(plan) == {"empty": 1}
    assert _verdicts(plan, "huge") == {
        "full": "Insufficient cpu",
        "empty": "Insufficient cpu",
        "tainted": "node(s) had untolerated taint(s)",
    }


def test_that_a_pod_would_not_fit_anyway_is_said_before_that_the_group_is_at_its_maximum() -> None:
    # R102
    node, filler = _full("a")
    group = make_group(nodes=[node], max_size=1)
    plan = _plan(group, nodes=[node], pods=[filler, make_pod("huge", cpu="5"), make_pod("pod", cpu="3")])

    assert _verdicts(plan, "huge") == {"pool": "Insufficient cpu"}
    assert _verdicts(plan, "pod") == {"pool": "max node group size reached"}


def test_a_refused_pod_is_told_how_much_is_missing() -> None:
    node, filler = _full("a")
    daemon = make_daemonset_pod("agent", node="a", cpu="300m")
    plan = _plan(make_group(nodes=[node]), nodes=[node], pods=[filler, daemon, make_pod(cpu="3900m")])

    rejection = plan.unhelped[0].verdicts[0].rejections[0]
    assert (rejection.subject, rejection.short_by) == ("cpu", 200)


# Several groups


def _two_groups(**second: Any) -> tuple[list[NodeGroup], list[Node], list[Pod]]:
    a, filler_a = _full("a", labels={"pool": "a"})
    b, filler_b = _full("b", labels={"pool": "b"})
    return [make_group("a", nodes=[a]), make_group("b", nodes=[b], **second)], [a, b], [filler_a, filler_b]


def test_one_evaluation_grows_every_group_that_is_needed() -> None:
    groups, nodes, fillers = _two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(2)]
    plan = _plan(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert _targets(plan) == {"a": 3, "b": 3}
    assert {helped.pod.name[0]: helped.group_id for helped in plan.helped} == {"a": "id-of-a", "b": "id-of-b"}
    assert [op.id for op in plan.operations] == ["decision-grow-1", "decision-grow-2"]


def test_what_one_group_cannot_hold_goes_to_the_next() -> None:
    groups, nodes, fillers = _two_groups(max_size=2)
    pods = [make_pod(f"w{i}", cpu="3") for i in range(12)]
    plan = _plan(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert _targets(plan) == {"a": 10, "b": 2}
    assert len(plan.helped) == 10
    assert _verdicts(plan, "w9") == dict.fromkeys("ab", "max node group size reached")


def test_the_quota_is_shared_by_all_groups_of_one_evaluation() -> None:
    groups, nodes, fillers = _two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(3)]
    plan = _plan(*groups, nodes=nodes, pods=[*fillers, *pods], quota=Quota(10, 6))

    assert sum(op.target_size - op.base_size for op in plan.operations) == 4
    assert len(plan.unhelped) == 2
    assert {verdict.skip for entry in plan.unhelped for verdict in entry.verdicts if verdict.skip} == {GroupSkip.QUOTA}


def test_one_evaluation_orders_no_more_than_max_nodes_per_scaleup() -> None:
    # F43
    groups, nodes, fillers = _two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(3)]
    plan = _plan(*groups, nodes=nodes, pods=[*fillers, *pods], policy=_policy(max_nodes_per_scaleup=4))

    assert sum(op.target_size - op.base_size for op in plan.operations) == 4
    reasons = {verdict.skip for entry in plan.unhelped for verdict in entry.verdicts if verdict.skip}
    assert reasons == {GroupSkip.MAX_NODES_PER_SCALEUP}


def test_the_expander_chooses_between_groups_that_could_each_help() -> None:
    # R75
    big, small = make_node("a", cpu="16"), make_node("b", cpu="4")
    groups = [make_group("a", nodes=[big]), make_group("b", nodes=[small])]
    fillers = [make_pod("f1", node="a", cpu="16"), make_pod("f2", node="b", cpu="4")]
    pods = [make_pod(f"w{i}", cpu="2", memory="8Gi") for i in range(4)]

    def targets(expander: ExpanderName) -> dict[str, int]:
        policy = _policy(expanders=(expander,))
        return _targets(_plan(*groups, nodes=[big, small], pods=[*fillers, *pods], policy=policy))

    assert targets(ExpanderName.LEAST_WASTE) == {"b": 3}
    assert targets(ExpanderName.LEAST_NODES) == {"a": 3}
    assert targets(ExpanderName.MOST_PODS) == {"a": 3}


# Minimum sizes


def test_a_group_below_its_minimum_is_raised_to_it() -> None:
    # R98
    node = make_node("a")

    assert _targets(_plan(make_group(nodes=[node], min_size=3), nodes=[node])) == {"pool": 3}


def test_raising_to_the_minimum_is_a_setting() -> None:
    # F20
    node = make_node("a")
    policy = _policy(enforce_min_size=False)

    assert not _plan(make_group(nodes=[node], min_size=3), nodes=[node], policy=policy).operations


def test_minimum_and_demand_are_one_operation() -> None:
    node, filler = _full("a")
    group = make_group(nodes=[node], min_size=2)
    plan = _plan(group, nodes=[node], pods=[filler, *(make_pod(f"w{i}", cpu="3") for i in range(3))])

    assert _targets(plan) == {"pool": 4}
    assert len(plan.operations) == 1
    assert len(plan.helped) == 3


def test_a_node_that_the_minimum_brings_is_not_ordered_again_for_a_pod() -> None:
    node, filler = _full("a")
    plan = _plan(make_group(nodes=[node], min_size=2), nodes=[node], pods=[filler, make_pod(cpu="3")])

    assert _targets(plan) == {"pool": 2}
    assert [helped.pod.name for helped in plan.helped] == ["pod"]


@pytest.mark.parametrize(
    ("scene", "target"),
    [
        ({"quota": Quota(10, 8)}, 3),
        ({"quota": Quota(10, 10)}, None),
        ({"policy": _policy(max_nodes_total=4)}, 4),
        ({"policy": _policy(cores=ResourceLimits(0, 8))}, 2),
        ({"backoffs": {"id-of-pool": _backoff()}}, None),
    ],
)
def test_the_minimum_is_no_reason_to_break_another_limit(scene: dict[str, Any], target: int | None) -> None:
    # R98
    node = make_node("a")
    plan = _plan(make_group(nodes=[node], min_size=5), nodes=[node], **scene)

    assert _targets(plan) == ({} if target is None else {"pool": target})


def test_a_group_of_which_nothing_is_known_is_still_raised_to_its_minimum() -> None:
    # Its first node is what a template will be learnt from.
    node = make_node("a")
    groups = [make_group("known", nodes=[node]), make_group("new", min_size=2)]

    assert _targets(_plan(*groups, nodes=[node])) == {"new": 2}
    assert _targets(_plan(groups[1])) == {"new": 1}  # of a size that nothing bounds, one at a time


def test_growths_only_for_a_minimum_come_first() -> None:
    groups, nodes, fillers = _two_groups(min_size=2)
    pods = [make_pod("w", cpu="3", node_selector={"pool": "a"})]
    plan = _plan(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert [op.group_name for op in plan.operations] == ["b", "a"]
