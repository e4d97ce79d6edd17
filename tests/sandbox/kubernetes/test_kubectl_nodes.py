"""kubectl empties and marks nodes."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes import KubernetesSandbox, StoreClient
from tests.sandbox.kubernetes.builders import budget, node, pod, workload
from tests.sandbox.kubernetes.conftest import Kubectl
from tests.sandbox.kubernetes.scenes import kubelet, run_pod, started


def test_delete_waits_until_the_pod_is_gone(kubectl: Kubectl, cluster: StoreClient, sandbox: KubernetesSandbox) -> None:
    run_pod(cluster)
    with kubelet(sandbox):
        assert kubectl("delete", "pod", "p", "--timeout=10s").stdout == 'pod "p" deleted\n'
    assert cluster.list("v1", "pods") == []
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    assert kubectl("delete", "deployment", "web").stdout == 'deployment.apps "web" deleted\n'


def test_cordon_and_uncordon(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    assert kubectl("cordon", "n").stdout == "node/n cordoned\n"
    assert cluster.get("v1", "nodes", "n")["spec"]["unschedulable"] is True
    assert kubectl("uncordon", "n").stdout == "node/n uncordoned\n"
    assert not cluster.get("v1", "nodes", "n")["spec"].get("unschedulable")


def test_drain_evicts_what_runs_and_leaves_daemons(
    kubectl: Kubectl, cluster: StoreClient, sandbox: KubernetesSandbox
) -> None:
    cluster.create("v1", "nodes", node())
    daemon_set = cluster.create("apps/v1", "daemonsets", workload("DaemonSet", name="agent"), namespace="default")
    uid = daemon_set["metadata"]["uid"]
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": uid, "controller": True}
    daemon = pod("daemon")
    daemon["metadata"]["ownerReferences"] = [owner]
    cluster.create("v1", "pods", daemon, namespace="default")
    cluster.bind("default", "daemon", "n")
    for name in ("a", "b"):
        run_pod(cluster, name)
    with kubelet(sandbox):
        told = kubectl("drain", "n", "--ignore-daemonsets", "--timeout=20s").stdout
    assert "node/n drained" in told
    assert [found["metadata"]["name"] for found in cluster.list("v1", "pods")] == ["daemon"]
    assert sandbox.calls.counts()["create pods/eviction"] == 2
    assert cluster.get("v1", "nodes", "n")["spec"]["unschedulable"] is True


def test_drain_stops_at_a_budget(kubectl_command: list[str], cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    run_pod(cluster, labels={"app": "web"})
    cluster.create("policy/v1", "poddisruptionbudgets", budget(), namespace="default")
    status = {"status": {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0}}
    cluster.patch("policy/v1", "poddisruptionbudgets", "b", status, namespace="default", subresource="status")
    with started(kubectl_command, "drain", "n") as process:
        assert process.stderr is not None
        told = next(line for line in process.stderr if "will retry" in line)
        process.terminate()
    assert "Cannot evict pod as it would violate the pod's disruption budget." in told
    assert "deletionTimestamp" not in cluster.get("v1", "pods", "p", namespace="default")["metadata"]


def test_taint_label_and_annotate(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    kubectl("taint", "node", "n", "a=1:NoSchedule", "b=2:NoExecute")
    kubectl("taint", "node", "n", "a-")
    kubectl("label", "node", "n", "x=y", "z=w")
    kubectl("label", "node", "n", "z-")
    kubectl("annotate", "node", "n", "note=some text")
    stored = cluster.get("v1", "nodes", "n")
    assert stored["spec"]["taints"] == [{"key": "b", "value": "2", "effect": "NoExecute"}]
    assert stored["metadata"]["labels"] == {"x": "y"}
    assert stored["metadata"]["annotations"] == {"note": "some text"}
    refused = kubectl("label", "node", "n", "x=other", check=False)
    assert "already has a value (y)" in refused.stderr
