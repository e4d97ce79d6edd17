"""Nodes that fall silent, come back, are cordoned; and the pods that leave them."""

from __future__ import annotations

from exoscaler.sandbox.controllers.conditions import condition, is_true
from exoscaler.sandbox.controllers.taint_eviction import patience_seconds
from exoscaler.sandbox.machines import FleetTimings
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.controllers.cluster import LiveCluster
from tests.sandbox.controllers.manifests import deployment, pod

NEVER_REMOVED = FleetTimings(remove=10_000.0)
UNREACHABLE = "node.kubernetes.io/unreachable"


def _taints(cluster: LiveCluster, name: str) -> list[tuple[str, str]]:
    taints = (cluster.node(name).get("spec") or {}).get("taints") or []
    return sorted((taint["key"], taint["effect"]) for taint in taints)


def _patient(seconds: int) -> JsonObject:
    return {"key": UNREACHABLE, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}


def test_silent_node_becomes_unknown_and_tainted() -> None:
    cluster = LiveCluster(timings=NEVER_REMOVED)
    (machine,) = cluster.with_nodes(1)
    cluster.machines.destroy(machine)
    cluster.pass_time(40)
    assert is_true(cluster.node("node-0"), "Ready")
    cluster.pass_time(20)
    ready = condition(cluster.node("node-0"), "Ready")
    assert ready is not None
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert _taints(cluster, "node-0") == [(UNREACHABLE, "NoExecute"), (UNREACHABLE, "NoSchedule")]


def test_pods_of_a_silent_node_are_no_longer_ready_and_leave_when_their_patience_ends() -> None:
    cluster = LiveCluster(timings=NEVER_REMOVED)
    (machine, _) = cluster.with_nodes(2)
    cluster.cordon("node-1")
    cluster.apply("apps/v1", "deployments", deployment("web", tolerations=[_patient(30)]))
    cluster.pass_time(4)
    ((lost, _),) = cluster.placed("app=web").items()
    cluster.client.patch("v1", "nodes", "node-1", {"spec": {"unschedulable": None}})
    cluster.machines.destroy(machine)
    cluster.pass_time(60)
    assert cluster.ready("app=web") == []
    assert not cluster.pod(lost)["metadata"].get("deletionTimestamp")
    cluster.pass_time(35)
    assert cluster.pod(lost)["metadata"]["deletionTimestamp"]
    assert [node for name, node in cluster.placed("app=web").items() if name != lost] == ["node-1"]


def test_node_that_speaks_again_is_ready_and_clean() -> None:
    cluster = LiveCluster(timings=NEVER_REMOVED)
    (machine,) = cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("stays", tolerations=[_patient(300)]))
    cluster.pass_time(4)
    cluster.machines.change(machine, registers=False)
    cluster.pass_time(60)
    assert cluster.ready() == []
    cluster.machines.change(machine, registers=True)
    cluster.pass_time(15)
    assert is_true(cluster.node("node-0"), "Ready")
    assert _taints(cluster, "node-0") == []
    assert cluster.ready() == ["stays"]


def test_cordon_becomes_a_taint_and_uncordon_removes_it() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.cordon("node-0")
    cluster.settle()
    assert _taints(cluster, "node-0") == [("node.kubernetes.io/unschedulable", "NoSchedule")]
    cluster.client.patch("v1", "nodes", "node-0", {"spec": {"unschedulable": None}})
    cluster.settle()
    assert _taints(cluster, "node-0") == []


def test_taints_of_others_are_left_alone() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    theirs = {"key": "ToBeDeletedByClusterAutoscaler", "value": "1764590400", "effect": "NoSchedule"}
    cluster.client.patch("v1", "nodes", "node-0", {"spec": {"taints": [theirs], "unschedulable": True}})
    cluster.settle()
    cluster.client.patch("v1", "nodes", "node-0", {"spec": {"unschedulable": None}})
    cluster.settle()
    assert cluster.node("node-0")["spec"]["taints"] == [theirs]


def test_no_execute_taint_removes_pods_that_do_not_tolerate_it() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    tolerant = {"key": "maintenance", "operator": "Exists"}
    cluster.apply("v1", "pods", pod("stays", tolerations=[tolerant]))
    cluster.apply("v1", "pods", pod("goes"))
    cluster.pass_time(4)
    taint = {"key": "maintenance", "effect": "NoExecute"}
    cluster.client.patch("v1", "nodes", "node-0", {"spec": {"taints": [taint]}})
    cluster.pass_time(4)
    assert [item["metadata"]["name"] for item in cluster.pods()] == ["stays"]


def test_patience_is_the_shortest_of_the_tolerations_in_use() -> None:
    taints = [{"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoExecute"}]
    for_ever = {"operator": "Exists"}
    a_while = {"key": "a", "operator": "Exists", "tolerationSeconds": 30}
    assert patience_seconds([], taints) == 0
    assert patience_seconds([a_while], taints) == 0
    assert patience_seconds([for_ever], taints) is None
    assert patience_seconds([for_ever, a_while], taints) == 30
