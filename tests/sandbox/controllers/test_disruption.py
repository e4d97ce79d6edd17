"""PodDisruptionBudgets: the figures that evictions are measured against."""

from __future__ import annotations

from typing import Any

import pytest

from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import budget, deployment, pod

BUDGETS = ("policy/v1", "poddisruptionbudgets")


def _guarded(replicas: int, **spec: Any) -> LiveCluster:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    cluster.apply("apps/v1", "deployments", deployment("web", replicas=replicas))
    cluster.apply(*BUDGETS, budget("web", app="web", **spec))
    cluster.pass_time(4)
    return cluster


def _status(cluster: LiveCluster) -> JsonObject:
    status: JsonObject = cluster.client.get(*BUDGETS, "web", namespace=NAMESPACE)["status"]
    return status


def _figures(cluster: LiveCluster) -> tuple[int, int, int, int]:
    status = _status(cluster)
    healthy, desired = status.get("currentHealthy") or 0, status.get("desiredHealthy") or 0
    return healthy, desired, status.get("expectedPods") or 0, status.get("disruptionsAllowed") or 0


@pytest.mark.parametrize(
    ("spec", "desired", "allowed"),
    [
        ({"minAvailable": 3}, 3, 2),
        ({"minAvailable": "50%"}, 3, 2),  # of 5, rounded up
        ({"minAvailable": "100%"}, 5, 0),
        ({"maxUnavailable": 1}, 4, 1),
        ({"maxUnavailable": "30%"}, 3, 2),  # 1.5 rounded up
        ({"maxUnavailable": 0}, 5, 0),
    ],
)
def test_budget_in_numbers_and_percentages(spec: JsonObject, desired: int, allowed: int) -> None:
    cluster = _guarded(5, **spec)
    assert _figures(cluster) == (5, desired, 5, allowed)
    assert _status(cluster)["observedGeneration"] == 1


def test_pod_that_is_not_ready_is_not_healthy_but_expected() -> None:
    cluster = _guarded(2, maxUnavailable=1)
    cluster.client.patch("apps/v1", "deployments", "web", {"spec": {"replicas": 3}}, namespace=NAMESPACE)
    cluster.settle()
    assert _figures(cluster) == (2, 2, 3, 0)
    cluster.pass_time(3)
    assert _figures(cluster) == (3, 2, 3, 1)


def test_budget_over_pods_of_nobody_allows_nothing_in_relative_terms() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("alone", labels={"app": "web"}))
    cluster.apply(*BUDGETS, budget("web", app="web", maxUnavailable=1))
    cluster.pass_time(4)
    assert _figures(cluster) == (1, 0, 0, 0)


def test_accepted_eviction_is_forgotten_once_the_pod_is_being_deleted() -> None:
    cluster = _guarded(3, maxUnavailable=1)
    name = cluster.ready("app=web")[0]
    stamp = "2026-12-01T12:00:20Z"
    accepted = {"disruptedPods": {name: stamp}, "disruptionsAllowed": 0}
    cluster.client.patch(*BUDGETS, "web", {"status": accepted}, namespace=NAMESPACE, subresource="status")
    cluster.settle()
    assert _status(cluster)["disruptedPods"] == {name: stamp}
    assert _figures(cluster) == (2, 2, 3, 0)
    cluster.delete_pod(name)
    cluster.settle()
    assert not _status(cluster).get("disruptedPods")


def test_accepted_eviction_that_led_to_nothing_expires() -> None:
    cluster = _guarded(3, maxUnavailable=1)
    name = cluster.ready("app=web")[0]
    accepted = {"disruptedPods": {name: "2026-12-01T12:00:24Z"}, "disruptionsAllowed": 0}
    cluster.client.patch(*BUDGETS, "web", {"status": accepted}, namespace=NAMESPACE, subresource="status")
    cluster.settle()
    cluster.clock.advance(121)
    cluster.settle()
    assert not _status(cluster).get("disruptedPods")
    assert _figures(cluster) == (3, 2, 3, 1)


def test_figures_of_another_moment_never_overwrite_an_eviction() -> None:
    cluster = _guarded(3, maxUnavailable=1)
    stale = cluster.client.get(*BUDGETS, "web", namespace=NAMESPACE)
    name = cluster.ready("app=web")[0]
    accepted = {"disruptedPods": {name: "2026-12-01T12:00:24Z"}, "disruptionsAllowed": 0}
    cluster.client.patch(*BUDGETS, "web", {"status": accepted}, namespace=NAMESPACE, subresource="status")
    cluster.cordon("node-0")
    assert stale["status"]["disruptionsAllowed"] == 1
    cluster.settle()
    assert _figures(cluster)[3] == 0
