"""What the API does to any object: identity, versions, time stamps, namespaces."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from exoscaler.sandbox.kubernetes import ObjectStore, StoreClient
from exoscaler.sandbox.kubernetes.history import Change
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from exoscaler.sandbox.objects import ObjectError
from tests.sandbox.kubernetes.builders import config_map, event, node, pod, workload

CONFIG_MAPS = RESOURCES[("v1", "configmaps")]


def test_new_object_gets_uid_version_and_creation_time(cluster: StoreClient) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    meta = cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")["metadata"]
    created = datetime.fromisoformat(meta["creationTimestamp"])
    assert before <= created <= before + timedelta(seconds=5)
    assert meta["uid"]
    assert int(meta["resourceVersion"]) > 0


def test_every_write_raises_the_version(cluster: StoreClient) -> None:
    first = cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    second = cluster.patch("v1", "configmaps", "c", {"data": {"a": "2"}}, namespace="default")
    other = cluster.create("v1", "configmaps", config_map("other"), namespace="default")
    versions = [int(obj["metadata"]["resourceVersion"]) for obj in (first, second, other)]
    assert versions == sorted(set(versions))


def test_update_without_a_difference_is_no_write(cluster: StoreClient, store: ObjectStore) -> None:
    cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    before = cluster.get("v1", "configmaps", "c", namespace="default")
    changes: list[Change] = []
    store.subscribe(changes.append)
    assert cluster.update("v1", "configmaps", before, namespace="default") == before
    assert cluster.patch("v1", "configmaps", "c", {"data": {"a": "1"}}, namespace="default") == before
    assert changes == []


def test_what_a_client_sets_of_the_servers_metadata_is_ignored(cluster: StoreClient) -> None:
    body = config_map()
    body["metadata"] |= {"uid": "mine", "creationTimestamp": "2000-01-01T00:00:00Z", "generation": 7, "selfLink": "/x"}
    created = cluster.create("v1", "configmaps", body, namespace="default")["metadata"]
    assert created["uid"] != "mine"
    assert not created["creationTimestamp"].startswith("2000")
    assert "generation" not in created
    assert "selfLink" not in created


def test_generated_names_start_with_the_prefix_and_differ(cluster: StoreClient) -> None:
    body = pod()
    body["metadata"] = {"generateName": "web-"}
    names = {cluster.create("v1", "pods", body, namespace="default")["metadata"]["name"] for _ in range(50)}
    assert len(names) == 50
    assert all(name.startswith("web-") and len(name) == len("web-") + 5 for name in names)


def test_long_prefix_is_cut_so_that_the_name_fits_in_a_label(cluster: StoreClient) -> None:
    body = pod()
    body["metadata"] = {"generateName": "x" * 70}
    name = cluster.create("v1", "pods", body, namespace="default")["metadata"]["name"]
    assert len(name) == 63


@pytest.mark.parametrize(
    ("group", "plural", "body"),
    [("apps/v1", "deployments", workload()), ("batch/v1", "jobs", workload("Job"))],
)
def test_generation_counts_changes_of_the_spec_only(
    cluster: StoreClient, group: str, plural: str, body: dict[str, object]
) -> None:
    created = cluster.create(group, plural, body, namespace="default")
    assert created["metadata"]["generation"] == 1
    labelled = cluster.patch(group, plural, "web", {"metadata": {"labels": {"a": "b"}}}, namespace="default")
    assert labelled["metadata"]["generation"] == 1
    status = {"status": {"conditions": [{"type": "X", "status": "True"}]}}
    reported = cluster.patch(group, plural, "web", status, namespace="default", subresource="status")
    assert reported["metadata"]["generation"] == 1
    field = "replicas" if plural == "deployments" else "parallelism"
    scaled = cluster.patch(group, plural, "web", {"spec": {field: 3}}, namespace="default")
    assert scaled["metadata"]["generation"] == 2


def test_nodes_and_config_maps_have_no_generation(cluster: StoreClient) -> None:
    assert "generation" not in cluster.create("v1", "nodes", node())["metadata"]
    assert "generation" not in cluster.create("v1", "configmaps", config_map(), namespace="default")["metadata"]


def test_taken_name_is_a_conflict_that_names_the_object(cluster: StoreClient) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    with pytest.raises(ObjectError, match=r'deployments\.apps "web" already exists') as caught:
        cluster.create("apps/v1", "deployments", workload(), namespace="default")
    assert (caught.value.status, caught.value.reason) == (409, "AlreadyExists")


def test_missing_object_is_not_found(cluster: StoreClient) -> None:
    for attempt in (
        lambda: cluster.get("v1", "nodes", "gone"),
        lambda: cluster.patch("v1", "nodes", "gone", {"spec": {}}),
        lambda: cluster.delete("v1", "nodes", "gone"),
        lambda: cluster.update("v1", "nodes", node("gone")),
    ):
        with pytest.raises(ObjectError, match='nodes "gone" not found') as caught:
            attempt()
        assert (caught.value.status, caught.value.reason) == (404, "NotFound")


def test_object_in_a_namespace_that_does_not_exist_is_refused(cluster: StoreClient) -> None:
    with pytest.raises(ObjectError, match='namespaces "nowhere" not found') as caught:
        cluster.create("v1", "pods", pod(namespace="nowhere"), namespace="nowhere")
    assert caught.value.status == 404


def test_body_and_path_must_agree(cluster: StoreClient) -> None:
    for body, namespace in (
        (pod(namespace="kube-system"), "default"),
        ({**pod(), "kind": "Node"}, "default"),
        ({**pod(), "apiVersion": "v2"}, "default"),
    ):
        with pytest.raises(ObjectError) as caught:
            cluster.create("v1", "pods", body, namespace=namespace)
        assert caught.value.status == 400


def test_objects_handed_out_are_copies(cluster: StoreClient) -> None:
    cluster.create("v1", "configmaps", config_map(a="1"), namespace="default")
    cluster.get("v1", "configmaps", "c", namespace="default")["data"]["a"] = "changed"
    cluster.list("v1", "configmaps")[0]["data"]["a"] = "changed"
    assert cluster.get("v1", "configmaps", "c", namespace="default")["data"] == {"a": "1"}


def test_body_stays_the_callers(cluster: StoreClient) -> None:
    body = pod()
    cluster.create("v1", "pods", body, namespace="default")
    assert body == pod()


def test_null_fields_are_absent_fields(cluster: StoreClient) -> None:
    body = pod()
    body["metadata"]["creationTimestamp"] = None
    body["spec"]["nodeSelector"] = None
    created = cluster.create("v1", "pods", body, namespace="default")
    assert created["metadata"]["creationTimestamp"] is not None
    assert "nodeSelector" not in created["spec"]


def test_every_cluster_starts_with_its_namespaces_and_system_priorities(cluster: StoreClient) -> None:
    names = [obj["metadata"]["name"] for obj in cluster.list("v1", "namespaces")]
    assert names == ["default", "kube-node-lease", "kube-public", "kube-system"]
    classes = {obj["metadata"]["name"]: obj["value"] for obj in cluster.list("scheduling.k8s.io/v1", "priorityclasses")}
    assert classes == {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def test_dry_run_leaves_no_trace(store: ObjectStore, cluster: StoreClient) -> None:
    version = store.storage.version
    shown = store.create(CONFIG_MAPS, config_map(a="1"), namespace="default", dry_run=True)
    assert shown["metadata"]["uid"]
    assert store.storage.version == version
    assert cluster.list("v1", "configmaps") == []


def test_events_are_the_same_objects_in_both_groups(cluster: StoreClient) -> None:
    cluster.create("v1", "events", event(), namespace="default")
    new = cluster.get("events.k8s.io/v1", "events", "e", namespace="default")
    assert new["apiVersion"] == "events.k8s.io/v1"
    assert new["regarding"]["name"] == "p"
    assert (new["note"], new["deprecatedCount"]) == ("0/1 nodes are available", 1)
    assert "involvedObject" not in new
    modern = {
        "metadata": {"name": "modern"},
        "regarding": {"kind": "Node", "name": "n"},
        "note": "removed",
        "reason": "ScaleDown",
        "action": "Remove",
        "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "reportingController": "exoscaler",
        "reportingInstance": "one",
    }
    cluster.create("events.k8s.io/v1", "events", modern, namespace="default")
    old = cluster.get("v1", "events", "modern", namespace="default")
    assert (old["kind"], old["apiVersion"]) == ("Event", "v1")
    assert (old["message"], old["reportingComponent"]) == ("removed", "exoscaler")
    assert old["involvedObject"]["name"] == "n"


def test_events_older_than_an_hour_make_room_for_new_ones(cluster: StoreClient, store: ObjectStore) -> None:
    cluster.create("v1", "events", event("old"), namespace="default")
    kept = store.storage.read(("v1", "events"), ("default", "old"))
    assert kept is not None
    # Written two hours ago, and last seen then.
    stamp = (datetime.now(UTC) - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    aged = {**kept, "lastTimestamp": stamp, "metadata": {**kept["metadata"], "creationTimestamp": stamp}}
    store.storage.write(("v1", "events"), ("default", "old"), aged)
    cluster.create("v1", "events", event("new"), namespace="default")
    assert [obj["metadata"]["name"] for obj in cluster.list("v1", "events")] == ["new"]
