from __future__ import annotations

from typing import Any

import pytest

from exoscaler.core.model import GroupDescription, PoolState, Quota
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.policy import ExpanderName, ResourceLimits
from exoscaler.core.reasons import GroupSkip, PodSkip
from tests.builders import (
    make_daemonset_pod,
    make_group,
    make_growth,
    make_node,
    make_pod,
    make_removal,
    taint,
)
from tests.core.scaleup.growth_plans import (
    backoff_now,
    full_node,
    growth_policy,
    plan_of,
    targets,
    two_groups,
    verdicts,
    why_skipped,
)


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
        ({}, {"backoffs": {"id-of-pool": backoff_now()}}, GroupSkip.BACKED_OFF),
        ({}, {"quota": Quota(5, 5)}, GroupSkip.QUOTA),
        ({}, {"policy": growth_policy(max_nodes_total=1)}, GroupSkip.MAX_NODES_TOTAL),  # R86
        ({}, {"policy": growth_policy(cores=ResourceLimits(0, 7))}, GroupSkip.CLUSTER_LIMIT),  # R94
        ({}, {"policy": growth_policy(memory=ResourceLimits(0, 17 * 2**30))}, GroupSkip.CLUSTER_LIMIT),
    ],
)
def test_a_group_that_may_not_grow_says_why(group: dict[str, Any], scene: dict[str, Any], skip: GroupSkip) -> None:
    node, filler = full_node("a")
    plan = plan_of(make_group(nodes=[node], **group), nodes=[node], pods=[filler, make_pod(cpu="3")], **scene)

    assert not plan.operations
    assert plan.unhelped[0].verdicts[0].skip is skip
    assert verdicts(plan) == {"pool": skip.value}


def test_a_degraded_pool_may_still_grow() -> None:
    node, filler = full_node("a")
    group = make_group(nodes=[node], state=PoolState.DEGRADED)

    assert targets(plan_of(group, nodes=[node], pods=[filler, make_pod(cpu="3")])) == {"pool": 2}


def test_a_group_with_a_growth_in_flight_gets_no_second_one() -> None:
    node, filler = full_node("a")
    group = make_group(nodes=[node])
    pods = [filler, make_pod("one", cpu="3", age=900), make_pod("pod", cpu="3")]
    plan = plan_of(group, nodes=[node], pods=pods, growing=[make_growth(group, to=2)])

    assert not plan.operations
    assert why_skipped(plan) == {"one": PodSkip.FITS_UPCOMING}
    assert verdicts(plan) == {"pool": GroupSkip.OPERATION_IN_FLIGHT.value}


@pytest.mark.parametrize(
    ("phase", "grows"),
    [(ShrinkPhase.DRAINING, True), (ShrinkPhase.DRAINED, True), (ShrinkPhase.EVICTING, False)],
)
def test_a_removal_stands_in_the_way_only_once_it_reached_the_cloud(phase: ShrinkPhase, grows: bool) -> None:
    going = make_node("b")
    node, filler = full_node("a")
    group = make_group(nodes=[node, going])
    removal = make_removal(group, going, phase=phase)
    plan = plan_of(group, nodes=[node, going], pods=[filler, make_pod(cpu="3")], shrinking=[removal])

    assert targets(plan) == ({"pool": 3} if grows else {})


def test_a_group_of_which_nothing_is_known_is_not_grown_for_pods() -> None:
    # R100
    plan = plan_of(make_group(min_size=0), pods=[make_pod()])

    assert not plan.operations
    assert verdicts(plan) == {"pool": GroupSkip.NO_TEMPLATE.value}


def test_an_empty_group_grows_by_what_another_of_its_type_shows() -> None:
    description = GroupDescription(instance_type_id="t", taints=(taint("gpu"),))
    node, filler = full_node("a")
    groups = [
        make_group("full", nodes=[node], max_size=1, description=GroupDescription(instance_type_id="t")),
        make_group("empty", min_size=0, description=GroupDescription(instance_type_id="t")),
        make_group("tainted", min_size=0, description=description),
    ]
    plan = plan_of(*groups, nodes=[node], pods=[filler, make_pod(cpu="3"), make_pod("huge", cpu="9")])

    assert targets(plan) == {"empty": 1}
    assert verdicts(plan, "huge") == {
        "full": "Insufficient cpu",
        "empty": "Insufficient cpu",
        "tainted": "node(s) had untolerated taint(s)",
    }


def test_that_a_pod_would_not_fit_anyway_is_said_before_that_the_group_is_at_its_maximum() -> None:
    # R102
    node, filler = full_node("a")
    group = make_group(nodes=[node], max_size=1)
    plan = plan_of(group, nodes=[node], pods=[filler, make_pod("huge", cpu="5"), make_pod("pod", cpu="3")])

    assert verdicts(plan, "huge") == {"pool": "Insufficient cpu"}
    assert verdicts(plan, "pod") == {"pool": "max node group size reached"}


def test_a_refused_pod_is_told_how_much_is_missing() -> None:
    node, filler = full_node("a")
    daemon = make_daemonset_pod("agent", node="a", cpu="300m")
    plan = plan_of(make_group(nodes=[node]), nodes=[node], pods=[filler, daemon, make_pod(cpu="3900m")])

    rejection = plan.unhelped[0].verdicts[0].rejections[0]
    assert (rejection.subject, rejection.short_by) == ("cpu", 200)


def test_one_evaluation_grows_every_group_that_is_needed() -> None:
    groups, nodes, fillers = two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(2)]
    plan = plan_of(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert targets(plan) == {"a": 3, "b": 3}
    assert {helped.pod.name[0]: helped.group_id for helped in plan.helped} == {"a": "id-of-a", "b": "id-of-b"}
    assert [op.id for op in plan.operations] == ["decision-grow-1", "decision-grow-2"]


def test_what_one_group_cannot_hold_goes_to_the_next() -> None:
    groups, nodes, fillers = two_groups(max_size=2)
    pods = [make_pod(f"w{i}", cpu="3") for i in range(12)]
    plan = plan_of(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert targets(plan) == {"a": 10, "b": 2}
    assert len(plan.helped) == 10
    assert verdicts(plan, "w9") == dict.fromkeys("ab", "max node group size reached")


def test_the_quota_is_shared_by_all_groups_of_one_evaluation() -> None:
    groups, nodes, fillers = two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(3)]
    plan = plan_of(*groups, nodes=nodes, pods=[*fillers, *pods], quota=Quota(10, 6))

    assert sum(op.target_size - op.base_size for op in plan.operations) == 4
    assert len(plan.unhelped) == 2
    assert {verdict.skip for entry in plan.unhelped for verdict in entry.verdicts if verdict.skip} == {GroupSkip.QUOTA}


def test_one_evaluation_orders_no_more_than_max_nodes_per_scaleup() -> None:
    # F43
    groups, nodes, fillers = two_groups()
    pods = [make_pod(f"{pool}{i}", cpu="3", node_selector={"pool": pool}) for pool in "ab" for i in range(3)]
    plan = plan_of(*groups, nodes=nodes, pods=[*fillers, *pods], policy=growth_policy(max_nodes_per_scaleup=4))

    assert sum(op.target_size - op.base_size for op in plan.operations) == 4
    reasons = {verdict.skip for entry in plan.unhelped for verdict in entry.verdicts if verdict.skip}
    assert reasons == {GroupSkip.MAX_NODES_PER_SCALEUP}


def test_the_expander_chooses_between_groups_that_could_each_help() -> None:
    # R75
    big, small = make_node("a", cpu="16"), make_node("b", cpu="4")
    groups = [make_group("a", nodes=[big]), make_group("b", nodes=[small])]
    fillers = [make_pod("f1", node="a", cpu="16"), make_pod("f2", node="b", cpu="4")]
    pods = [make_pod(f"w{i}", cpu="2", memory="8Gi") for i in range(4)]

    def chosen(expander: ExpanderName) -> dict[str, int]:
        policy = growth_policy(expanders=(expander,))
        return targets(plan_of(*groups, nodes=[big, small], pods=[*fillers, *pods], policy=policy))

    assert chosen(ExpanderName.LEAST_WASTE) == {"b": 3}
    assert chosen(ExpanderName.LEAST_NODES) == {"a": 3}
    assert chosen(ExpanderName.MOST_PODS) == {"a": 3}


def test_a_group_below_its_minimum_is_raised_to_it() -> None:
    # R98
    node = make_node("a")

    assert targets(plan_of(make_group(nodes=[node], min_size=3), nodes=[node])) == {"pool": 3}


def test_raising_to_the_minimum_is_a_setting() -> None:
    # F20
    node = make_node("a")
    policy = growth_policy(enforce_min_size=False)

    assert not plan_of(make_group(nodes=[node], min_size=3), nodes=[node], policy=policy).operations


def test_minimum_and_demand_are_one_operation() -> None:
    node, filler = full_node("a")
    group = make_group(nodes=[node], min_size=2)
    plan = plan_of(group, nodes=[node], pods=[filler, *(make_pod(f"w{i}", cpu="3") for i in range(3))])

    assert targets(plan) == {"pool": 4}
    assert len(plan.operations) == 1
    assert len(plan.helped) == 3


def test_a_node_that_the_minimum_brings_is_not_ordered_again_for_a_pod() -> None:
    node, filler = full_node("a")
    plan = plan_of(make_group(nodes=[node], min_size=2), nodes=[node], pods=[filler, make_pod(cpu="3")])

    assert targets(plan) == {"pool": 2}
    assert [helped.pod.name for helped in plan.helped] == ["pod"]


@pytest.mark.parametrize(
    ("scene", "target"),
    [
        ({"quota": Quota(10, 8)}, 3),
        ({"quota": Quota(10, 10)}, None),
        ({"policy": growth_policy(max_nodes_total=4)}, 4),
        ({"policy": growth_policy(cores=ResourceLimits(0, 8))}, 2),
        ({"backoffs": {"id-of-pool": backoff_now()}}, None),
    ],
)
def test_the_minimum_is_no_reason_to_break_another_limit(scene: dict[str, Any], target: int | None) -> None:
    # R98
    node = make_node("a")
    plan = plan_of(make_group(nodes=[node], min_size=5), nodes=[node], **scene)

    assert targets(plan) == ({} if target is None else {"pool": target})


def test_a_group_of_which_nothing_is_known_is_still_raised_to_its_minimum() -> None:
    # Its first node is what a template will be learnt from.
    node = make_node("a")
    groups = [make_group("known", nodes=[node]), make_group("new", min_size=2)]

    assert targets(plan_of(*groups, nodes=[node])) == {"new": 2}
    assert targets(plan_of(groups[1])) == {"new": 1}  # of a size that nothing bounds, one at a time


def test_growths_only_for_a_minimum_come_first() -> None:
    groups, nodes, fillers = two_groups(min_size=2)
    pods = [make_pod("w", cpu="3", node_selector={"pool": "a"})]
    plan = plan_of(*groups, nodes=nodes, pods=[*fillers, *pods])

    assert [op.group_name for op in plan.operations] == ["b", "a"]
