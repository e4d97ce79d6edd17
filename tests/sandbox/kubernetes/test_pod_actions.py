"""Binding, eviction, scale, log, token: what is done to objects through their subresources."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from exoscaler.sandbox.kubernetes import HttpObjectClient, StoreClient
from exoscaler.sandbox.objects import JsonObject, ObjectClient, ObjectError
from tests.sandbox.kubernetes.builders import budget, pod, workload

BUDGETS = ("policy/v1", "poddisruptionbudgets")


@pytest.fixture(params=["in process", "over HTTP"])
def client(request: pytest.FixtureRequest, cluster: StoreClient, remote: HttpObjectClient) -> ObjectClient:
    return cluster if request.param == "in process" else remote


def test_binding_sets_the_node_and_says_when(client: ObjectClient) -> None:
    client.create("v1", "pods", pod(), namespace="default")
    client.bind("default", "p", "n1")
    bound = client.get("v1", "pods", "p", namespace="default")
    assert bound["spec"]["nodeName"] == "n1"
    (condition,) = bound["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")


def test_pod_is_bound_once(client: ObjectClient) -> None:
    client.create("v1", "pods", pod(), namespace="default")
    client.bind("default", "p", "n1")
    with pytest.raises(ObjectError, match='already assigned to node "n1"') as caught:
        client.bind("default", "p", "n2")
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")


def test_pod_that_is_missing_deleted_or_gated_is_not_bound(client: ObjectClient) -> None:
    with pytest.raises(ObjectError) as caught:
        client.bind("default", "p", "n1")
    assert caught.value.status == 404
    held = pod()
    held["metadata"]["finalizers"] = ["example.com/hold"]
    client.create("v1", "pods", held, namespace="default")
    client.delete("v1", "pods", "p", namespace="default")
    with pytest.raises(ObjectError, match="is being deleted"):
        client.bind("default", "p", "n1")
    client.create("v1", "pods", pod("gated", schedulingGates=[{"name": "example.com/wait"}]), namespace="default")
    with pytest.raises(ObjectError, match="schedulingGates"):
        client.bind("default", "gated", "n1")


def test_node_name_cannot_be_set_by_an_update(client: ObjectClient) -> None:
    client.create("v1", "pods", pod(), namespace="default")
    with pytest.raises(ObjectError, match="pod updates may not change fields") as caught:
        client.patch("v1", "pods", "p", {"spec": {"nodeName": "n1"}}, namespace="default")
    assert caught.value.status == 422


def _evict(
    http: httpx.Client, name: str = "p", *, query: dict[str, str] | None = None, **options: Any
) -> httpx.Response:
    body: JsonObject = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
    }
    if options:
        body["deleteOptions"] = options
    return http.post(f"/api/v1/namespaces/default/pods/{name}/eviction", json=body, params=query or {})


def _running_pod(cluster: StoreClient, *, ready: bool = True, phase: str = "Running") -> JsonObject:
    cluster.create("v1", "pods", pod(labels={"app": "web"}), namespace="default")
    cluster.bind("default", "p", "n1")
    condition = {"type": "Ready", "status": "True" if ready else "False"}
    status = {"status": {"phase": phase, "conditions": [condition]}}
    return cluster.patch("v1", "pods", "p", status, namespace="default", subresource="status")


def _budget(cluster: StoreClient, name: str = "b", *, policy: str = "", **status: Any) -> None:
    body = budget(name)
    if policy:
        body["spec"]["unhealthyPodEvictionPolicy"] = policy
    cluster.create(*BUDGETS, body, namespace="default")
    complete = {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1, **status}
    cluster.patch(*BUDGETS, name, {"status": complete}, namespace="default", subresource="status")


def _is_leaving(cluster: StoreClient) -> bool:
    return "deletionTimestamp" in cluster.get("v1", "pods", "p", namespace="default")["metadata"]


def test_pod_without_a_budget_is_evicted_with_its_grace(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    answer = _evict(http)
    assert (answer.status_code, answer.json()["status"]) == (201, "Success")
    evicted = cluster.get("v1", "pods", "p", namespace="default")
    assert evicted["metadata"]["deletionGracePeriodSeconds"] == 30
    marks = {one["type"]: one.get("reason") for one in evicted["status"]["conditions"]}
    assert marks["DisruptionTarget"] == "EvictionByEvictionAPI"


def test_eviction_takes_the_grace_it_is_given(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    assert _evict(http, gracePeriodSeconds=3).status_code == 201
    assert cluster.get("v1", "pods", "p", namespace="default")["metadata"]["deletionGracePeriodSeconds"] == 3


def test_eviction_takes_one_disruption_from_the_budget(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster, disruptionsAllowed=1)
    assert _evict(http).status_code == 201
    status = cluster.get(*BUDGETS, "b", namespace="default")["status"]
    assert status["disruptionsAllowed"] == 0
    assert list(status["disruptedPods"]) == ["p"]
    assert status["conditions"][0]["type"] == "DisruptionAllowed"


def test_eviction_that_the_budget_forbids_comes_again_later(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster, disruptionsAllowed=0, currentHealthy=1, desiredHealthy=1)
    answer = _evict(http)
    status = answer.json()
    assert (answer.status_code, status["reason"]) == (429, "TooManyRequests")
    (cause,) = status["details"]["causes"]
    assert cause["reason"] == "DisruptionBudget"
    assert cause["message"] == "The disruption budget b needs 1 healthy pods and has 1 currently"
    assert not _is_leaving(cluster)


def test_budget_that_was_not_looked_at_yet_makes_eviction_wait(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster, observedGeneration=0, disruptionsAllowed=5)
    answer = _evict(http)
    assert answer.status_code == 429
    assert answer.headers["Retry-After"] == "10"
    assert "still being processed" in answer.json()["details"]["causes"][0]["message"]


def test_two_budgets_over_one_pod_are_an_error_of_the_server(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster, "one")
    _budget(cluster, "two")
    answer = _evict(http)
    assert answer.status_code == 500
    assert "more than one PodDisruptionBudget" in answer.json()["message"]
    assert not _is_leaving(cluster)


@pytest.mark.parametrize("phase", ["Pending", "Succeeded", "Failed"])
def test_pod_that_does_not_run_needs_no_budget(http: httpx.Client, cluster: StoreClient, phase: str) -> None:
    _running_pod(cluster, phase=phase)
    _budget(cluster, disruptionsAllowed=0)
    assert _evict(http).status_code == 201
    assert cluster.get(*BUDGETS, "b", namespace="default")["status"]["disruptionsAllowed"] == 0


def test_pod_that_is_leaving_needs_no_budget(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    cluster.delete("v1", "pods", "p", namespace="default")
    _budget(cluster, disruptionsAllowed=0)
    assert _evict(http).status_code == 201


@pytest.mark.parametrize(
    ("policy", "healthy", "code"),
    [("", 1, 201), ("", 0, 429), ("IfHealthyBudget", 0, 429), ("AlwaysAllow", 0, 201)],
)
def test_unready_pod_goes_as_the_budgets_policy_says(
    http: httpx.Client, cluster: StoreClient, policy: str, healthy: int, code: int
) -> None:
    _running_pod(cluster, ready=False)
    _budget(cluster, policy=policy, disruptionsAllowed=0, currentHealthy=healthy, desiredHealthy=1)
    assert _evict(http).status_code == code


def test_budget_without_a_selector_covers_nothing(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    body = budget()
    body["spec"]["selector"] = {}
    cluster.create(*BUDGETS, body, namespace="default")
    assert _evict(http).status_code == 201


def test_budget_of_another_namespace_covers_nothing(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    cluster.create(*BUDGETS, budget(), namespace="kube-system")
    assert _evict(http).status_code == 201


def test_dry_run_of_an_eviction_asks_the_budget_and_changes_nothing(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster, disruptionsAllowed=1)
    for way in ({"query": {"dryRun": "All"}}, {"dryRun": ["All"]}):
        assert _evict(http, **way).status_code == 201
    assert not _is_leaving(cluster)
    assert cluster.get(*BUDGETS, "b", namespace="default")["status"]["disruptionsAllowed"] == 1
    _evict(http, gracePeriodSeconds=0)
    _running_pod(cluster)
    assert _evict(http, query={"dryRun": "All"}).status_code == 429


def test_eviction_meant_for_another_pod_of_that_name_is_refused(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    _budget(cluster)
    assert _evict(http, preconditions={"uid": "another"}).status_code == 409
    assert cluster.get(*BUDGETS, "b", namespace="default")["status"]["disruptionsAllowed"] == 1
    assert _evict(http, "missing").status_code == 404


def test_eviction_must_name_its_pod(http: httpx.Client, cluster: StoreClient) -> None:
    _running_pod(cluster)
    answer = http.post("/api/v1/namespaces/default/pods/p/eviction", json={"metadata": {"name": "q"}})
    assert answer.status_code == 400


SCALES = [("Deployment", "deployments"), ("ReplicaSet", "replicasets"), ("StatefulSet", "statefulsets")]


@pytest.mark.parametrize(("kind", "plural"), SCALES)
def test_scale_reads_and_sets_the_replicas(http: httpx.Client, cluster: StoreClient, kind: str, plural: str) -> None:
    cluster.create("apps/v1", plural, workload(kind, replicas=2), namespace="default")
    path = f"/apis/apps/v1/namespaces/default/{plural}/web/scale"
    scale = http.get(path).json()
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 0, "selector": "app=web"}
    scale["spec"]["replicas"] = 5
    assert http.put(path, json=scale).json()["spec"] == {"replicas": 5}
    stored = cluster.get("apps/v1", plural, "web", namespace="default")
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (5, 2)
    assert http.put(path, json=scale).status_code == 409
    merge = {"Content-Type": "application/merge-patch+json"}
    assert http.patch(path, json={"spec": {"replicas": 0}}, headers=merge).json()["spec"] == {"replicas": 0}
    assert http.patch(path, json={"spec": {"replicas": -1}}, headers=merge).status_code == 422


def test_log_of_a_pod_is_text_once_it_runs(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    path = "/api/v1/namespaces/default/pods/p/log"
    assert http.get(path).status_code == 400
    cluster.patch("v1", "pods", "p", {"status": {"phase": "Running"}}, namespace="default", subresource="status")
    answer = http.get(path)
    assert answer.headers["content-type"].startswith("text/plain")
    assert "default/p main" in answer.text
    assert http.get(path, params={"container": "other"}).status_code == 400


def test_service_account_gets_a_token_that_ends(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "serviceaccounts", {"metadata": {"name": "robot"}}, namespace="default")
    request = {"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "spec": {"expirationSeconds": 600}}
    answer = http.post("/api/v1/namespaces/default/serviceaccounts/robot/token", json=request)
    assert answer.status_code == 201
    assert answer.json()["status"]["token"]
    assert answer.json()["status"]["expirationTimestamp"].endswith("Z")


def test_review_of_access_allows_all(http: httpx.Client) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    review = {"spec": {"resourceAttributes": {"verb": "delete", "resource": "nodes"}}}
    answer = http.post(path, json=review)
    assert answer.status_code == 201
    assert answer.json()["status"]["allowed"] is True
    assert answer.json()["spec"] == review["spec"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/api/v1/namespaces/default/pods/p/eviction"),
        ("POST", "/apis/apps/v1/namespaces/default/deployments/web/scale"),
        ("DELETE", "/api/v1/namespaces"),
        ("POST", "/api/v1/nodes/n/status"),
        ("DELETE", "/api/v1/nodes/n/status"),
        ("POST", "/api/v1/nodes/n"),
        ("PUT", "/api/v1/nodes"),
        ("POST", "/api/v1/pods"),
        ("DELETE", "/api/v1/pods"),
    ],
)
def test_verb_that_a_resource_does_not_know_is_not_allowed(http: httpx.Client, method: str, path: str) -> None:
    answer = http.request(method, path, json={})
    assert (answer.status_code, answer.json()["reason"]) == (405, "MethodNotAllowed")
