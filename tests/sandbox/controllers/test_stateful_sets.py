"""StatefulSets: stable names, one after the other."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import stateful_set

STATEFUL_SETS = ("apps/v1", "statefulsets")


def _started(**options: Any) -> LiveCluster:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    cluster.apply(*STATEFUL_SETS, stateful_set("db", **options))
    return cluster


def _names(cluster: LiveCluster) -> list[str]:
    return sorted(pod["metadata"]["name"] for pod in cluster.pods("app=db"))


def _status(cluster: LiveCluster) -> JsonObject:
    status: JsonObject = cluster.client.get(*STATEFUL_SETS, "db", namespace=NAMESPACE)["status"]
    return status


def test_each_pod_waits_for_the_one_before() -> None:
    cluster = _started(replicas=3)
    cluster.settle()
    assert _names(cluster) == ["db-0"]
    cluster.pass_time(2)
    assert _names(cluster) == ["db-0", "db-1"]
    cluster.pass_time(5)
    assert _names(cluster) == ["db-0", "db-1", "db-2"]
    status = _status(cluster)
    assert [status[name] for name in ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas")] == [3] * 4
    assert status["currentRevision"] == status["updateRevision"]


def test_parallel_pods_start_together() -> None:
    cluster = _started(replicas=3, spec={"podManagementPolicy": "Parallel"})
    cluster.settle()
    assert _names(cluster) == ["db-0", "db-1", "db-2"]


def test_scaled_down_from_the_highest_number() -> None:
    cluster = _started(replicas=3)
    cluster.pass_time(10)
    cluster.client.patch(*STATEFUL_SETS, "db", {"spec": {"replicas": 1}}, namespace=NAMESPACE)
    cluster.pass_time(1)
    assert [cluster.pod(name)["metadata"].get("deletionTimestamp") is None for name in _names(cluster)] == [
        True,
        True,
        False,
    ]
    cluster.pass_time(6)
    assert _names(cluster) == ["db-0"]


def test_evicted_pod_returns_under_its_name_when_the_old_one_is_gone() -> None:
    cluster = _started(replicas=2)
    cluster.pass_time(8)
    uid = cluster.pod("db-0")["metadata"]["uid"]
    cluster.delete_pod("db-0")
    cluster.settle()
    assert cluster.pod("db-0")["metadata"]["uid"] == uid
    cluster.pass_time(6)
    assert cluster.pod("db-0")["metadata"]["uid"] != uid
    assert sorted(cluster.ready("app=db")) == ["db-0", "db-1"]


def test_new_template_rolls_out_from_the_highest_number_down() -> None:
    cluster = _started(replicas=2)
    cluster.pass_time(8)
    before = {name: cluster.pod(name)["metadata"]["uid"] for name in _names(cluster)}
    change = {"spec": {"template": {"metadata": {"annotations": {"restarted": "yes"}}}}}
    cluster.client.patch(*STATEFUL_SETS, "db", change, namespace=NAMESPACE)
    cluster.pass_time(1)
    assert cluster.pod("db-1")["metadata"].get("deletionTimestamp")
    assert not cluster.pod("db-0")["metadata"].get("deletionTimestamp")
    cluster.pass_time(12)
    assert all(cluster.pod(name)["metadata"]["uid"] != uid for name, uid in before.items())
    status = _status(cluster)
    assert status["currentRevision"] == status["updateRevision"]
    assert status["updatedReplicas"] == 2


def test_partition_keeps_the_lower_numbers_as_they_are() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    cluster = _started(replicas=2, spec={"updateStrategy": strategy})
    cluster.pass_time(8)
    uid = cluster.pod("db-0")["metadata"]["uid"]
    change = {"spec": {"template": {"metadata": {"annotations": {"restarted": "yes"}}}}}
    cluster.client.patch(*STATEFUL_SETS, "db", change, namespace=NAMESPACE)
    cluster.pass_time(12)
    assert cluster.pod("db-0")["metadata"]["uid"] == uid
    assert _status(cluster)["updatedReplicas"] == 1
