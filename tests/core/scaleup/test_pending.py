from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exoscaler.core.model import PodPhase, SchedulerVerdict
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.policy import GrowthPolicy, Policy
from exoscaler.core.reasons import PodSkip
from exoscaler.core.scaleup.pending import displaced_pods, pending_pods, scheduling_order
from tests.builders import make_daemonset_pod, make_group, make_node, make_pod, make_removal, make_scene


@pytest.mark.parametrize(
    ("pod", "reason"),
    [  # R14, R15
        ({"verdict": SchedulerVerdict.NOT_SEEN}, PodSkip.NOT_UNSCHEDULABLE),
        ({"verdict": SchedulerVerdict.GATED}, PodSkip.GATED),
        ({"nominated_node": "n"}, PodSkip.NOMINATED),
        ({"deleted_ago": 5}, PodSkip.TERMINATING),
        ({"deleted_ago": 5, "nominated_node": "n"}, PodSkip.TERMINATING),
        ({"priority": -11}, PodSkip.EXPENDABLE),
        ({"priority": -11, "nominated_node": "n"}, PodSkip.EXPENDABLE),
        ({"nominated_node": "n", "verdict": SchedulerVerdict.NOT_SEEN}, PodSkip.NOMINATED),
    ],
)
def test_a_pod_that_asks_for_nothing_says_why(pod: dict[str, Any], reason: PodSkip) -> None:
    pending = pending_pods(make_scene(pods=[make_pod(**pod)]))

    assert [skipped.reason for skipped in pending.skipped] == [reason]
    assert pending.asking == ()


@pytest.mark.parametrize("priority", [-10, None, 0])
def test_a_pod_at_the_cutoff_or_without_a_priority_is_not_expendable(priority: int | None) -> None:
    # R15
    pod = make_pod(priority=priority)

    assert pending_pods(make_scene(pods=[pod])).asking == (pod,)


def test_the_cutoff_is_a_setting() -> None:
    policy = Policy(growth=GrowthPolicy(expendable_priority_cutoff=5))
    pending = pending_pods(make_scene(pods=[make_pod(priority=4)], policy=policy))

    assert [skipped.reason for skipped in pending.skipped] == [PodSkip.EXPENDABLE]


@pytest.mark.parametrize("pod", [{"node": "n"}, {"phase": PodPhase.SUCCEEDED}, {"phase": PodPhase.FAILED}])
def test_pods_with_a_node_or_at_their_end_are_not_looked_at(pod: dict[str, Any]) -> None:
    # R12, R14
    pending = pending_pods(make_scene(pods=[make_pod(**pod)]))

    assert [*pending.asking, *pending.daemons, *pending.skipped] == []


def test_a_daemons_pod_is_told_apart() -> None:
    # R27
    daemon = make_pod(owner_kind="DaemonSet")
    pending = pending_pods(make_scene(pods=[daemon]))

    assert pending.daemons == (daemon,)
    assert pending.asking == ()


def test_pods_come_by_priority_then_age_then_name() -> None:
    # R23
    high = make_pod("high", priority=100, age=1)
    old = make_pod("old", age=900)
    a, b = make_pod("a"), make_pod("b")
    none = make_pod("none", priority=None, age=700)
    low = make_pod("low", priority=-5, age=9000)

    assert scheduling_order([low, b, none, a, old, high]) == (high, old, none, a, b, low)


@pytest.mark.parametrize(
    ("phase", "displaced"),
    [
        (ShrinkPhase.PLANNED, True),
        (ShrinkPhase.TAINTED, True),
        (ShrinkPhase.DRAINING, True),
        (ShrinkPhase.ROLLING_BACK, False),
    ],
)
def test_pods_of_a_node_on_its_way_out_need_a_place_again(phase: ShrinkPhase, displaced: bool) -> None:
    # R22-3
    node = make_node("a")
    group = make_group(nodes=[node])
    moving = make_pod("moving", node="a")
    others = [
        make_daemonset_pod("daemon", node="a"),
        make_pod("going", node="a", deleted_ago=1),
        make_pod("mirror", node="a", annotations={"kubernetes.io/config.mirror": "x"}),
        make_pod("expendable", node="a", priority=-50),
        make_pod("ended", node="a", phase=PodPhase.SUCCEEDED),
    ]
    scene = make_scene(group, nodes=[node], pods=[moving, *others], shrinking=[make_removal(group, node, phase=phase)])

    assert displaced_pods(scene) == ((moving,) if displaced else ())


def test_a_new_node_of_an_old_name_is_not_on_its_way_out() -> None:
    node = make_node("a")
    group = make_group(nodes=[node])
    removal = replace(make_removal(group, node), node_uid="uid-of-its-predecessor")

    assert displaced_pods(make_scene(group, nodes=[node], pods=[make_pod(node="a")], shrinking=[removal])) == ()
