"""Faults on demand, and the record of calls."""

from __future__ import annotations

import time
from typing import Any

import httpx
import kubernetes.client
import pytest
from kubernetes.client import ApiClient, ApiException

from exoscaler.sandbox.kubernetes import FaultKind, FaultRule, HttpObjectClient, KubernetesSandbox, StoreClient
from exoscaler.sandbox.objects import ObjectError
from tests.sandbox.kubernetes.builders import config_map, node, pod


def test_rule_refuses_what_it_matches_as_often_as_it_says(
    sandbox: KubernetesSandbox, http: httpx.Client, cluster: StoreClient
) -> None:
    cluster.create("v1", "nodes", node())
    sandbox.faults.add(FaultRule(verb="list", resource="nodes", status=503, times=2))
    answers = [http.get("/api/v1/nodes") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [503, 503, 200]
    assert answers[0].json()["reason"] == "ServiceUnavailable"
    assert sandbox.faults.rules() == []


def test_rule_lets_pass_what_it_does_not_match(sandbox: KubernetesSandbox, http: httpx.Client) -> None:
    sandbox.faults.add(FaultRule(verb="list", resource="pods", times=0))
    assert http.get("/api/v1/nodes").status_code == 200
    assert http.get("/api/v1/namespaces/default/pods/x").status_code == 404
    assert [http.get("/api/v1/pods").status_code for _ in range(3)] == [503] * 3


def test_rule_tells_subresources_from_objects(
    sandbox: KubernetesSandbox, http: httpx.Client, cluster: StoreClient
) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    sandbox.faults.add(FaultRule(verb="create", resource="pods", subresource="eviction", status=429, retry_after=7))
    body = {"metadata": {"name": "p"}}
    refused = http.post("/api/v1/namespaces/default/pods/p/eviction", json=body)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "7")
    assert refused.json()["details"]["retryAfterSeconds"] == 7
    assert http.post("/api/v1/namespaces/default/pods", json=pod("q")).status_code == 201


def test_rule_can_wait_for_its_turn_and_for_a_name(sandbox: KubernetesSandbox, remote: HttpObjectClient) -> None:
    sandbox.faults.add(FaultRule(verb="create", after=1, status=500))
    sandbox.faults.add(FaultRule(verb="get", name="chosen", status=403))
    remote.create("v1", "nodes", node("chosen"))
    with pytest.raises(ObjectError) as caught:
        remote.create("v1", "nodes", node("second"))
    assert (caught.value.status, caught.value.reason) == (500, "InternalError")
    remote.create("v1", "nodes", node("third"))
    assert remote.get("v1", "nodes", "third")
    with pytest.raises(ObjectError) as caught:
        remote.get("v1", "nodes", "chosen")
    assert caught.value.reason == "Forbidden"


def test_dropped_request_has_taken_effect(
    sandbox: KubernetesSandbox, remote: HttpObjectClient, cluster: StoreClient
) -> None:
    sandbox.faults.add(FaultRule(FaultKind.DROP, verb="create", resource="configmaps"))
    with pytest.raises(ObjectError, match="got no answer") as caught:
        remote.create("v1", "configmaps", config_map(), namespace="default")
    assert caught.value.reason == "Unreachable"
    assert [found["metadata"]["name"] for found in cluster.list("v1", "configmaps")] == ["c"]


def test_hanging_request_ends_without_effect(
    sandbox: KubernetesSandbox, remote: HttpObjectClient, cluster: StoreClient
) -> None:
    sandbox.faults.add(FaultRule(FaultKind.HANG, verb="create", resource="configmaps", seconds=0.2))
    with pytest.raises(ObjectError, match="got no answer"):
        remote.create("v1", "configmaps", config_map(), namespace="default")
    assert cluster.list("v1", "configmaps") == []


def test_client_that_does_not_wait_long_enough_times_out(sandbox: KubernetesSandbox, official: ApiClient) -> None:
    sandbox.faults.add(FaultRule(FaultKind.HANG, verb="list", resource="nodes", seconds=30))
    api = kubernetes.client.CoreV1Api(official)
    with pytest.raises(Exception, match="timed out"):
        api.list_node(_request_timeout=0.2)
    assert api.list_node(_request_timeout=5).items == []


def test_delayed_request_is_answered_later(sandbox: KubernetesSandbox, http: httpx.Client) -> None:
    sandbox.faults.add(FaultRule(FaultKind.DELAY, verb="list", resource="nodes", seconds=0.3))
    before = time.monotonic()
    assert http.get("/api/v1/nodes").status_code == 200
    assert time.monotonic() - before >= 0.3


def test_official_client_understands_a_fault(sandbox: KubernetesSandbox, official: ApiClient) -> None:
    sandbox.faults.add(FaultRule(resource="nodes", status=504, message="too slow"))
    with pytest.raises(ApiException) as caught:
        kubernetes.client.CoreV1Api(official).list_node()
    assert caught.value.status == 504
    assert "too slow" in str(caught.value.body)


def test_faults_are_controlled_over_http(http: httpx.Client) -> None:
    rule: dict[str, Any] = {"kind": "status", "verb": "list", "resource": "nodes", "status": 429, "retry_after": 3}
    (shown,) = http.post("/_sandbox/faults", json=rule).json()["faults"]
    assert (shown["status"], shown["times"]) == (429, 1)
    assert http.get("/api/v1/nodes").headers["Retry-After"] == "3"
    http.post("/_sandbox/faults", json=rule)
    assert http.delete("/_sandbox/faults").json() == {"faults": []}
    assert http.get("/api/v1/nodes").status_code == 200


@pytest.mark.parametrize("rule", [{"kind": "explode"}, {"colour": "red"}])
def test_malformed_rule_is_a_bad_request(http: httpx.Client, rule: dict[str, str]) -> None:
    answer = http.post("/_sandbox/faults", json=rule)
    assert answer.status_code == 400
    assert "not a fault rule" in answer.json()["message"]


def test_calls_are_recorded_by_verb_and_resource(
    sandbox: KubernetesSandbox, http: httpx.Client, remote: HttpObjectClient
) -> None:
    remote.create("v1", "pods", pod(), namespace="default")
    remote.bind("default", "p", "n")
    remote.patch("v1", "pods", "p", {"status": {"phase": "Running"}}, namespace="default", subresource="status")
    remote.list("v1", "pods")
    http.get("/api/v1/nodes", params={"watch": "true", "timeoutSeconds": 1})
    http.get("/api/v1/nodes/missing")
    http.get("/healthz")
    told = http.get("/_sandbox/calls").json()
    assert told["counts"] == {
        "create pods": 1,
        "create pods/binding": 1,
        "patch pods/status": 1,
        "list pods": 1,
        "watch nodes": 1,
        "get nodes": 1,
    }
    first, last = told["calls"][0], told["calls"][-1]
    assert (first["namespace"], first["status"], first["user_agent"]) == ("default", 201, "exoscaler-sandbox")
    assert (last["name"], last["status"]) == ("missing", 404)
    http.delete("/_sandbox/calls")
    assert sandbox.calls.calls() == []


def test_call_without_an_answer_is_recorded_with_status_zero(
    sandbox: KubernetesSandbox, remote: HttpObjectClient
) -> None:
    sandbox.faults.add(FaultRule(FaultKind.DROP, verb="create"))
    with pytest.raises(ObjectError):
        remote.create("v1", "nodes", node())
    assert [(call.operation, call.status) for call in sandbox.calls.calls()] == [("create nodes", 0)]
