"""The official Python client drives the sandbox as it would a cluster."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from kubernetes import client
from kubernetes.client import ApiClient, ApiException

from exoscaler.sandbox.kubernetes import StoreClient
from tests.sandbox.kubernetes.builders import budget, config_map, event, node, pod, workload


@pytest.fixture
def core(official: ApiClient) -> Any:
    """The core API; untyped, since every part of its models may be None to a type checker."""
    return client.CoreV1Api(official)


def test_typed_objects_survive_the_round_trip(core: Any) -> None:
    container = client.V1Container(
        name="main", image="app:1", resources=client.V1ResourceRequirements(requests={"cpu": "250m", "memory": "64Mi"})
    )
    spec = client.V1PodSpec(containers=[container], node_selector={"pool": "a"})
    body = client.V1Pod(metadata=client.V1ObjectMeta(name="p", labels={"app": "web"}), spec=spec)
    created = core.create_namespaced_pod("default", body)
    read = core.read_namespaced_pod("p", "default")
    assert read.to_dict() == created.to_dict()
    assert read.spec.containers[0].resources.requests == {"cpu": "250m", "memory": "64Mi"}
    assert isinstance(read.metadata.creation_timestamp, datetime)
    assert read.status.phase == "Pending"


def test_every_kind_that_matters_reads_as_typed_objects(official: ApiClient, cluster: StoreClient) -> None:
    for group, plural, body, namespace in (
        ("v1", "nodes", node(), ""),
        ("v1", "pods", pod(), "default"),
        ("v1", "configmaps", config_map(a="1"), "default"),
        ("v1", "events", event(), "default"),
        ("apps/v1", "deployments", workload(), "default"),
        ("apps/v1", "replicasets", workload("ReplicaSet"), "default"),
        ("apps/v1", "daemonsets", workload("DaemonSet"), "default"),
        ("apps/v1", "statefulsets", workload("StatefulSet", serviceName="web"), "default"),
        ("batch/v1", "jobs", workload("Job"), "default"),
        ("policy/v1", "poddisruptionbudgets", budget(), "default"),
        ("storage.k8s.io/v1", "storageclasses", {"metadata": {"name": "s"}, "provisioner": "x"}, ""),
        ("coordination.k8s.io/v1", "leases", {"metadata": {"name": "l"}, "spec": {}}, "default"),
    ):
        cluster.create(group, plural, body, namespace=namespace)
    core, apps = client.CoreV1Api(official), client.AppsV1Api(official)
    lists: list[Any] = [
        core.list_node(),
        core.list_pod_for_all_namespaces(),
        core.list_config_map_for_all_namespaces(),
        core.list_event_for_all_namespaces(),
        apps.list_deployment_for_all_namespaces(),
        apps.list_replica_set_for_all_namespaces(),
        apps.list_daemon_set_for_all_namespaces(),
        apps.list_stateful_set_for_all_namespaces(),
        client.BatchV1Api(official).list_job_for_all_namespaces(),
        client.PolicyV1Api(official).list_pod_disruption_budget_for_all_namespaces(),
        client.StorageV1Api(official).list_storage_class(),
        client.CoordinationV1Api(official).list_lease_for_all_namespaces(),
    ]
    assert [len(found.items) for found in lists] == [1] * len(lists)
    assert len(core.list_namespace().items) == 4
    assert len(client.SchedulingV1Api(official).list_priority_class().items) == 2


def test_stale_replacement_is_a_conflict(core: Any, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    stale = core.read_node("n")
    core.patch_node("n", {"metadata": {"labels": {"a": "b"}}})
    stale.spec.unschedulable = True
    with pytest.raises(ApiException) as caught:
        core.replace_node("n", stale)
    assert caught.value.status == 409


def test_taint_is_added_without_losing_a_concurrent_one(core: Any, cluster: StoreClient) -> None:
    """The way to write taints: read, add, patch with the version that was read."""
    cluster.create("v1", "nodes", node())
    before = core.read_node("n")
    core.patch_node("n", {"spec": {"taints": [{"key": "theirs", "effect": "NoSchedule"}]}})
    mine = [*(before.spec.taints or []), client.V1Taint(key="mine", effect="NoSchedule")]
    body: dict[str, Any] = {"metadata": {"resourceVersion": before.metadata.resource_version}, "spec": {"taints": mine}}
    with pytest.raises(ApiException) as caught:
        core.patch_node("n", body)
    assert caught.value.status == 409
    now = core.read_node("n")
    body["metadata"]["resourceVersion"] = now.metadata.resource_version
    body["spec"]["taints"] = [*now.spec.taints, client.V1Taint(key="mine", effect="NoSchedule")]
    assert [taint.key for taint in core.patch_node("n", body).spec.taints] == ["theirs", "mine"]


def test_pages_are_read_with_limit_and_continue(core: Any, cluster: StoreClient) -> None:
    for index in range(7):
        cluster.create("v1", "nodes", node(f"n{index}"))
    names: list[str] = []
    token = None
    while True:
        page = core.list_node(limit=3, _continue=token)
        names += [item.metadata.name for item in page.items]
        token = page.metadata._continue
        if not token:
            break
    assert names == [f"n{index}" for index in range(7)]


def test_eviction_goes_through_its_subresource(core: Any, cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    cluster.bind("default", "p", "n")
    options = client.V1DeleteOptions(grace_period_seconds=4)
    eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p", namespace="default"), delete_options=options)
    core.create_namespaced_pod_eviction("p", "default", eviction)
    assert core.read_namespaced_pod("p", "default").metadata.deletion_grace_period_seconds == 4


def test_scale_and_binding_go_through_their_subresources(official: ApiClient, core: Any, cluster: StoreClient) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    apps: Any = client.AppsV1Api(official)
    apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 4}})
    assert apps.read_namespaced_deployment_scale("web", "default").spec.replicas == 4
    cluster.create("v1", "pods", pod(), namespace="default")
    target = client.V1ObjectReference(api_version="v1", kind="Node", name="n")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="p"), target=target)
    # The typed answer of this call is a binding, and a server answers with a status.
    core.create_namespaced_pod_binding("p", "default", binding, _preload_content=False)
    assert core.read_namespaced_pod("p", "default").spec.node_name == "n"


def test_missing_object_is_told_with_a_status(core: Any) -> None:
    with pytest.raises(ApiException) as caught:
        core.read_node("gone")
    assert (caught.value.status, caught.value.reason) == (404, "Not Found")
    assert '"reason":"NotFound"' in str(caught.value.body)


def test_deletion_of_a_collection(core: Any, cluster: StoreClient) -> None:
    for name in ("a", "b"):
        cluster.create("v1", "configmaps", config_map(name), namespace="default")
    core.delete_collection_namespaced_config_map("default")
    assert core.list_namespaced_config_map("default").items == []
