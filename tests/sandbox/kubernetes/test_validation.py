"""What the server refuses, and how it says so."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.kubernetes.builders import budget, config_map, event, node, pod, workload

PATHS = {
    "Pod": "/api/v1/namespaces/default/pods",
    "Node": "/api/v1/nodes",
    "ConfigMap": "/api/v1/namespaces/default/configmaps",
    "Event": "/api/v1/namespaces/default/events",
    "Namespace": "/api/v1/namespaces",
    "Service": "/api/v1/namespaces/default/services",
    "Deployment": "/apis/apps/v1/namespaces/default/deployments",
    "Job": "/apis/batch/v1/namespaces/default/jobs",
    "PodDisruptionBudget": "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
    "Lease": "/apis/coordination.k8s.io/v1/namespaces/default/leases",
}
MEBIBYTE = 1024 * 1024


def _container(**fields: Any) -> JsonObject:
    return pod(containers=[{"name": "main", "image": "app:1", **fields}])


def _with(body: JsonObject, **spec: Any) -> JsonObject:
    return {**body, "spec": {**body["spec"], **spec}}


def _other_selector() -> JsonObject:
    return _with(workload(), selector={"matchLabels": {"app": "other"}})


def _always_restarting_job() -> JsonObject:
    body = workload("Job")
    body["spec"]["template"]["spec"]["restartPolicy"] = "Always"
    return body


CASES: list[tuple[str, JsonObject, str]] = [
    ("Pod", {"metadata": {}, "spec": {"containers": [{"name": "a", "image": "b"}]}}, "metadata.name"),
    ("Pod", pod("Upper_Case"), "metadata.name"),
    ("Pod", pod("x" * 254), "metadata.name"),
    ("Pod", pod(labels={"a b": "c"}), "metadata.labels"),
    ("Pod", pod(labels={"a": "not allowed"}), "metadata.labels"),
    ("Pod", pod(containers=[]), "spec.containers"),
    ("Pod", _container(name=""), "spec.containers[0].name"),
    ("Pod", _container(name="No_Label"), "spec.containers[0].name"),
    ("Pod", _container(image=""), "spec.containers[0].image"),
    ("Pod", _container(ports=[{"containerPort": 70000}]), "spec.containers[0].ports[0].containerPort"),
    ("Pod", _container(volumeMounts=[{"name": "x", "mountPath": "/"}]), "spec.containers[0].volumeMounts[0].name"),
    ("Pod", _container(resources={"requests": {"cpu": "-1"}}), "spec.containers[0].resources.requests[cpu]"),
    (
        "Pod",
        _container(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
        "spec.containers[0].resources.requests",
    ),
    ("Pod", pod(restartPolicy="Sometimes"), "spec.restartPolicy"),
    ("Pod", pod(tolerations=[{"operator": "Equal"}]), "spec.tolerations[0].operator"),
    ("Pod", pod(tolerations=[{"key": "a", "effect": "Maybe"}]), "spec.tolerations[0].effect"),
    ("Pod", pod(nodeSelector={"a": "not allowed"}), "spec.nodeSelector"),
    ("Pod", pod(volumes=[{"name": "v"}, {"name": "v"}]), "spec.volumes[1].name"),
    ("Node", node(taints=[{"key": "a", "effect": "Maybe"}]), "spec.taints[0].effect"),
    ("Node", node(taints=[{"key": "a", "effect": "NoExecute"}] * 2), "spec.taints[1]"),
    ("Namespace", {"metadata": {"name": "with.dot"}}, "metadata.name"),
    ("Service", {"metadata": {"name": "1web"}, "spec": {"ports": [{"port": 80}]}}, "metadata.name"),
    ("Service", {"metadata": {"name": "web"}, "spec": {}}, "spec.ports"),
    ("ConfigMap", {**config_map(), "data": {"not allowed": "x"}}, "data[not allowed]"),
    ("ConfigMap", {**config_map(a="1"), "binaryData": {"a": "MQ=="}}, "data[a]"),
    ("ConfigMap", config_map(a="x" * (MEBIBYTE + 1)), ""),
    ("Deployment", _other_selector(), "spec.template.metadata.labels"),
    ("Deployment", _with(workload(), replicas=-1), "spec.replicas"),
    ("Deployment", {"metadata": {"name": "web"}, "spec": {}}, "spec.selector"),
    ("Job", _always_restarting_job(), "spec.template.spec.restartPolicy"),
    ("PodDisruptionBudget", budget(minAvailable=1, maxUnavailable=1), "spec"),
    ("PodDisruptionBudget", budget(minAvailable="many"), "spec.minAvailable"),
    ("Event", event(involvedObject={"kind": "Pod", "namespace": "kube-system"}), "involvedObject.namespace"),
    ("Event", event(eventTime="2026-01-01T00:00:00.000000Z"), "reportingComponent"),
    ("Lease", {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}}, "spec.leaseDurationSeconds"),
]


@pytest.mark.parametrize(
    ("kind", "body", "field"), CASES, ids=[f"{index}-{kind}-{field}" for index, (kind, _, field) in enumerate(CASES)]
)
def test_invalid_object_is_refused_with_the_field(http: httpx.Client, kind: str, body: JsonObject, field: str) -> None:
    answer = http.post(PATHS[kind], json=body)
    status = answer.json()
    assert (answer.status_code, status["kind"], status["reason"]) == (422, "Status", "Invalid")
    assert status["details"]["kind"] == kind
    assert field in [cause["field"] for cause in status["details"]["causes"]]
    assert status["message"].startswith(f"{kind}")


def test_config_map_of_exactly_one_mebibyte_is_kept(http: httpx.Client) -> None:
    assert http.post(PATHS["ConfigMap"], json=config_map(a="x" * MEBIBYTE)).status_code == 201


def test_body_above_three_mebibytes_is_too_large(http: httpx.Client) -> None:
    answer = http.post(PATHS["ConfigMap"], json=config_map(a="x" * 3 * MEBIBYTE))
    assert (answer.status_code, answer.json()["reason"]) == (413, "RequestEntityTooLarge")


def test_message_names_all_problems(http: httpx.Client) -> None:
    status = http.post(PATHS["Pod"], json=pod("A", containers=[])).json()
    assert len(status["details"]["causes"]) == 2
    assert status["message"].startswith('Pod "A" is invalid: [metadata.name: Invalid value: "A"')


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{not json", "unrecognized"),
        (b"[]", "must be one object"),
        (b'{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}}', "cannot be handled as a Pod"),
        (b'{"apiVersion": "v9", "metadata": {"name": "a"}}', "does not match the expected API version"),
        (b'{"metadata": {"name": "a"}, "spec": "x"}', "cannot unmarshal string into field spec"),
        (
            b'{"metadata": {"name": "a"}, "spec": {"containers": {}}}',
            "cannot unmarshal object into field spec.containers",
        ),
        (b'{"metadata": {"name": 5}}', "cannot unmarshal number into field metadata.name"),
        (b'{"metadata": {"name": "a", "labels": {"x": 1}}}', "field metadata.labels.x of type string"),
        (b'{"spec": {"priority": "high"}}', "field spec.priority of type int"),
        (b'{"spec": {"hostNetwork": "yes"}}', "field spec.hostNetwork of type bool"),
        (b'{"spec": {"overhead": {"cpu": "much"}}}', "field spec.overhead.cpu of type Quantity"),
        (b'{"status": {"startTime": "soon"}}', "field status.startTime of type Time"),
    ],
)
def test_body_that_is_no_pod_is_a_bad_request(http: httpx.Client, content: bytes, told: str) -> None:
    answer = http.post(PATHS["Pod"], content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["reason"]) == (400, "BadRequest")
    assert told in answer.json()["message"]


def _misspelt() -> JsonObject:
    return _with(workload(), replicaz=3)


def test_unknown_field_is_dropped_with_a_warning(http: httpx.Client) -> None:
    answer = http.post(PATHS["Deployment"], json=_misspelt())
    assert answer.status_code == 201
    assert "replicaz" not in answer.json()["spec"]
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.replicaz\\""'


def test_unknown_field_is_refused_or_ignored_on_demand(http: httpx.Client) -> None:
    strict = http.post(PATHS["Deployment"], json=_misspelt(), params={"fieldValidation": "Strict"})
    assert strict.status_code == 400
    assert 'strict decoding error: unknown field "spec.replicaz"' in strict.json()["message"]
    silent = http.post(PATHS["Deployment"], json=_misspelt(), params={"fieldValidation": "Ignore"})
    assert silent.status_code == 201
    assert "Warning" not in silent.headers
    assert http.post(PATHS["Deployment"], json=workload(), params={"fieldValidation": "Loose"}).status_code == 422


def test_unknown_dry_run_is_refused(http: httpx.Client) -> None:
    assert http.post(PATHS["ConfigMap"], json=config_map(), params={"dryRun": "Some"}).status_code == 422


def _refused_change(http: httpx.Client, path: str, patch: JsonObject) -> list[str]:
    answer = http.patch(path, json=patch, headers={"Content-Type": "application/merge-patch+json"})
    assert answer.status_code == 422, answer.text
    return [cause["field"] for cause in answer.json()["details"]["causes"]]


def test_what_is_fixed_at_creation_stays(http: httpx.Client, cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    cluster.create("batch/v1", "jobs", workload("Job", name="job"), namespace="default")
    cluster.create("v1", "configmaps", {**config_map(a="1"), "immutable": True}, namespace="default")
    cluster.create("scheduling.k8s.io/v1", "priorityclasses", {"metadata": {"name": "low"}, "value": 1})
    image = {"spec": {"containers": [{"name": "main", "image": "app:1", "workingDir": "/"}]}}
    assert _refused_change(http, f"{PATHS['Pod']}/p", image) == ["spec"]
    labels = {"spec": {"template": {"metadata": {"labels": {"app": "z"}}}, "selector": {"matchLabels": {"app": "z"}}}}
    assert _refused_change(http, f"{PATHS['Deployment']}/web", labels) == ["spec.selector"]
    template = {"spec": {"template": {"spec": {"schedulerName": "other"}}}}
    assert _refused_change(http, f"{PATHS['Job']}/job", template) == ["spec.template"]
    assert _refused_change(http, f"{PATHS['ConfigMap']}/c", {"data": {"a": "2"}}) == ["data"]
    assert _refused_change(http, "/apis/scheduling.k8s.io/v1/priorityclasses/low", {"value": 2}) == ["value"]


def test_pods_image_and_further_tolerations_can_change(http: httpx.Client, cluster: StoreClient) -> None:
    created = cluster.create("v1", "pods", pod(), namespace="default")
    more = [*created["spec"]["tolerations"], {"key": "a", "operator": "Exists"}]
    created["spec"]["tolerations"] = more
    created["spec"]["containers"][0]["image"] = "app:2"
    changed = cluster.update("v1", "pods", created, namespace="default")
    assert changed["spec"]["containers"][0]["image"] == "app:2"
    fewer = {"spec": {"tolerations": more[:1]}}
    assert _refused_change(http, f"{PATHS['Pod']}/p", fewer) == ["spec"]


def test_owner_reference_must_be_complete(http: httpx.Client) -> None:
    body = pod()
    body["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r"}]
    answer = http.post(PATHS["Pod"], json=body)
    assert answer.json()["details"]["causes"][0]["field"] == "metadata.ownerReferences[0].uid"
