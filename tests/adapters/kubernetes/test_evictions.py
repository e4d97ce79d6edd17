"""What an API server may answer to an eviction; what budgets do is in the cluster's contract."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from exoscaler.adapters.kubernetes import KubernetesCluster
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.core.operations.effects import EvictionResult, EvictPod
from exoscaler.errors import Conflict, Denied, RateLimited, Rejected, TimedOut, Unavailable
from exoscaler.sandbox.kubernetes import FaultKind, FaultRule
from tests.adapters.kubernetes.stub import Reply, Stub, failure, success
from tests.adapters.kubernetes.worlds import World
from tests.builders import make_node, make_pod

CHANGE = EvictPod("shop", "web-1", "uid-1", 45)
OVER_BUDGET = "Cannot evict pod as it would violate the pod's disruption budget."
TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


@pytest.fixture
def cluster(access: Access) -> KubernetesCluster:
    return KubernetesCluster(access)


def pod_of(uid: str) -> Reply:
    return success({"kind": "Pod", "metadata": {"name": "web-1", "uid": uid}})


def test_eviction_is_bound_to_the_pod_and_its_grace(cluster: KubernetesCluster, stub: Stub) -> None:
    stub.answers(Reply(201, '{"kind": "Status", "status": "Success"}'))
    assert cluster.evict(CHANGE) is EvictionResult.ACCEPTED
    (request,) = stub.requests
    assert (request.method, request.path) == ("POST", "/api/v1/namespaces/shop/pods/web-1/eviction")
    assert request.body == {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": "web-1", "namespace": "shop"},
        "deleteOptions": {"gracePeriodSeconds": 45, "preconditions": {"uid": "uid-1"}},
    }


def test_grace_is_what_was_asked_for(world: World) -> None:
    world.add_node(make_node("a"))
    pod = world.add_pod(make_pod("p", node="a", grace_seconds=300))
    world.cluster.evict(EvictPod("default", "p", pod.uid, 7))
    metadata = world.api.get("v1", "pods", "p", namespace="default")["metadata"]
    assert metadata["deletionGracePeriodSeconds"] == 7


@pytest.mark.parametrize(
    ("reply", "result"),
    [
        (Reply(200, "{}"), EvictionResult.ACCEPTED),
        (Reply(201, ""), EvictionResult.ACCEPTED),
        (failure(404, 'pods "web-1" not found'), EvictionResult.GONE),
        (failure(429, OVER_BUDGET, causes=("DisruptionBudget",)), EvictionResult.REFUSED),
        (failure(429, OVER_BUDGET, causes=("DisruptionBudget",), retry_after="10"), EvictionResult.REFUSED),
        (failure(500, TWO_BUDGETS), EvictionResult.REFUSED),
        (failure(403, "terminating", causes=("NamespaceTerminating",)), EvictionResult.ACCEPTED),
    ],
)
def test_answer_that_is_a_result(cluster: KubernetesCluster, stub: Stub, reply: Reply, result: EvictionResult) -> None:
    stub.answers(reply)
    assert cluster.evict(CHANGE) is result
    assert len(stub.requests) == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (failure(400, "x"), Rejected),
        (failure(401, "x"), Denied),
        (failure(403, "x"), Denied),
        (failure(422, "x"), Rejected),
        (failure(429, "too many requests", retry_after="1"), RateLimited),
        (Reply(429, "Too many requests, please try again later."), RateLimited),
        (failure(500, "etcd timeout"), Unavailable),
        (failure(503, "x"), Unavailable),
        (Reply(reset=True), Unavailable),
        (Reply(hangs=True), TimedOut),
    ],
)
def test_answer_that_is_a_failure_is_raised_and_not_repeated(
    cluster: KubernetesCluster, stub: Stub, reply: Reply, error: type[Exception]
) -> None:
    stub.answers(reply)
    with pytest.raises(error):
        cluster.evict(CHANGE)
    assert len(stub.requests) == 1


class TestConflict:
    """409 may mean another uid, or something that will pass; only the pod itself tells."""

    REFUSAL = failure(409, "Operation cannot be fulfilled")

    def test_pod_of_another_uid_is_gone(self, cluster: KubernetesCluster, stub: Stub) -> None:
        stub.answers(self.REFUSAL, pod_of("uid-2"))
        assert cluster.evict(CHANGE) is EvictionResult.GONE

    def test_pod_that_is_not_there_is_gone(self, cluster: KubernetesCluster, stub: Stub) -> None:
        stub.answers(self.REFUSAL, failure(404))
        assert cluster.evict(CHANGE) is EvictionResult.GONE

    def test_pod_that_is_still_the_same_is_a_conflict(self, cluster: KubernetesCluster, stub: Stub) -> None:
        stub.answers(self.REFUSAL, pod_of("uid-1"))
        with pytest.raises(Conflict, match="create pods/eviction shop/web-1"):
            cluster.evict(CHANGE)

    def test_pod_that_cannot_be_looked_at_leaves_it_open(self, cluster: KubernetesCluster, stub: Stub) -> None:
        stub.answers(self.REFUSAL, failure(403))
        with pytest.raises(Denied, match='verb "get" on resource "pods"'):
            cluster.evict(CHANGE)
        stub.answers(self.REFUSAL, success({"kind": "Pod"}))
        with pytest.raises(Unavailable, match="not understood"):
            cluster.evict(CHANGE)


def test_several_budgets_on_a_pod_are_told_in_the_log(
    cluster: KubernetesCluster, stub: Stub, logged: list[Any]
) -> None:
    stub.answers(failure(500, TWO_BUDGETS))
    cluster.evict(CHANGE)
    (record,) = logged
    assert "several disruption budgets" in record.message
    assert record.exoscaler_facts["pod"] == "shop/web-1"


@pytest.mark.parametrize(("kind", "arrived"), [(FaultKind.DROP, True), (FaultKind.HANG, False)])
def test_eviction_whose_answer_is_lost_may_be_asked_for_again(world: World, kind: FaultKind, arrived: bool) -> None:
    world.add_node(make_node("a"))
    pod = world.add_pod(make_pod("p", node="a"))
    change = EvictPod("default", "p", pod.uid, 30)
    world.fault(FaultRule(kind=kind, verb="create", resource="pods", subresource="eviction"))
    cluster = world.connect(timeout=timedelta(seconds=0.3)).cluster
    with pytest.raises((Unavailable, TimedOut)) as lost:
        cluster.evict(change)
    assert lost.value.took_effect, "it may have: that is all the error says"
    assert cluster.pods_on("a")[0].is_terminating == arrived
    assert cluster.evict(change) is EvictionResult.ACCEPTED
    assert cluster.pods_on("a")[0].is_terminating
