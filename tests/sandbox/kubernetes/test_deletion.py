"""What a deletion does: grace for pods, finalizers, preconditions, propagation, namespaces."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from exoscaler.sandbox.kubernetes import ObjectStore, StoreClient
from exoscaler.sandbox.kubernetes.deletion import DeleteOptions
from exoscaler.sandbox.kubernetes.resources import PODS, RESOURCES
from exoscaler.sandbox.kubernetes.selection import parse_selection
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import config_map, pod, workload

REPLICA_SETS = RESOURCES[("apps/v1", "replicasets")]


def _bound_pod(cluster: StoreClient, *, grace: int = 30) -> JsonObject:
    body = pod(terminationGracePeriodSeconds=grace)
    cluster.create("v1", "pods", body, namespace="default")
    cluster.bind("default", "p", "n")
    return cluster.get("v1", "pods", "p", namespace="default")


def _exists(cluster: StoreClient) -> bool:
    return any(found["metadata"]["name"] == "p" for found in cluster.list("v1", "pods"))


def test_pod_that_is_bound_keeps_its_grace(cluster: StoreClient) -> None:
    _bound_pod(cluster, grace=20)
    now = datetime.now(UTC)
    cluster.delete("v1", "pods", "p", namespace="default")
    meta = cluster.get("v1", "pods", "p", namespace="default")["metadata"]
    assert meta["deletionGracePeriodSeconds"] == 20
    ends = datetime.fromisoformat(meta["deletionTimestamp"])
    assert now + timedelta(seconds=18) < ends < now + timedelta(seconds=25)


def test_grace_of_the_request_goes_before_that_of_the_pod(cluster: StoreClient) -> None:
    _bound_pod(cluster, grace=20)
    cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=5)
    assert cluster.get("v1", "pods", "p", namespace="default")["metadata"]["deletionGracePeriodSeconds"] == 5


def test_second_deletion_only_shortens_the_grace(cluster: StoreClient) -> None:
    _bound_pod(cluster, grace=30)
    cluster.delete("v1", "pods", "p", namespace="default")
    first = cluster.get("v1", "pods", "p", namespace="default")["metadata"]
    cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=60)
    cluster.delete("v1", "pods", "p", namespace="default")
    assert cluster.get("v1", "pods", "p", namespace="default")["metadata"] == first
    cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=10)
    shortened = cluster.get("v1", "pods", "p", namespace="default")["metadata"]
    assert shortened["deletionGracePeriodSeconds"] == 10
    earlier = datetime.fromisoformat(first["deletionTimestamp"]) - timedelta(seconds=20)
    assert datetime.fromisoformat(shortened["deletionTimestamp"]) == earlier


def test_pod_goes_when_its_kubelet_says_so(cluster: StoreClient) -> None:
    _bound_pod(cluster)
    cluster.delete("v1", "pods", "p", namespace="default")
    assert _exists(cluster)
    cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=0)
    assert not _exists(cluster)


def test_pod_that_is_not_bound_goes_at_once(cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    cluster.delete("v1", "pods", "p", namespace="default")
    assert not _exists(cluster)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_pod_that_has_ended_goes_at_once(cluster: StoreClient, phase: str) -> None:
    _bound_pod(cluster)
    cluster.patch("v1", "pods", "p", {"status": {"phase": phase}}, namespace="default", subresource="status")
    cluster.delete("v1", "pods", "p", namespace="default")
    assert not _exists(cluster)


def test_deletion_of_another_uid_is_refused(cluster: StoreClient) -> None:
    created = _bound_pod(cluster)
    with pytest.raises(ObjectError, match="UID in precondition") as caught:
        cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=0, uid="another")
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    cluster.delete("v1", "pods", "p", namespace="default", grace_seconds=0, uid=created["metadata"]["uid"])
    assert not _exists(cluster)


def test_deletion_of_another_version_is_refused(cluster: StoreClient, store: ObjectStore) -> None:
    version = _bound_pod(cluster)["metadata"]["resourceVersion"]
    cluster.patch("v1", "pods", "p", {"metadata": {"labels": {"a": "b"}}}, namespace="default")
    with pytest.raises(ObjectError, match="ResourceVersion in precondition"):
        store.delete(PODS, "p", DeleteOptions(version=version), namespace="default")


def test_finalizer_holds_an_object_until_it_is_taken_off(cluster: StoreClient) -> None:
    body = config_map()
    body["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create("v1", "configmaps", body, namespace="default")
    cluster.delete("v1", "configmaps", "c", namespace="default")
    held = cluster.get("v1", "configmaps", "c", namespace="default")
    assert "deletionTimestamp" in held["metadata"]
    held["metadata"]["finalizers"] = []
    cluster.update("v1", "configmaps", held, namespace="default")
    assert cluster.list("v1", "configmaps") == []


def test_no_finalizer_is_added_to_an_object_that_is_being_deleted(cluster: StoreClient) -> None:
    body = config_map()
    body["metadata"]["finalizers"] = ["example.com/hold"]
    cluster.create("v1", "configmaps", body, namespace="default")
    cluster.delete("v1", "configmaps", "c", namespace="default")
    more = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    with pytest.raises(ObjectError, match="no new finalizers") as caught:
        cluster.patch("v1", "configmaps", "c", more, namespace="default")
    assert caught.value.status == 422


def test_deletion_cannot_be_undone_by_an_update(cluster: StoreClient) -> None:
    _bound_pod(cluster)
    cluster.delete("v1", "pods", "p", namespace="default")
    doomed = cluster.get("v1", "pods", "p", namespace="default")
    stamp = doomed["metadata"].pop("deletionTimestamp")
    doomed["metadata"].pop("deletionGracePeriodSeconds")
    doomed["metadata"]["labels"] = {"a": "b"}
    assert cluster.update("v1", "pods", doomed, namespace="default")["metadata"]["deletionTimestamp"] == stamp


def test_foreground_deletion_waits_for_the_garbage_collector(cluster: StoreClient, store: ObjectStore) -> None:
    cluster.create("apps/v1", "replicasets", workload("ReplicaSet"), namespace="default")
    _, gone = store.delete(REPLICA_SETS, "web", DeleteOptions(propagation="Foreground"), namespace="default")
    assert not gone
    meta = cluster.get("apps/v1", "replicasets", "web", namespace="default")["metadata"]
    assert meta["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in meta


def test_orphaning_deletion_frees_the_dependents(cluster: StoreClient, store: ObjectStore) -> None:
    owner = cluster.create("apps/v1", "replicasets", workload("ReplicaSet"), namespace="default")
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner["metadata"]["uid"]}
    owned = pod()
    owned["metadata"]["ownerReferences"] = [reference]
    cluster.create("v1", "pods", owned, namespace="default")
    _, gone = store.delete(REPLICA_SETS, "web", DeleteOptions(propagation="Orphan"), namespace="default")
    assert gone
    assert cluster.get("v1", "pods", "p", namespace="default")["metadata"]["ownerReferences"] == []


def test_dry_run_of_a_deletion_deletes_nothing(cluster: StoreClient, store: ObjectStore) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    _, would_go = store.delete(PODS, "p", DeleteOptions(dry_run=True), namespace="default")
    assert would_go
    assert _exists(cluster)


def test_collective_deletion_takes_what_the_selector_matches(cluster: StoreClient, store: ObjectStore) -> None:
    for name, app in (("a", "x"), ("b", "y"), ("c", "x")):
        cluster.create("v1", "pods", pod(name, labels={"app": app}), namespace="default")
    deleted = store.delete_collection(PODS, parse_selection(PODS, "default", "app=x", ""))
    assert [item["metadata"]["name"] for item in deleted] == ["a", "c"]
    assert [item["metadata"]["name"] for item in cluster.list("v1", "pods")] == ["b"]


def test_namespace_takes_its_content_with_it(cluster: StoreClient) -> None:
    cluster.create("v1", "namespaces", {"metadata": {"name": "team"}})
    cluster.create("v1", "configmaps", {"metadata": {"name": "c"}}, namespace="team")
    cluster.create("apps/v1", "deployments", workload(), namespace="team")
    cluster.delete("v1", "namespaces", "team")
    assert "team" not in {found["metadata"]["name"] for found in cluster.list("v1", "namespaces")}
    assert cluster.list("v1", "configmaps") == []
    assert cluster.list("apps/v1", "deployments") == []


def test_namespace_ends_with_its_last_pod_and_takes_nothing_new(cluster: StoreClient) -> None:
    cluster.create("v1", "namespaces", {"metadata": {"name": "team"}})
    cluster.create("v1", "pods", pod(namespace="team"), namespace="team")
    cluster.bind("team", "p", "n")
    cluster.delete("v1", "namespaces", "team")
    assert cluster.get("v1", "namespaces", "team")["status"]["phase"] == "Terminating"
    with pytest.raises(ObjectError, match="it is being terminated") as caught:
        cluster.create("v1", "configmaps", {"metadata": {"name": "late"}}, namespace="team")
    assert caught.value.status == 403
    cluster.delete("v1", "pods", "p", namespace="team", grace_seconds=0)
    with pytest.raises(ObjectError, match='namespaces "team" not found'):
        cluster.get("v1", "namespaces", "team")


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_the_clusters_own_namespaces_cannot_be_deleted(cluster: StoreClient, name: str) -> None:
    with pytest.raises(ObjectError, match="may not be deleted") as caught:
        cluster.delete("v1", "namespaces", name)
    assert caught.value.status == 403
