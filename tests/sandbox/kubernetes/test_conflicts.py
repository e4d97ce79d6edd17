"""Optimistic concurrency: nobody's change is lost, and stale writers are told."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from exoscaler.sandbox.kubernetes import HttpObjectClient, StoreClient
from exoscaler.sandbox.objects import ObjectClient, ObjectError
from tests.sandbox.kubernetes.builders import config_map, node, pod

WRITERS = 6
INCREMENTS = 15


def _increment(client: ObjectClient) -> None:
    """Raise the counter by read and update, again and again until the update meets the version it read."""
    while True:
        current = client.get("v1", "configmaps", "c", namespace="default")
        current["data"]["count"] = str(int(current["data"]["count"]) + 1)
        try:
            client.update("v1", "configmaps", current, namespace="default")
        except ObjectError as error:
            if error.reason != "Conflict":
                raise
        else:
            return


def _in_threads(work: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 -- whatever went wrong in the thread is the test's failure
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert failures == []


@pytest.mark.parametrize("way", ["in process", "over HTTP"])
def test_concurrent_increments_are_all_counted(cluster: StoreClient, remote: HttpObjectClient, way: str) -> None:
    client: ObjectClient = cluster if way == "in process" else remote
    cluster.create("v1", "configmaps", config_map(count="0"), namespace="default")

    def count_up() -> None:
        for _ in range(INCREMENTS):
            _increment(client)

    _in_threads(count_up)
    assert cluster.get("v1", "configmaps", "c", namespace="default")["data"]["count"] == str(WRITERS * INCREMENTS)


def test_one_of_many_creators_of_a_name_wins(cluster: StoreClient, remote: HttpObjectClient) -> None:
    created: list[str] = []
    refused: list[str] = []

    def create() -> None:
        try:
            made = remote.create("v1", "configmaps", config_map("lock"), namespace="default")
        except ObjectError as error:
            refused.append(error.reason)
        else:
            created.append(made["metadata"]["uid"])

    _in_threads(create)
    assert created == [cluster.get("v1", "configmaps", "lock", namespace="default")["metadata"]["uid"]]
    assert refused == ["AlreadyExists"] * (WRITERS - 1)


def test_update_with_a_stale_version_is_a_conflict(cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    stale = cluster.get("v1", "nodes", "n")
    cluster.patch("v1", "nodes", "n", {"metadata": {"labels": {"a": "b"}}})
    stale["spec"]["unschedulable"] = True
    with pytest.raises(ObjectError, match='nodes "n": the object has been modified') as caught:
        cluster.update("v1", "nodes", stale)
    assert (caught.value.status, caught.value.reason) == (409, "Conflict")
    assert "unschedulable" not in cluster.get("v1", "nodes", "n")["spec"]


def test_patch_with_a_stale_version_is_a_conflict(cluster: StoreClient) -> None:
    version = cluster.create("v1", "nodes", node())["metadata"]["resourceVersion"]
    cluster.patch("v1", "nodes", "n", {"metadata": {"labels": {"a": "b"}}})
    taint = {"metadata": {"resourceVersion": version}, "spec": {"taints": []}}
    with pytest.raises(ObjectError) as caught:
        cluster.patch("v1", "nodes", "n", taint)
    assert caught.value.reason == "Conflict"


def test_update_without_a_version_overwrites_where_the_kind_allows_it(cluster: StoreClient) -> None:
    cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    cluster.update("v1", "configmaps", config_map(a="2"), namespace="default")
    assert cluster.get("v1", "configmaps", "c", namespace="default")["data"] == {"a": "2"}


def test_lease_is_created_by_update_and_then_demands_a_version(cluster: StoreClient) -> None:
    group = "coordination.k8s.io/v1"
    lease = {"metadata": {"name": "n"}, "spec": {"holderIdentity": "n", "leaseDurationSeconds": 40}}
    made = cluster.update(group, "leases", lease, namespace="kube-node-lease")
    with pytest.raises(ObjectError, match="must be specified for an update") as caught:
        cluster.update(group, "leases", lease, namespace="kube-node-lease")
    assert caught.value.status == 422
    made["spec"]["holderIdentity"] = "other"
    assert cluster.update(group, "leases", made, namespace="kube-node-lease")["spec"]["holderIdentity"] == "other"


def test_update_meant_for_a_former_object_of_that_name_is_refused(cluster: StoreClient) -> None:
    former = cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    cluster.delete("v1", "configmaps", "c", namespace="default")
    cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    former["metadata"].pop("resourceVersion")
    with pytest.raises(ObjectError, match="UID in precondition") as caught:
        cluster.update("v1", "configmaps", former, namespace="default")
    assert caught.value.status == 409


def test_status_and_spec_are_written_apart(cluster: StoreClient) -> None:
    cluster.create("v1", "pods", pod(), namespace="default")
    current = cluster.get("v1", "pods", "p", namespace="default")
    current["status"] = {"phase": "Running"}
    current["spec"]["containers"][0]["image"] = "other:2"
    through_spec = cluster.update("v1", "pods", current, namespace="default")
    assert through_spec["status"]["phase"] == "Pending"
    assert through_spec["spec"]["containers"][0]["image"] == "other:2"
    through_spec["status"] = {"phase": "Running"}
    through_spec["spec"]["containers"][0]["image"] = "third:3"
    through_status = cluster.update("v1", "pods", through_spec, namespace="default", subresource="status")
    assert through_status["status"]["phase"] == "Running"
    assert through_status["spec"]["containers"][0]["image"] == "other:2"
