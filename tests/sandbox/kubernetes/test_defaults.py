"""What the server fills in, and what admission adds."""

from __future__ import annotations

from typing import Any

import pytest

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import config_map, node, pod, workload

CLASSES = ("scheduling.k8s.io/v1", "priorityclasses")
STORAGE_CLASSES = ("storage.k8s.io/v1", "storageclasses")


def _created_pod(cluster: StoreClient, **spec: Any) -> JsonObject:
    return cluster.create("v1", "pods", pod(**spec), namespace="default")


def test_pod_starts_pending_with_the_usual_spec(cluster: StoreClient) -> None:
    body = pod()
    body["status"] = {"phase": "Running"}
    created = cluster.create("v1", "pods", body, namespace="default")
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    spec = created["spec"]
    expected = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "enableServiceLinks": True,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "securityContext": {},
    }
    assert {name: spec[name] for name in expected} == expected


def test_pod_tolerates_broken_nodes_for_five_minutes(cluster: StoreClient) -> None:
    tolerations = {one["key"]: one for one in _created_pod(cluster)["spec"]["tolerations"]}
    assert set(tolerations) == {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}
    assert all(one["effect"] == "NoExecute" and one["tolerationSeconds"] == 300 for one in tolerations.values())


def test_pod_that_tolerates_everything_gets_no_further_tolerations(cluster: StoreClient) -> None:
    every = [{"operator": "Exists"}]
    assert _created_pod(cluster, tolerations=every)["spec"]["tolerations"] == every


def test_limits_without_requests_are_requests(cluster: StoreClient) -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    container = {"name": "main", "image": "app:1", "resources": resources}
    created = _created_pod(cluster, containers=[container])
    assert created["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1000m", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1000m", "memory": "1024Mi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_service_class_follows_requests_and_limits(
    cluster: StoreClient, resources: dict[str, Any], expected: str
) -> None:
    container = {"name": "main", "image": "app:1", "resources": resources}
    assert _created_pod(cluster, containers=[container])["status"]["qosClass"] == expected


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("app", "Always"),
        ("app:latest", "Always"),
        ("app:1", "IfNotPresent"),
        ("registry.local:5000/app", "Always"),
        ("registry.local:5000/app:1", "IfNotPresent"),
        ("app@sha256:0123", "IfNotPresent"),
    ],
)
def test_pull_policy_follows_the_image_tag(cluster: StoreClient, image: str, policy: str) -> None:
    created = _created_pod(cluster, containers=[{"name": "main", "image": image}])
    assert created["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_pod_gets_its_token_mounted_unless_it_declines(cluster: StoreClient) -> None:
    spec = _created_pod(cluster)["spec"]
    (volume,) = spec["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert "projected" in volume
    assert spec["containers"][0]["volumeMounts"][0]["name"] == volume["name"]
    declining = cluster.create("v1", "pods", pod("q", automountServiceAccountToken=False), namespace="default")
    assert "volumes" not in declining["spec"]


def test_priority_comes_from_the_class(cluster: StoreClient) -> None:
    cluster.create(*CLASSES, {"metadata": {"name": "low"}, "value": -10, "preemptionPolicy": "Never"})
    spec = _created_pod(cluster, priorityClassName="low")["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (-10, "Never")
    critical = cluster.create("v1", "pods", pod("q", priorityClassName="system-node-critical"), namespace="default")
    assert critical["spec"]["priority"] == 2_000_001_000


def test_pod_without_a_class_gets_the_global_default(cluster: StoreClient) -> None:
    cluster.create(*CLASSES, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    spec = _created_pod(cluster)["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("usual", 7)


@pytest.mark.parametrize("spec", [{"priorityClassName": "missing"}, {"priority": 5}])
def test_priority_without_its_class_is_forbidden(cluster: StoreClient, spec: dict[str, Any]) -> None:
    with pytest.raises(ObjectError, match="PriorityClass") as caught:
        _created_pod(cluster, **spec)
    assert (caught.value.status, caught.value.reason) == (403, "Forbidden")


def _spec(cluster: StoreClient, group: str, plural: str, body: JsonObject) -> JsonObject:
    spec: JsonObject = cluster.create(group, plural, body, namespace="default")["spec"]
    return spec


def test_workloads_get_their_defaults(cluster: StoreClient) -> None:
    deployment = _spec(cluster, "apps/v1", "deployments", workload())
    assert (deployment["replicas"], deployment["revisionHistoryLimit"]) == (1, 10)
    rolling = {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert deployment["strategy"] == {"type": "RollingUpdate", "rollingUpdate": rolling}
    daemon_set = _spec(cluster, "apps/v1", "daemonsets", workload("DaemonSet"))
    assert daemon_set["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}
    stateful_set = _spec(cluster, "apps/v1", "statefulsets", workload("StatefulSet", serviceName="web"))
    assert (stateful_set["replicas"], stateful_set["podManagementPolicy"]) == (1, "OrderedReady")
    replica_set = _spec(cluster, "apps/v1", "replicasets", workload("ReplicaSet"))
    assert replica_set["replicas"] == 1
    assert replica_set["template"]["spec"]["schedulerName"] == "default-scheduler"
    assert "tolerations" not in replica_set["template"]["spec"]


def test_job_gets_counts_and_a_selector_of_its_own(cluster: StoreClient) -> None:
    created = cluster.create("batch/v1", "jobs", workload("Job"), namespace="default")
    spec, uid = created["spec"], created["metadata"]["uid"]
    assert (spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (1, 1, 6)
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = spec["template"]["metadata"]["labels"]
    assert (labels["app"], labels["job-name"], labels["controller-uid"]) == ("web", "web", uid)


def test_job_with_parallelism_only_is_a_work_queue(cluster: StoreClient) -> None:
    spec = _spec(cluster, "batch/v1", "jobs", workload("Job", parallelism=3))
    assert spec["parallelism"] == 3
    assert "completions" not in spec


def test_node_without_allocatable_can_allocate_its_capacity(cluster: StoreClient) -> None:
    created = cluster.create("v1", "nodes", node())
    assert created["status"]["allocatable"] == created["status"]["capacity"]


def test_services_get_addresses_of_their_own(cluster: StoreClient) -> None:
    addresses = {
        _spec(cluster, "v1", "services", {"metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}})["clusterIP"]
        for name in ("a", "b")
    }
    assert len(addresses) == 2
    headless = {"metadata": {"name": "c"}, "spec": {"clusterIP": "None"}}
    assert _spec(cluster, "v1", "services", headless)["clusterIP"] == "None"


def test_claim_without_a_class_gets_the_default_class(cluster: StoreClient) -> None:
    annotations = {"storageclass.kubernetes.io/is-default-class": "true"}
    cluster.create(*STORAGE_CLASSES, {"metadata": {"name": "ssd", "annotations": annotations}, "provisioner": "x"})
    cluster.create(*STORAGE_CLASSES, {"metadata": {"name": "other"}, "provisioner": "x"})
    claim = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    spec = _spec(cluster, "v1", "persistentvolumeclaims", claim)
    assert (spec["storageClassName"], spec["volumeMode"]) == ("ssd", "Filesystem")


def test_secret_moves_plain_text_into_its_data(cluster: StoreClient) -> None:
    body = {"metadata": {"name": "s"}, "stringData": {"key": "value"}}
    created = cluster.create("v1", "secrets", body, namespace="default")
    assert (created["type"], created["data"]) == ("Opaque", {"key": "dmFsdWU="})
    assert "stringData" not in created


def test_namespace_carries_its_name_as_a_label(cluster: StoreClient) -> None:
    created = cluster.create("v1", "namespaces", {"metadata": {"name": "team"}})
    assert created["metadata"]["labels"] == {"kubernetes.io/metadata.name": "team"}
    assert created["status"]["phase"] == "Active"


def test_quantities_stay_as_they_were_sent(cluster: StoreClient) -> None:
    resources = {"requests": {"cpu": "1000m", "memory": "1.5Gi"}}
    created = _created_pod(cluster, containers=[{"name": "main", "image": "a:1", "resources": resources}])
    assert created["spec"]["containers"][0]["resources"] == resources


def test_complete_object_is_not_changed_by_its_defaults(cluster: StoreClient) -> None:
    """Otherwise every update of anything would be a write."""
    for group, plural, body in (
        ("v1", "pods", pod()),
        ("apps/v1", "deployments", workload()),
        ("batch/v1", "jobs", workload("Job")),
        ("v1", "configmaps", config_map()),
        ("v1", "services", {"metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}),
    ):
        created = cluster.create(group, plural, body, namespace="default")
        assert cluster.update(group, plural, created, namespace="default") == created


def test_earlier_versions_are_not_touched_by_later_writes(cluster: StoreClient) -> None:
    created = _created_pod(cluster)
    history = cluster._store.storage.changes(("v1", "pods"), int(created["metadata"]["resourceVersion"]) - 1)
    for number in range(3):
        status = {"status": {"message": str(number), "conditions": [{"type": "Ready", "status": "False"}]}}
        cluster.patch("v1", "pods", "p", status, namespace="default", subresource="status")
        cluster.patch("v1", "pods", "p", {"metadata": {"labels": {"n": str(number)}}}, namespace="default")
    assert history[0].after == created
