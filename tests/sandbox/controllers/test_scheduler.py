"""What the scheduler does with pods: order, binding, conditions, events."""

from __future__ import annotations

from exoscaler.sandbox.controllers.conditions import condition
from tests.sandbox.controllers.cluster import LiveCluster
from tests.sandbox.controllers.manifests import pod


def test_pod_that_fits_nowhere_gets_the_condition_and_one_event() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    cluster.machines.add("tainted")
    cluster.pass_time(20)
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    cluster.client.patch("v1", "nodes", "tainted", {"spec": {"taints": [taint]}})
    cluster.apply("v1", "pods", pod("big", cpu="16"))
    cluster.pass_time(10)
    scheduled = condition(cluster.pod("big"), "PodScheduled")
    message = (
        "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: 0/3 nodes are "
        "available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod."
    )
    assert scheduled is not None
    assert (scheduled["status"], scheduled["reason"], scheduled["message"]) == ("False", "Unschedulable", message)
    (event,) = cluster.events("FailedScheduling")
    assert (event["type"], event["message"], event["count"]) == ("Warning", message, 1)
    assert event["involvedObject"]["uid"] == cluster.pod("big")["metadata"]["uid"]


def test_event_of_a_pod_that_keeps_waiting_counts_up() -> None:
    cluster = LiveCluster()
    cluster.apply("v1", "pods", pod("early"))
    cluster.pass_time(130)
    (event,) = cluster.events("FailedScheduling")
    assert event["message"] == "no nodes available to schedule pods"
    assert event["count"] == 3  # at the start, after one minute, after two
    assert event["lastTimestamp"] > event["firstTimestamp"]


def test_restarted_scheduler_counts_on_in_the_same_event() -> None:
    cluster = LiveCluster()
    cluster.apply("v1", "pods", pod("early"))
    cluster.settle()
    cluster.restart()
    cluster.settle()
    (event,) = cluster.events("FailedScheduling")
    assert event["count"] == 2


def test_waiting_pod_is_bound_when_a_node_appears() -> None:
    cluster = LiveCluster()
    cluster.apply("v1", "pods", pod("early"))
    cluster.settle()
    cluster.with_nodes(1)
    assert cluster.placed() == {"early": "node-0"}
    scheduled = condition(cluster.pod("early"), "PodScheduled")
    assert scheduled is not None
    assert scheduled["status"] == "True"
    (event,) = cluster.events("Scheduled")
    assert event["message"] == "Successfully assigned default/early to node-0"


def test_higher_priority_goes_first_then_the_older() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.client.create("scheduling.k8s.io/v1", "priorityclasses", {"metadata": {"name": "urgent"}, "value": 1000})
    # Room for one of them: 1700m are allocatable.
    cluster.apply("v1", "pods", pod("old", cpu="1"))
    cluster.clock.advance(1)
    cluster.apply("v1", "pods", pod("young", cpu="1"))
    cluster.apply("v1", "pods", pod("urgent", cpu="1", priorityClassName="urgent", priority=1000))
    cluster.settle()
    assert cluster.placed() == {"urgent": "node-0"}
    cluster.delete_pod("urgent", grace_seconds=0)
    cluster.settle()
    assert cluster.placed() == {"old": "node-0"}


def test_gated_pod_is_not_scheduled_before_its_gates_are_gone() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("gated", schedulingGates=[{"name": "example.com/wait"}]))
    cluster.settle()
    scheduled = condition(cluster.pod("gated"), "PodScheduled")
    assert scheduled is not None
    assert scheduled["reason"] == "SchedulingGated"
    assert cluster.placed() == {}
    cluster.client.patch("v1", "pods", "gated", {"spec": {"schedulingGates": None}}, namespace="default")
    cluster.settle()
    assert cluster.placed() == {"gated": "node-0"}


def test_pod_of_another_scheduler_is_left_alone() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("theirs", schedulerName="theirs"))
    cluster.settle()
    assert cluster.placed() == {}
    assert condition(cluster.pod("theirs"), "PodScheduled") is None


def test_pods_spread_over_equal_nodes() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(3)
    for number in range(6):
        cluster.apply("v1", "pods", pod(f"p{number}", cpu="200m"))
    cluster.settle()
    assert sorted(cluster.placed().values()) == ["node-0", "node-0", "node-1", "node-1", "node-2", "node-2"]


def test_node_that_is_to_go_is_avoided_while_there_is_another() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    soft = {"key": "DeletionCandidateOfClusterAutoscaler", "value": "1", "effect": "PreferNoSchedule"}
    cluster.client.patch("v1", "nodes", "node-0", {"spec": {"taints": [soft]}})
    for number in range(3):
        cluster.apply("v1", "pods", pod(f"p{number}", cpu="700m"))
    cluster.settle()
    assert sorted(cluster.placed().values()) == ["node-0", "node-1", "node-1"]


def test_preferred_node_affinity_decides_between_nodes_that_fit() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    wish = {"weight": 10, "preference": {"matchFields": [_named("node-1")]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}
    cluster.apply("v1", "pods", pod("a", affinity=affinity))
    cluster.apply("v1", "pods", pod("b", affinity=affinity))
    cluster.settle()
    assert cluster.placed() == {"a": "node-1", "b": "node-1"}


def test_pods_of_one_round_see_each_other() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(2)
    apart = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [apart]}}
    for number in range(3):
        cluster.apply("v1", "pods", pod(f"p{number}", labels={"app": "web"}, affinity=affinity))
    cluster.settle()
    assert sorted(cluster.placed().values()) == ["node-0", "node-1"]


def test_pod_without_affinity_does_not_inherit_the_verdict_of_one_placed_beside_it() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    near = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    cluster.apply("v1", "pods", pod("a-follower", labels={"app": "web"}, affinity=affinity))
    cluster.apply("v1", "pods", pod("b-leader", labels={"app": "db"}))
    cluster.apply("v1", "pods", pod("c-follower", labels={"app": "web"}, affinity=affinity))
    cluster.round()
    assert cluster.placed() == {"b-leader": "node-0", "c-follower": "node-0"}
    cluster.settle()
    assert cluster.placed()["a-follower"] == "node-0"


def test_cordoned_node_takes_no_pods() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.cordon("node-0")
    cluster.apply("v1", "pods", pod("late"))
    cluster.settle()
    assert cluster.placed() == {}
    scheduled = condition(cluster.pod("late"), "PodScheduled")
    assert scheduled is not None
    assert "1 node(s) were unschedulable" in scheduled["message"]


def _named(node: str) -> dict[str, object]:
    return {"key": "metadata.name", "operator": "In", "values": [node]}
