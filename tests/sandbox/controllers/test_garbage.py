"""Garbage collection: owners, nodes and namespaces that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from exoscaler.sandbox.controllers import ControllerLoop, Reader
from exoscaler.sandbox.controllers.conditions import condition
from exoscaler.sandbox.controllers.garbage import PodCollector
from exoscaler.sandbox.controllers.namespaces import NamespaceCollector
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import deployment, pod


def test_children_of_a_deleted_owner_go_level_by_level() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("apps/v1", "deployments", deployment("web", replicas=2))
    cluster.pass_time(4)
    cluster.client.delete("apps/v1", "deployments", "web", namespace=NAMESPACE)
    cluster.pass_time(4)
    assert cluster.client.list("apps/v1", "replicasets") == []
    assert cluster.pods() == []


def test_child_of_an_owner_of_the_same_name_but_another_uid_is_an_orphan() -> None:
    cluster = LiveCluster(only=["garbage"])
    cluster.apply("apps/v1", "deployments", deployment("web"))
    orphan = pod("orphan")
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "of-the-one-before"}
    orphan["metadata"]["ownerReferences"] = [reference]
    cluster.apply("v1", "pods", orphan)
    cluster.settle()
    assert cluster.pods() == []


def test_child_of_a_kind_that_nobody_here_knows_is_kept() -> None:
    cluster = LiveCluster()
    child = pod("child")
    reference = {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "unknown"}
    child["metadata"]["ownerReferences"] = [reference]
    cluster.apply("v1", "pods", child)
    cluster.settle()
    assert len(cluster.pods()) == 1


def test_owner_deleted_in_the_foreground_goes_after_its_children() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("apps/v1", "deployments", deployment("web"))
    cluster.pass_time(4)
    hold = {"metadata": {"finalizers": ["foregroundDeletion"]}}
    cluster.client.patch("apps/v1", "deployments", "web", hold, namespace=NAMESPACE)
    cluster.client.delete("apps/v1", "deployments", "web", namespace=NAMESPACE)
    cluster.round()
    assert cluster.exists("apps/v1", "deployments", "web")
    cluster.pass_time(4)
    assert cluster.pods() == []
    assert not cluster.exists("apps/v1", "deployments", "web")


def test_pods_of_a_node_that_is_gone_fail_and_go_after_the_quarantine() -> None:
    cluster = LiveCluster()
    (machine,) = cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("held", finalizers=["example.com/hold"]))
    cluster.pass_time(4)
    cluster.machines.destroy(machine)
    cluster.client.delete("v1", "nodes", "node-0")
    cluster.pass_time(35)
    assert cluster.pod("held")["status"]["phase"] == "Running"
    cluster.pass_time(10)
    held = cluster.pod("held")
    assert held["status"]["phase"] == "Failed"
    assert held["metadata"]["deletionTimestamp"]
    target = condition(held, "DisruptionTarget")
    assert target is not None
    assert target["reason"] == "DeletionByPodGC"
    cluster.client.patch("v1", "pods", "held", {"metadata": {"finalizers": None}}, namespace=NAMESPACE)
    cluster.settle()
    assert cluster.pods() == []


def test_oldest_ended_pods_go_when_there_are_too_many() -> None:
    cluster = LiveCluster(only=["scheduler"])
    reader = Reader(cluster.client)
    collector = PodCollector(cluster.client, reader, cluster.clock, keep=2)
    for name in ("first", "second", "third"):
        cluster.apply("v1", "pods", pod(name))
        status = {"status": {"phase": "Succeeded"}}
        cluster.client.patch("v1", "pods", name, status, namespace=NAMESPACE, subresource="status")
        cluster.clock.advance(1)
    ControllerLoop([collector], cluster.clock, before_round=reader.forget).round()
    assert [item["metadata"]["name"] for item in cluster.pods()] == ["second", "third"]


def test_deleted_namespace_takes_its_content_along(caplog: pytest.LogCaptureFixture) -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.client.create("v1", "namespaces", {"metadata": {"name": "team"}})
    body = deployment("web")
    body["metadata"]["namespace"] = "team"
    cluster.apply("apps/v1", "deployments", body)
    cluster.pass_time(4)
    cluster.client.delete("v1", "namespaces", "team")
    cluster.pass_time(5)
    assert cluster.pods() == []
    assert not cluster.exists("v1", "namespaces", "team")
    # What the controllers still try in it is refused, which is nothing to worry about.
    assert [record.message for record in caplog.records if record.levelname != "DEBUG"] == []


class ApiWithoutNamespaceController:
    """The answers of an API server on which nobody empties a namespace but the collector."""

    def __init__(self, cluster: LiveCluster, namespace: JsonObject) -> None:
        self._inner = cluster.client
        self._namespace = namespace
        self.finalized: list[JsonObject] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def list(self, group: str, plural: str, **options: str) -> list[JsonObject]:
        return [self._namespace] if plural == "namespaces" else self._inner.list(group, plural, **options)

    def update(self, group: str, plural: str, body: JsonObject, **options: str) -> JsonObject:
        assert options == {"subresource": "finalize"}
        self.finalized.append(body)
        return body


def test_namespace_is_finalized_only_when_it_is_empty() -> None:
    cluster = LiveCluster(only=[])
    namespace = cluster.client.create("v1", "namespaces", {"metadata": {"name": "team"}})
    body = pod("left", finalizers=["example.com/hold"])
    body["metadata"]["namespace"] = "team"
    cluster.apply("v1", "pods", body)
    namespace["metadata"]["deletionTimestamp"] = "2026-12-01T12:00:00Z"
    api: Any = ApiWithoutNamespaceController(cluster, namespace)
    collector = NamespaceCollector(api, Reader(api))
    collector.step()
    assert cluster.client.get("v1", "pods", "left", namespace="team")["metadata"]["deletionTimestamp"]
    assert api.finalized == []
    cluster.client.patch("v1", "pods", "left", {"metadata": {"finalizers": None}}, namespace="team")
    collector.step()
    assert [item["spec"] for item in api.finalized] == [{"finalizers": []}]
