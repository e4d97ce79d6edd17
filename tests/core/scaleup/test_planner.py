from __future__ import annotations

import pytest

from exoscaler.core.model import Constraint
from exoscaler.core.operations.model import GrowOperation, ShrinkPhase
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.reasons import Obstacle, PodSkip
from exoscaler.core.scheduling import Origin
from tests.builders import (
    NOW,
    ago,
    instance_id,
    make_group,
    make_node,
    make_pod,
    make_removal,
    make_scene,
)
from tests.core.scaleup.growth_plans import (
    backoff_now,
    full_node,
    growth_policy,
    plan_of,
    planned,
    targets,
    two_groups,
    verdicts,
    why_skipped,
)


def test_pods_that_fit_nowhere_make_a_group_grow_to_an_absolute_size() -> None:
    node, filler = full_node("a")
    group = make_group(nodes=[node])
    waiting = [make_pod(f"w{i}", cpu="1500m") for i in range(5)]
    plan, ledger = planned(make_scene(group, nodes=[node], pods=[filler, *waiting], decision_id="d7"))

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

    assert plan_of(make_group(nodes=[node]), nodes=[node], pods=[make_pod(node="a")]) == GrowthPlan()


def test_a_pod_that_fits_on_a_node_that_exists_takes_its_room() -> None:
    # R25
    node = make_node("a", cpu="2")
    pods = [make_pod("first", cpu="1500m", age=900), make_pod("second", cpu="1500m")]
    plan, ledger = planned(make_scene(make_group(nodes=[node]), nodes=[node], pods=pods))

    assert why_skipped(plan) == {"first": PodSkip.FITS_EXISTING}
    assert [helped.pod.name for helped in plan.helped] == ["second"]
    assert [pod.name for pod in ledger.pods_on("a")] == ["first"]


def test_the_more_important_pod_gets_the_room_that_exists() -> None:
    # R23
    node = make_node("a", cpu="2")
    pods = [make_pod("old", cpu="1500m", age=9000), make_pod("important", cpu="1500m", priority=10, age=1)]

    assert why_skipped(plan_of(make_group(nodes=[node]), nodes=[node], pods=pods)) == {
        "important": PodSkip.FITS_EXISTING
    }


def test_nothing_is_bought_as_long_as_some_arrangement_holds_all() -> None:
    # One by one by age, the small ones would leave no node with room for the large one.
    nodes = [make_node("a", cpu="3"), make_node("b", cpu="2100m")]
    pods = [make_pod("tiny", cpu="100m", age=990), make_pod("small", cpu="2", age=900), make_pod("large", cpu="3")]
    plan = plan_of(make_group(nodes=nodes), nodes=nodes, pods=pods)

    assert not plan.operations
    assert set(why_skipped(plan).values()) == {PodSkip.FITS_EXISTING}


def test_a_pod_that_fits_on_a_node_that_is_coming_orders_nothing() -> None:
    node, filler = full_node("a")
    group = make_group(members=[instance_id("a"), "i-1"])
    plan = plan_of(group, nodes=[node], pods=[filler, make_pod("w", cpu="3")])

    assert why_skipped(plan) == {"w": PodSkip.FITS_UPCOMING}
    assert not plan.operations


def test_only_what_does_not_fit_on_coming_nodes_is_ordered_for() -> None:
    node, filler = full_node("a")
    group = make_group(members=[instance_id("a"), "i-1"])
    plan = plan_of(group, nodes=[node], pods=[filler, *(make_pod(f"w{i}", cpu="3") for i in range(3))])

    assert targets(plan) == {"pool": 4}
    assert why_skipped(plan) == {"w0": PodSkip.FITS_UPCOMING}


def test_pods_covered_by_a_backed_off_group_make_another_one_grow() -> None:
    groups, nodes, fillers = two_groups()
    a = make_group("a", members=[instance_id("a"), "a-1"])
    plan = plan_of(a, groups[1], nodes=nodes, pods=[*fillers, make_pod(cpu="3")], backoffs={a.id: backoff_now()})

    assert targets(plan) == {"b": 2}


@pytest.mark.parametrize(("age", "helped"), [(30, False), (31, True)])
def test_a_young_pod_orders_nothing_yet(age: float, helped: bool) -> None:
    # R28
    node, filler = full_node("a")
    policy = growth_policy(new_pod_delay=NOW - ago(30))
    plan = plan_of(make_group(nodes=[node]), nodes=[node], pods=[filler, make_pod(cpu="2", age=age)], policy=policy)

    assert bool(plan.operations) is helped
    assert ("pod" in why_skipped(plan)) is not helped


def test_a_young_pod_takes_room_all_the_same() -> None:
    node = make_node("a", cpu="2")
    policy = growth_policy(new_pod_delay=NOW - ago(60))
    pods = [make_pod("young", cpu="1500m", age=5, priority=10), make_pod("other", cpu="1500m")]
    plan = plan_of(make_group(nodes=[node]), nodes=[node], pods=pods, policy=policy)

    assert [helped.pod.name for helped in plan.helped] == ["other"]
    assert why_skipped(plan) == {"young": PodSkip.FITS_EXISTING}


def test_a_daemons_pod_takes_room_and_orders_nothing() -> None:
    # R27
    node = make_node("a", cpu="2")
    daemon = make_pod("daemon", owner_kind="DaemonSet", cpu="1500m", priority=10)
    homeless = make_pod("homeless", owner_kind="DaemonSet", cpu="9")
    plan = plan_of(make_group(nodes=[node]), nodes=[node], pods=[daemon, homeless, make_pod("w", cpu="1")])

    assert [helped.pod.name for helped in plan.helped] == ["w"]
    assert why_skipped(plan) == {"daemon": PodSkip.DAEMONSET, "homeless": PodSkip.DAEMONSET}


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
    plan, ledger = planned(scene)

    assert [helped.pod.name for helped in plan.helped] == ["w"]
    assert targets(plan) == {"pool": 3}
    assert ledger.pods_on("other") == (moving,)
    assert not plan.skipped


@pytest.mark.parametrize("constraint", list(Constraint))
def test_a_pod_that_cannot_be_simulated_is_reported_not_guessed(constraint: Constraint) -> None:
    node = make_node("a")
    plan = plan_of(make_group(nodes=[node]), nodes=[node], pods=[make_pod(unmodelled=[constraint])])

    assert not plan.operations
    assert verdicts(plan) == {"pool": f"cannot simulate: {constraint.value}"}
    rejection = plan.unhelped[0].verdicts[0].rejections[0]
    assert rejection.obstacle is Obstacle.CANNOT_SIMULATE
