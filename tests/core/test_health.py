"""When the cluster is too unwell to be changed (R39)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from exoscaler.core.health import ClusterHealth, cluster_health
from exoscaler.core.model import Node
from exoscaler.core.policy import HealthPolicy, Policy
from exoscaler.core.scene import Scene
from tests.builders import make_group, make_node, make_scene, taint

STARTUP = 15 * 60


def nodes(*, well: int, unwell: int) -> list[Node]:
    return [make_node(f"n{i:02}", ready=i >= unwell) for i in range(well + unwell)]


def scene(members: Sequence[Node], others: Sequence[Node] = (), *, percentage: float = 45, count: int = 3) -> Scene:
    policy = Policy(health=HealthPolicy(max_total_unready_percentage=percentage, ok_total_unready_count=count))
    return make_scene(make_group(nodes=members), nodes=[*members, *others], policy=policy)


@pytest.mark.parametrize(
    ("well", "unwell", "healthy"),
    [
        (0, 3, True),  # few enough, whatever their share
        (0, 4, False),
        (6, 4, True),  # more than three, a small share
        (5, 4, True),  # 44.4 per cent
        (11, 9, True),  # exactly 45 per cent is allowed
        (10, 9, False),
    ],
)
def test_cluster_is_unwell_when_both_number_and_share_are_exceeded(well: int, unwell: int, healthy: bool) -> None:
    # R39, K9: both conditions are strict
    assert cluster_health(scene(nodes(well=well, unwell=unwell))) == ClusterHealth(unwell, well + unwell, healthy)


@pytest.mark.parametrize(("age", "counts"), [(STARTUP - 1, False), (STARTUP, True)])
def test_node_counts_as_unready_once_a_start_would_be_over(age: float, counts: bool) -> None:  # R32, K9
    assert cluster_health(scene([make_node(ready=False, age=age)])).unready == int(counts)


def test_machines_that_are_not_ours_do_not_stop_us() -> None:  # pain 24
    others = [make_node(f"other-{i}", ready=False) for i in range(20)]
    assert cluster_health(scene([make_node()], others)) == ClusterHealth(0, 1, healthy=True)


def test_not_ready_is_what_keeps_pods_away_and_not_the_condition_alone() -> None:  # R19
    tainted = [make_node(f"n{i}", taints=[taint("node.kubernetes.io/not-ready")]) for i in range(4)]
    assert not cluster_health(scene(tainted)).healthy


def test_cordoned_and_draining_nodes_are_well() -> None:  # K9
    leaving = [
        make_node(f"n{i}", unschedulable=True, taints=[taint("ToBeDeletedByClusterAutoscaler", "1")]) for i in range(9)
    ]
    assert cluster_health(scene(leaving)).healthy


def test_cluster_without_nodes_is_well() -> None:
    assert cluster_health(scene([])) == ClusterHealth(0, 0, healthy=True)


def test_instances_without_a_node_are_not_unready_nodes() -> None:
    group = make_group(members=["x", "y", "z", "w", "v"])
    assert cluster_health(make_scene(group)).healthy


def test_limits_come_from_the_policy() -> None:
    strict = scene(nodes(well=9, unwell=1), percentage=5, count=0)
    assert not cluster_health(strict).healthy
    assert cluster_health(replace(strict, policy=Policy())).healthy
