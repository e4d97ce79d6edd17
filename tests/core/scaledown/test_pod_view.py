"""Whether the list of pods can be trusted for a removal (pain 38)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from exoscaler.core.model import DaemonSet, Pod
from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.scaledown.pod_view import pod_view
from exoscaler.core.scene import Scene
from tests.builders import make_daemonset_pod, make_group, make_node, make_pod, make_removal, make_scene
from tests.core.scaledown.plans import cluster, going, planned
from tests.core.scenes import report, with_objects


def agents(count: int) -> list[Pod]:
    return [make_daemonset_pod(f"agent-{i}", node=f"n{i}") for i in range(count)]


def scene(pods: Sequence[Pod], *daemonsets: DaemonSet) -> Scene:
    return with_objects(make_scene(make_group()), pods=pods, daemonsets=daemonsets)


def test_list_that_agrees_with_the_daemonsets_is_trusted() -> None:
    assert pod_view(scene(agents(5), report(5))).complete


def test_list_without_any_pod_that_the_daemonsets_report_is_not() -> None:
    assert pod_view(scene([], report(1))).doubt == (
        "DaemonSets report 1 ready pods, and the list holds none of any DaemonSet"
    )
    assert not pod_view(scene([make_pod("web", node="n0")], report(1))).complete


@pytest.mark.parametrize(
    ("ready", "listed", "trusted"),
    [
        (3, 2, True),  # one may have changed between the calls
        (3, 1, False),
        (5, 9, True),  # the report may lag behind
        (40, 36, True),  # one in ten
        (40, 35, False),
        (400, 360, True),
        (400, 359, False),
    ],
)
def test_few_pods_may_be_missing_and_not_more(ready: int, listed: int, trusted: bool) -> None:
    assert pod_view(scene(agents(listed), report(ready))).complete is trusted


def test_one_daemonset_in_doubt_is_enough_and_is_named() -> None:
    view = pod_view(scene(agents(9), report(9), report(5, "logs")))
    assert view.doubt == "DaemonSet kube-system/logs reports 5 ready pods, 5 of them are not in the list"


def test_pods_of_another_daemonset_do_not_stand_in() -> None:
    assert not pod_view(scene(agents(9), report(9, "logs"))).complete


def test_daemonset_without_ready_pods_says_nothing() -> None:
    assert pod_view(scene([], report(0))).complete


def test_pods_waiting_for_a_node_are_not_counted_as_running() -> None:
    waiting = [make_daemonset_pod(f"agent-{i}", node="") for i in range(5)]
    assert not pod_view(scene(waiting, report(5))).complete


def test_cluster_without_daemonsets_has_nobody_to_ask() -> None:
    assert pod_view(scene([])).complete


def test_empty_list_while_pods_are_being_moved_is_not_trusted() -> None:
    node = make_node("n")
    group = make_group(nodes=[node])
    for phase, trusted in ((ShrinkPhase.DRAINING, False), (ShrinkPhase.DRAINED, True)):
        moving = make_scene(group, nodes=[node], shrinking=[make_removal(group, node, phase=phase)])
        assert pod_view(moving).complete is trusted
        assert pod_view(with_objects(moving, pods=[make_pod("p", node="n")])).complete


def test_nothing_is_removed_or_judged_on_a_doubtful_list() -> None:  # pain 38
    idle = cluster([make_node("a"), make_node("b")])
    assert going(planned(idle))

    plan = planned(with_objects(idle, daemonsets=[report(2)]))
    assert plan.operations == ()
    assert plan.held.startswith("DaemonSets report 2 ready pods")
    assert not plan.judged
