"""Deployments and ReplicaSets: scaling, rolling out, replacing."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.controllers.conditions import condition
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import deployment

DEPLOYMENTS = ("apps/v1", "deployments")
REPLICA_SETS = ("apps/v1", "replicasets")


def _started(replicas: int = 3, nodes: int = 2, **options: Any) -> LiveCluster:
    cluster = LiveCluster()
    cluster.with_nodes(nodes)
    cluster.apply(*DEPLOYMENTS, deployment("web", replicas=replicas, **options))
    cluster.settle()
    cluster.pass_time(4)
    return cluster


def _patch(cluster: LiveCluster, spec: JsonObject) -> None:
    cluster.client.patch(*DEPLOYMENTS, "web", {"spec": spec}, namespace=NAMESPACE)


def _set_image(cluster: LiveCluster, image: str) -> None:
    container = {"name": "app", "image": image, "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    _patch(cluster, {"template": {"spec": {"containers": [container]}}})


def _status(cluster: LiveCluster) -> JsonObject:
    status: JsonObject = cluster.client.get(*DEPLOYMENTS, "web", namespace=NAMESPACE)["status"]
    return status


def _images(cluster: LiveCluster) -> list[str]:
    return sorted(pod["spec"]["containers"][0]["image"][-2:] for pod in cluster.pods("app=web"))


def test_deployment_runs_its_replicas_and_reports_them() -> None:
    cluster = _started(replicas=3)
    assert len(cluster.ready("app=web")) == 3
    status = _status(cluster)
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    assert [status[name] for name in counts] == [3, 3, 3, 3, 1]
    (replica_set,) = cluster.client.list(*REPLICA_SETS)
    (owner,) = replica_set["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"], owner["blockOwnerDeletion"]) == (
        "Deployment",
        "web",
        True,
        True,
    )
    assert replica_set["metadata"]["labels"]["pod-template-hash"] in replica_set["metadata"]["name"]


def test_deployment_scaled_up_gets_pods_and_scaled_down_loses_the_surplus() -> None:
    cluster = _started(replicas=2, nodes=1)
    kept = set(cluster.ready("app=web"))
    _patch(cluster, {"replicas": 5})
    cluster.pass_time(4)
    assert len(cluster.ready("app=web")) == 5
    _patch(cluster, {"replicas": 2})
    cluster.pass_time(4)
    assert len(cluster.pods("app=web")) == 2
    assert _status(cluster)["replicas"] == 2
    # Among equals the youngest go.
    assert set(cluster.ready("app=web")) == kept


def test_pods_that_never_ran_go_first_when_scaled_down() -> None:
    cluster = _started(replicas=2, nodes=1, cpu="800m")
    running = sorted(cluster.ready("app=web"))
    _patch(cluster, {"replicas": 4})
    cluster.settle()
    _patch(cluster, {"replicas": 2})
    cluster.settle()
    assert sorted(cluster.ready("app=web")) == running


def test_evicted_pod_returns_elsewhere() -> None:
    cluster = _started(replicas=1, nodes=2)
    ((name, node),) = cluster.placed("app=web").items()
    cluster.cordon(node)
    cluster.delete_pod(name)
    cluster.pass_time(6)
    ((successor, elsewhere),) = cluster.placed("app=web").items()
    assert successor != name
    assert {node, elsewhere} == {"node-0", "node-1"}
    assert cluster.ready("app=web") == [successor]


def test_pod_being_terminated_is_replaced_at_once() -> None:
    cluster = _started(replicas=1)
    (name,) = cluster.ready("app=web")
    cluster.delete_pod(name)
    cluster.settle()
    assert len(cluster.pods("app=web")) == 2
    assert cluster.pod(name)["metadata"]["deletionTimestamp"]


def test_rollout_never_has_fewer_or_more_pods_than_allowed() -> None:
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    cluster = _started(replicas=4, spec={"strategy": rolling})
    _set_image(cluster, "registry.example/app:2")
    for _ in range(40):
        cluster.clock.advance(1)
        cluster.round()
        alive = [pod for pod in cluster.pods("app=web") if not pod["metadata"].get("deletionTimestamp")]
        assert len(alive) <= 5
        assert len(cluster.ready("app=web")) >= 3
    assert _images(cluster) == [":2"] * 4
    status = _status(cluster)
    assert [status[name] for name in ("replicas", "updatedReplicas", "availableReplicas")] == [4, 4, 4]


def test_rollout_status_tells_when_it_is_done() -> None:
    cluster = _started(replicas=2)
    _set_image(cluster, "registry.example/app:2")
    cluster.settle()
    status = _status(cluster)
    assert status["observedGeneration"] == 2
    assert status["updatedReplicas"] < status["replicas"]
    progress = condition({"status": status}, "Progressing")
    assert progress is not None
    assert progress["reason"] == "ReplicaSetUpdated"
    cluster.pass_time(20)
    progress = condition({"status": _status(cluster)}, "Progressing")
    assert progress is not None
    assert progress["reason"] == "NewReplicaSetAvailable"


def test_rollout_that_cannot_go_on_exceeds_its_deadline() -> None:
    cluster = _started(replicas=1, spec={"progressDeadlineSeconds": 30})
    _patch(cluster, {"template": {"spec": {"nodeSelector": {"disk": "missing"}}}})
    cluster.pass_time(35)
    progress = condition({"status": _status(cluster)}, "Progressing")
    assert progress is not None
    assert (progress["status"], progress["reason"]) == ("False", "ProgressDeadlineExceeded")
    assert len(cluster.ready("app=web")) == 1


def test_recreate_stops_all_old_pods_before_the_first_new_one() -> None:
    cluster = _started(replicas=2, spec={"strategy": {"type": "Recreate"}})
    _set_image(cluster, "registry.example/app:2")
    for _ in range(12):
        cluster.clock.advance(1)
        cluster.round()
        assert len(set(_images(cluster))) <= 1
    cluster.pass_time(4)
    assert _images(cluster) == [":2", ":2"]


def test_going_back_uses_the_old_replica_set_again() -> None:
    cluster = _started(replicas=2)
    _set_image(cluster, "registry.example/app:2")
    cluster.pass_time(20)
    _set_image(cluster, "registry.example/app:1")
    cluster.pass_time(20)
    assert len(cluster.client.list(*REPLICA_SETS)) == 2
    assert _images(cluster) == [":1", ":1"]
    revision = "deployment.kubernetes.io/revision"
    assert cluster.client.get(*DEPLOYMENTS, "web", namespace=NAMESPACE)["metadata"]["annotations"][revision] == "3"


def test_old_replica_sets_beyond_the_history_limit_go() -> None:
    cluster = _started(replicas=1, spec={"revisionHistoryLimit": 1})
    for version in (2, 3, 4):
        _set_image(cluster, f"registry.example/app:{version}")
        cluster.pass_time(20)
    assert len(cluster.client.list(*REPLICA_SETS)) == 2


def test_paused_deployment_scales_but_does_not_roll_out() -> None:
    cluster = _started(replicas=1)
    _patch(cluster, {"paused": True})
    _set_image(cluster, "registry.example/app:2")
    _patch(cluster, {"replicas": 3})
    cluster.pass_time(5)
    assert _images(cluster) == [":1"] * 3


def test_min_ready_seconds_delay_availability() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply(*DEPLOYMENTS, deployment("web", spec={"minReadySeconds": 10}))
    cluster.pass_time(5)
    status = _status(cluster)
    assert (status["readyReplicas"], status.get("availableReplicas") or 0) == (1, 0)
    cluster.pass_time(10)
    assert _status(cluster)["availableReplicas"] == 1
