"""What kubelets do with the pods bound to their nodes."""

from __future__ import annotations

from exoscaler.sandbox.controllers.conditions import condition, is_true
from exoscaler.sandbox.machines.pod_runner import RUN_SECONDS, START_SECONDS, STOP_SECONDS
from tests.sandbox.controllers.cluster import NAMESPACE, LiveCluster
from tests.sandbox.controllers.manifests import pod


def test_bound_pod_is_created_and_then_runs() -> None:
    cluster = LiveCluster()
    (machine,) = cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("web", annotations={START_SECONDS: "5"}))
    cluster.pass_time(1)
    status = cluster.pod("web")["status"]
    assert status["phase"] == "Pending"
    assert status["hostIP"] == machine.address
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "ContainerCreating"}}
    cluster.pass_time(5)
    status = cluster.pod("web")["status"]
    assert status["phase"] == "Running"
    assert "running" in status["containerStatuses"][0]["state"]
    for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled"):
        assert is_true(cluster.pod("web"), kind)


def test_running_pods_have_addresses_of_their_own() -> None:
    cluster = LiveCluster()
    (machine, _) = cluster.with_nodes(2)
    for number in range(6):
        cluster.apply("v1", "pods", pod(f"p{number}", hostNetwork=number == 0, nodeSelector=None))
    cluster.pass_time(4)
    addresses = [item["status"]["podIP"] for item in cluster.pods()]
    assert len(set(addresses)) == 6
    assert addresses[0] in {machine.address, "10.0.0.2"}


def test_init_containers_have_ended_when_the_pod_runs_and_sidecars_have_not() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    first = {"name": "first", "image": "registry.example/init:1"}
    sidecar = {"name": "proxy", "image": "registry.example/proxy:1", "restartPolicy": "Always"}
    cluster.apply("v1", "pods", pod("web", initContainers=[first, sidecar]))
    cluster.pass_time(4)
    states = [status["state"] for status in cluster.pod("web")["status"]["initContainerStatuses"]]
    assert states[0]["terminated"]["exitCode"] == 0
    assert "running" in states[1]


def test_pod_without_restarts_ends_by_itself() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("task", restartPolicy="Never", annotations={RUN_SECONDS: "10"}))
    cluster.pass_time(10)
    assert cluster.pod("task")["status"]["phase"] == "Running"
    cluster.pass_time(4)
    status = cluster.pod("task")["status"]
    assert status["phase"] == "Succeeded"
    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    ready = condition(cluster.pod("task"), "Ready")
    assert ready is not None
    assert (ready["status"], ready["reason"]) == ("False", "PodCompleted")


def test_deleted_pod_takes_its_time_to_stop() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("web", annotations={STOP_SECONDS: "8"}, terminationGracePeriodSeconds=30))
    cluster.pass_time(4)
    cluster.delete_pod("web")
    cluster.pass_time(7)
    assert cluster.pod("web")["metadata"]["deletionTimestamp"]
    assert cluster.pod("web")["status"]["phase"] == "Running"
    cluster.pass_time(2)
    assert cluster.pods() == []


def test_pod_is_killed_when_its_grace_ends_before_it_has_stopped() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("slow", annotations={STOP_SECONDS: "600"}, terminationGracePeriodSeconds=5))
    cluster.pass_time(4)
    cluster.delete_pod("slow")
    cluster.pass_time(7)
    assert cluster.pods() == []


def test_pod_with_a_finalizer_ends_but_stays_until_it_is_released() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("held", finalizers=["example.com/hold"]))
    cluster.pass_time(4)
    cluster.delete_pod("held")
    cluster.pass_time(6)
    assert cluster.pod("held")["status"]["phase"] == "Failed"
    cluster.client.patch("v1", "pods", "held", {"metadata": {"finalizers": None}}, namespace=NAMESPACE)
    cluster.settle()
    assert cluster.pods() == []


def test_pods_do_not_start_on_a_node_without_a_network_unless_they_use_the_hosts() -> None:
    cluster = LiveCluster()
    (machine,) = cluster.with_nodes(1)
    cluster.machines.change(machine, registers=False)
    cluster.pass_time(60)
    cluster.apply("v1", "pods", pod("late", nodeName="node-0", tolerations=[{"operator": "Exists"}]))
    cluster.pass_time(10)
    assert "startTime" not in cluster.pod("late")["status"]


def test_pod_of_a_machine_that_is_gone_is_not_touched() -> None:
    cluster = LiveCluster()
    (machine,) = cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("web"))
    cluster.pass_time(4)
    cluster.machines.destroy(machine)
    cluster.delete_pod("web")
    cluster.pass_time(8)
    # Nobody is there to confirm that it has stopped.
    assert cluster.pod("web")["metadata"]["deletionTimestamp"]


def test_pod_started_before_a_restart_of_everything_runs_after_it() -> None:
    cluster = LiveCluster()
    cluster.with_nodes(1)
    cluster.apply("v1", "pods", pod("web", annotations={START_SECONDS: "5"}))
    cluster.pass_time(3)
    cluster.restart()
    cluster.pass_time(12)
    assert cluster.ready() == ["web"]
