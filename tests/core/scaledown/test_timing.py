"""When an unneeded node may go: its own time (R125), and the cool-downs (R105, R107-R109)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from exoscaler.core.operations.model import GrowPhase
from exoscaler.core.policy import Policy, StartupTaints
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scene import Scene
from tests.builders import ago, make_group, make_growth, make_node, make_pod, make_scene, taint
from tests.core.scaledown.plans import AT_ONCE, LONG, cluster, going, planned, reasons, shrinking, unneeded, verdict
from tests.core.scenes import remembering

MINUTE = 60.0
LOCAL = shrinking(replace(AT_ONCE, delay_is_local=True))


def pair(*, ready: bool = True, unneeded_for: float = LONG, policy: Policy | None = None) -> Scene:
    """A node that may go, and one that is too full to."""
    nodes = [make_node("n", ready=ready), make_node("full")]
    return cluster(nodes, [make_pod("p", node="full", cpu="3")], policy=policy, unneeded_for=unneeded_for)


@pytest.mark.parametrize(("seconds", "goes"), [(0, False), (599, False), (600, False), (601, True)])
def test_node_goes_after_its_time_and_not_at_its_very_end(seconds: float, goes: bool) -> None:  # R125, K7
    plan = planned(pair(unneeded_for=seconds))
    assert ("n" in going(plan)) is goes
    assert unneeded(plan) == ["n"]
    if not goes:
        assert verdict(plan, "n").reason is Unremovable.NOT_UNNEEDED_LONG_ENOUGH


def test_reason_says_until_when() -> None:
    assert verdict(planned(pair(unneeded_for=60)), "n").detail == "until 2026-12-01T12:09:00+00:00"


@pytest.mark.parametrize(("seconds", "goes"), [(601, False), (1200, False), (1201, True)])
def test_unready_node_has_a_time_of_its_own(seconds: float, goes: bool) -> None:  # R125, K7
    # It counts since the node was unneeded, not since it was unready.
    plan = planned(pair(ready=False, unneeded_for=seconds))
    assert ("n" in going(plan)) is goes
    if not goes:
        assert verdict(plan, "n").reason is Unremovable.NOT_UNREADY_LONG_ENOUGH


def test_node_that_never_lost_its_startup_taint_is_as_good_as_unready() -> None:  # R21
    policy = replace(shrinking(), taints=StartupTaints(keys=frozenset({"cni"})))
    nodes = [make_node("n", taints=[taint("cni")]), make_node("full")]
    scene = cluster(nodes, [make_pod("p", node="full", cpu="3")], policy=policy, unneeded_for=900)
    assert verdict(planned(scene), "n").reason is Unremovable.NOT_UNREADY_LONG_ENOUGH


def test_time_of_zero_is_up_at_once() -> None:  # R125: T > 0
    plan = planned(pair(unneeded_for=0, policy=shrinking(replace(AT_ONCE, unneeded_time=timedelta(0)))))
    assert "n" in going(plan)


def test_node_whose_time_is_not_known_has_just_begun_it() -> None:
    scene = replace(pair(), state=remembering(pair()).state)
    assert verdict(planned(scene), "n").reason is Unremovable.NOT_UNNEEDED_LONG_ENOUGH


def test_times_are_not_trusted_after_a_gap() -> None:  # H.2-3
    scene = remembering(pair(), unneeded={"n": LONG}, looked=181)
    assert going(planned(scene)) == {}


# Cool-downs


@pytest.mark.parametrize(
    ("past", "seconds", "held"),
    [
        ("grown_at", 600, False),
        ("grown_at", 599, True),
        ("shrunk_at", 0, False),  # scale-down-delay-after-delete is 0
        ("shrink_failed_at", 180, False),
        ("shrink_failed_at", 179, True),
    ],
)
def test_what_happened_anywhere_holds_removals_everywhere_for_a_while(
    past: str, seconds: float, held: bool
) -> None:  # R107
    scene = pair()
    observations = scene.state.observations.model_copy(update={past: {"another group": ago(seconds)}})
    scene = replace(scene, state=scene.state.model_copy(update={"observations": observations}))
    plan = planned(scene)

    assert bool(plan.held) is held
    assert bool(going(plan)) is not held
    # Nodes are judged all the same, and their times go on (R105, R109).
    assert unneeded(plan) == ["n"]
    if held:
        assert verdict(plan, "n").reason is Unremovable.COOLING_DOWN
        assert verdict(plan, "n").detail == plan.held


def test_delay_after_a_removal_is_a_setting() -> None:  # F78
    policy = shrinking(replace(AT_ONCE, delay_after_delete=timedelta(seconds=30)))
    scene = remembering(pair(policy=policy), unneeded={"n": LONG}, shrunk_at={"id-of-pool": ago(29)})
    assert planned(scene).held.startswith("cool-down after a removal until ")


def test_growth_under_way_holds_removals_like_one_that_has_just_ended() -> None:  # R107
    scene = pair()
    other = make_group("other", members=["x"])
    growth = make_growth(other, to=2, phase=GrowPhase.PROVISIONING)
    operations = scene.state.operations.model_copy(update={"growing": (growth,)})
    plan = planned(replace(scene, state=scene.state.model_copy(update={"operations": operations})))
    assert plan.held == "growing: other"
    assert going(plan) == {}


def test_nothing_holds_removals_in_a_cluster_without_a_past() -> None:  # H.2-10
    assert planned(pair()).held == ""


def test_time_in_the_future_cools_down_no_longer_than_any_other() -> None:
    scene = remembering(pair(), unneeded={"n": LONG}, shrink_failed_at={"id-of-pool": ago(-3600)})
    assert planned(scene).held == "cool-down after a failed removal until 2026-12-01T12:03:00+00:00"


# Cool-downs of one group


def two_groups(policy: Policy = LOCAL) -> Scene:
    """Two groups that could both lose a node; one of them has just grown."""
    grown, calm = [make_node("g1"), make_node("g2")], [make_node("c1"), make_node("c2")]
    nodes = [*grown, *calm]
    groups = (make_group("grown", nodes=grown), make_group("calm", nodes=calm))
    scene = make_scene(*groups, nodes=nodes, policy=policy)
    return remembering(scene, unneeded={n.name: LONG for n in nodes}, grown_at={"id-of-grown": ago(60)})


def test_with_local_delays_a_growth_holds_its_own_group_only() -> None:  # R108, pain 34
    plan = planned(two_groups())
    assert list(going(plan)) == ["c1"]
    assert plan.held == ""
    assert verdict(plan, "g1").reason is Unremovable.COOLING_DOWN


def test_with_global_delays_it_holds_all() -> None:  # R107
    plan = planned(two_groups(shrinking()))
    assert going(plan) == {}


def test_times_go_on_while_a_group_cools_down_by_itself() -> None:  # unlike R108
    assert {"g1", "g2"} <= set(unneeded(planned(two_groups())))


def test_with_local_delays_a_growth_under_way_holds_its_group() -> None:  # R108
    scene = remembering(two_groups(), unneeded=dict.fromkeys(("g1", "g2", "c1", "c2"), LONG))
    growth = make_growth(scene.groups[1], to=3, phase=GrowPhase.SUBMITTED)
    operations = scene.state.operations.model_copy(update={"growing": (growth,)})
    plan = planned(replace(scene, state=scene.state.model_copy(update={"operations": operations})))
    assert scene.groups[1].name == "grown"
    assert list(going(plan)) == ["c1"]
    assert reasons(plan)["g1"] is Unremovable.OPERATION_IN_FLIGHT


def test_switched_off_means_that_nothing_is_even_judged() -> None:  # R69, F69
    plan = planned(pair(policy=shrinking(replace(AT_ONCE, enabled=False))))
    assert plan.held == "scale-down-enabled is off"
    assert (plan.operations, plan.unneeded, plan.staying) == ((), (), ())
    assert plan.judged
