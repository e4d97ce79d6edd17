"""From an instance that runs to a node that pods can use, and back."""

from __future__ import annotations

import pytest

from exoscaler.sandbox.controllers.conditions import condition, is_true
from exoscaler.sandbox.machines import FleetTimings, MachineState, MachineTaint
from exoscaler.sandbox.machines.nodes import NODEPOOL_LABEL, UNINITIALIZED
from tests.sandbox.controllers.cluster import GIB, LiveCluster
from tests.sandbox.controllers.manifests import pod

MIB = 2**20
TIMINGS = FleetTimings(register=3, initialise=2, ready=6, remove=5)


def test_node_registers_a_while_after_its_machine_runs() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0", state=MachineState.STARTING)
    cluster.pass_time(10)
    assert cluster.node_names() == []
    cluster.machines.change(machine, state=MachineState.RUNNING)
    cluster.pass_time(3)
    assert cluster.node_names() == []
    cluster.pass_time(1)
    assert cluster.node_names() == ["general-0"]


def test_young_node_is_uninitialized_and_not_ready() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("Pool-ABC-xyz")
    cluster.pass_time(4)
    node = cluster.node("pool-abc-xyz")
    assert not node["spec"].get("providerID")
    assert node["status"]["nodeInfo"]["systemUUID"] == machine.id
    assert (UNINITIALIZED, "NoSchedule") in {(taint["key"], taint["effect"]) for taint in node["spec"]["taints"]}
    ready = condition(node, "Ready")
    assert ready is not None
    assert (ready["status"], ready["reason"]) == ("False", "KubeletNotReady")
    assert "node.kubernetes.io/instance-type" not in node["metadata"]["labels"]


def test_cloud_controller_names_the_instance_before_the_node_is_ready() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0", type_name="cpu.huge", zone="de-fra-1")
    cluster.pass_time(7)
    node = cluster.node("general-0")
    assert node["spec"]["providerID"] == f"exoscale://{machine.id}"
    assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "cpu.huge"
    assert node["metadata"]["labels"]["topology.kubernetes.io/region"] == "de-fra-1"
    assert not is_true(node, "Ready")
    keys = {taint["key"] for taint in node["spec"]["taints"]}
    assert keys == {"node.kubernetes.io/not-ready"}


def test_ready_node_has_no_taints_but_those_of_its_pool() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("general-0", taints=(MachineTaint("team", "a", "NoSchedule"),), labels={"team": "a"})
    cluster.pass_time(12)
    node = cluster.node("general-0")
    assert is_true(node, "Ready")
    assert node["spec"]["taints"] == [{"key": "team", "value": "a", "effect": "NoSchedule"}]
    labels = node["metadata"]["labels"]
    assert (labels["team"], labels[NODEPOOL_LABEL]) == ("a", "nodepool")
    assert labels["kubernetes.io/hostname"] == "general-0"
    assert [event["involvedObject"]["name"] for event in cluster.events("NodeReady")] == ["general-0"]


def test_machine_of_a_standalone_pool_has_no_nodepool_label() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("batch-0", nodepool_id="")
    cluster.pass_time(5)
    assert NODEPOOL_LABEL not in cluster.node("batch-0")["metadata"]["labels"]


def test_allocatable_is_capacity_less_the_flat_reservations() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("general-0", cpus=4, memory_bytes=8 * GIB, disk_gib=50, max_pods=64)
    cluster.pass_time(5)
    status = cluster.node("general-0")["status"]
    assert status["capacity"]["cpu"] == "4"
    assert status["allocatable"] == {
        "cpu": "3700m",
        "memory": f"{(8 * GIB - 500 * MIB) // 1024}Ki",
        "ephemeral-storage": str(46 * GIB),
        "pods": "64",
    }


def test_gpus_are_published_some_time_after_the_node_is_ready() -> None:
    cluster = LiveCluster(timings=FleetTimings(register=1, ready=1, devices=8))
    cluster.machines.add("gpu-0", gpus=2)
    cluster.pass_time(6)
    assert is_true(cluster.node("gpu-0"), "Ready")
    assert "nvidia.com/gpu" not in cluster.node("gpu-0")["status"]["allocatable"]
    cluster.pass_time(8)
    status = cluster.node("gpu-0")["status"]
    assert (status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]) == ("2", "2")


def test_machine_whose_kubelet_never_comes_up_has_no_node() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("broken-0", registers=False)
    cluster.pass_time(60)
    assert cluster.node_names() == []


@pytest.mark.parametrize("seconds", [1, 5, 8])
def test_node_vanishes_after_its_instance_is_destroyed(seconds: int) -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0")
    # In whatever state of its youth the node is.
    cluster.pass_time(3 + seconds)
    assert cluster.node_names() == ["general-0"]
    cluster.machines.destroy(machine)
    cluster.pass_time(4)
    assert cluster.node_names() == ["general-0"]
    cluster.pass_time(2)
    assert cluster.node_names() == []


def test_node_of_a_machine_that_is_being_destroyed_stays_until_it_is_gone() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0")
    cluster.pass_time(12)
    cluster.machines.change(machine, state=MachineState.DESTROYING)
    cluster.pass_time(20)
    assert cluster.node_names() == ["general-0"]


def test_nodes_of_another_provider_are_left_alone() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    for name, provider in (("elsewhere", "aws:///eu-1a/i-1"), ("static", "")):
        body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "spec": {"providerID": provider}}
        cluster.client.create("v1", "nodes", body)
    cluster.pass_time(30)
    assert cluster.node_names() == ["elsewhere", "static"]


def test_deleted_node_comes_back_only_when_its_kubelet_starts_anew() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("general-0")
    cluster.pass_time(12)
    cluster.client.delete("v1", "nodes", "general-0")
    cluster.pass_time(20)
    assert cluster.node_names() == []
    cluster.restart()
    cluster.pass_time(12)
    assert is_true(cluster.node("general-0"), "Ready")


def test_new_instance_replaces_the_node_of_one_that_had_its_name() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0")
    cluster.pass_time(12)
    cluster.machines.destroy(machine)
    successor = cluster.machines.add("general-0", id="00000000-0000-4000-8000-00000000beef")
    cluster.pass_time(16)
    assert cluster.node("general-0")["spec"]["providerID"] == f"exoscale://{successor.id}"


def test_kubelets_that_start_anew_do_not_make_ready_nodes_unready() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("general-0")
    cluster.apply("v1", "pods", pod("runs"))
    cluster.pass_time(15)
    since = condition(cluster.node("general-0"), "Ready")
    uid = cluster.pod("runs")["metadata"]["uid"]
    cluster.restart()
    cluster.pass_time(15)
    again = condition(cluster.node("general-0"), "Ready")
    assert since is not None
    assert again is not None
    assert again["lastTransitionTime"] == since["lastTransitionTime"]
    assert cluster.pod("runs")["metadata"]["uid"] == uid
    assert cluster.ready() == ["runs"]


def test_heartbeat_is_the_lease_and_the_status_is_reported_rarely() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    cluster.machines.add("general-0")
    cluster.pass_time(15)
    lease = cluster.client.get("coordination.k8s.io/v1", "leases", "general-0", namespace="kube-node-lease")
    reported = condition(cluster.node("general-0"), "Ready")
    cluster.pass_time(30)
    renewed = cluster.client.get("coordination.k8s.io/v1", "leases", "general-0", namespace="kube-node-lease")
    assert renewed["spec"]["renewTime"] > lease["spec"]["renewTime"]
    assert lease["metadata"]["ownerReferences"][0]["uid"] == cluster.node("general-0")["metadata"]["uid"]
    assert condition(cluster.node("general-0"), "Ready") == reported
    cluster.pass_time(300)
    later = condition(cluster.node("general-0"), "Ready")
    assert reported is not None
    assert later is not None
    assert later["lastHeartbeatTime"] > reported["lastHeartbeatTime"]


def test_lease_goes_with_its_node() -> None:
    cluster = LiveCluster(timings=TIMINGS)
    machine = cluster.machines.add("general-0")
    cluster.pass_time(15)
    cluster.machines.destroy(machine)
    cluster.pass_time(10)
    assert cluster.client.list("coordination.k8s.io/v1", "leases", namespace="kube-node-lease") == []
