"""DaemonSets: one pod on every node that accepts it."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.controllers.workloads.daemon_sets import STANDING_TOLERATIONS
from exoscaler.sandbox.machines import MachineTaint
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import daemon_set

DAEMON_SETS = ("apps/v1", "daemonsets")


def _started(nodes: int = 2, **options: Any) -> LiveCluster:
    cluster = LiveCluster()
    cluster.with_nodes(nodes)
    cluster.apply(*DAEMON_SETS, daemon_set("agent", **options))
    cluster.pass_time(4)
    return cluster


def _status(cluster: LiveCluster) -> JsonObject:
    status: JsonObject = cluster.client.get(*DAEMON_SETS, "agent", namespace=NAMESPACE)["status"]
    return status


def _nodes(cluster: LiveCluster) -> list[str]:
    return sorted(cluster.placed("app=agent").values())


def test_every_node_has_one_pod_for_itself() -> None:
    cluster = _started(nodes=3)
    assert _nodes(cluster) == ["node-0", "node-1", "node-2"]
    status = _status(cluster)
    counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberAvailable")
    assert [status[name] for name in counts] == [3] * 4
    assert status["observedGeneration"] == 1


def test_pod_names_its_node_and_tolerates_what_befalls_nodes() -> None:
    cluster = _started(nodes=1)
    (daemon,) = cluster.pods("app=agent")
    required = daemon["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    field = {"key": "metadata.name", "operator": "In", "values": ["node-0"]}
    assert required == {"nodeSelectorTerms": [{"matchFields": [field]}]}
    assert all(toleration in daemon["spec"]["tolerations"] for toleration in STANDING_TOLERATIONS)


def test_new_node_gets_a_pod() -> None:
    cluster = _started(nodes=1)
    cluster.machines.add("node-late")
    cluster.pass_time(20)
    assert _nodes(cluster) == ["node-0", "node-late"]


def test_node_without_the_selected_label_and_node_with_a_taint_get_none() -> None:
    cluster = LiveCluster()
    cluster.machines.add("plain", labels={"disk": "ssd"})
    cluster.machines.add("slow", labels={"disk": "hdd"})
    cluster.machines.add("taken", labels={"disk": "ssd"}, taints=(MachineTaint("team", "a", "NoSchedule"),))
    cluster.pass_time(20)
    cluster.apply(*DAEMON_SETS, daemon_set("agent", nodeSelector={"disk": "ssd"}))
    cluster.pass_time(4)
    assert _nodes(cluster) == ["plain"]


def test_cordoned_node_keeps_and_gets_daemon_pods() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.cordon("node-0")
    cluster.apply(*DAEMON_SETS, daemon_set("agent"))
    cluster.pass_time(4)
    assert _nodes(cluster) == ["node-0"]
    assert len(cluster.ready("app=agent")) == 1


def test_deleted_pod_is_replaced_on_its_node() -> None:
    cluster = _started(nodes=1)
    ((name, _),) = cluster.placed("app=agent").items()
    cluster.delete_pod(name)
    cluster.pass_time(6)
    ((successor, node),) = cluster.placed("app=agent").items()
    assert successor != name
    assert node == "node-0"


def test_pod_leaves_a_node_that_its_selector_no_longer_selects() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1, labels={"disk": "ssd"})
    cluster.apply(*DAEMON_SETS, daemon_set("agent", nodeSelector={"disk": "ssd"}))
    cluster.pass_time(4)
    cluster.client.patch("v1", "nodes", "node-0", {"metadata": {"labels": {"disk": None}}})
    cluster.pass_time(4)
    assert cluster.pods("app=agent") == []


def test_new_template_replaces_one_pod_at_a_time() -> None:
    cluster = _started(nodes=3)
    change = {"spec": {"template": {"metadata": {"annotations": {"restarted": "yes"}}}}}
    cluster.client.patch(*DAEMON_SETS, "agent", change, namespace=NAMESPACE)
    for _ in range(25):
        cluster.clock.advance(1)
        cluster.round()
        assert len(cluster.ready("app=agent")) >= 2
    assert _status(cluster)["updatedNumberScheduled"] == 3
    assert all("restarted" in daemon["metadata"]["annotations"] for daemon in cluster.pods("app=agent"))
