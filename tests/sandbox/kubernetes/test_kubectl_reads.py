"""kubectl looks at the sandbox as it would at a cluster."""

from __future__ import annotations

import json
import subprocess

import yaml

from exoscaler.sandbox.kubernetes import KubernetesSandbox, StoreClient
from tests.sandbox.kubernetes.builders import event, node, pod, workload
from tests.sandbox.kubernetes.conftest import Kubectl
from tests.sandbox.kubernetes.scenes import cells_of, once_watched, run_pod, started


def test_get_shows_nodes_and_pods_as_tables(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(labels={"node-role.kubernetes.io/worker": ""}))
    cluster.create("v1", "pods", pod("waiting"), namespace="default")
    run_pod(cluster)
    header, row = cells_of(kubectl("get", "nodes").stdout)
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[0], row[1], row[2], row[4]] == ["n", "Ready", "worker", "v1.32.4"]
    rows = {cells[0]: cells for cells in cells_of(kubectl("get", "pods", "-o", "wide").stdout)}
    assert rows["NAME"][:7] == ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE"]
    assert rows["p"][1:4] == ["1/1", "Running", "0"]
    assert rows["p"][5:7] == ["10.0.0.9", "n"]
    assert rows["waiting"][1:3] == ["0/1", "Pending"]


def test_get_selects_sorts_and_prints_objects(kubectl: Kubectl, cluster: StoreClient) -> None:
    for name, app in (("a", "x"), ("b", "y"), ("c", "x")):
        cluster.create("v1", "pods", pod(name, labels={"app": app}), namespace="default")
    assert kubectl("get", "pods", "-l", "app in (x)", "-o", "name").stdout.split() == ["pod/a", "pod/c"]
    assert kubectl("get", "po", "--field-selector=metadata.name=b", "-o", "name").stdout.split() == ["pod/b"]
    parsed = yaml.safe_load(kubectl("get", "pod", "a", "-o", "yaml").stdout)
    assert (parsed["kind"], parsed["apiVersion"], parsed["status"]["phase"]) == ("Pod", "v1", "Pending")
    paged = json.loads(kubectl("get", "pods", "-A", "--chunk-size=2", "-o", "json").stdout)
    assert [item["metadata"]["name"] for item in paged["items"]] == ["a", "b", "c"]
    missing = kubectl("get", "pod", "gone", check=False)
    assert missing.returncode == 1
    assert missing.stderr.strip() == 'Error from server (NotFound): pods "gone" not found'
    assert "No resources found in default namespace." in kubectl("get", "deployments").stderr


def test_get_all_finds_what_belongs_together(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    cluster.create("batch/v1", "jobs", workload("Job", name="once"), namespace="default")
    names = kubectl("get", "all", "-o", "name").stdout.split()
    assert names == ["deployment.apps/web", "job.batch/once"]


def test_get_watches_until_it_is_stopped(kubectl_command: list[str], cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node("a"))
    command = [*kubectl_command, "get", "nodes", "-w"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines.append(line)
            if len(lines) == 2:
                cluster.patch("v1", "nodes", "a", {"spec": {"unschedulable": True}})
            if len(lines) == 3:
                break
        process.terminate()
    assert lines[0].split()[:2] == ["NAME", "STATUS"]
    assert [line.split()[1] for line in lines[1:]] == ["Ready", "Ready,SchedulingDisabled"]


def test_describe_node_sums_up_its_pods(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(taints=[{"key": "a", "value": "b", "effect": "NoSchedule"}]))
    resources = {"requests": {"cpu": "500m", "memory": "1Gi"}}
    body = pod(containers=[{"name": "main", "image": "a:1", "resources": resources}])
    cluster.create("v1", "pods", body, namespace="default")
    cluster.bind("default", "p", "n")
    text = kubectl("describe", "node", "n").stdout
    assert "a=b:NoSchedule" in text
    assert "Non-terminated Pods:          (1 in total)" in text
    assert "500m (12%)" in text
    assert "KubeletReady" in text


def test_describe_pod_shows_its_events(kubectl: Kubectl, cluster: StoreClient) -> None:
    created = cluster.create("v1", "pods", pod(), namespace="default")
    involved = {"kind": "Pod", "namespace": "default", "name": "p", "uid": created["metadata"]["uid"]}
    cluster.create("v1", "events", event(involvedObject=involved), namespace="default")
    text = kubectl("describe", "pod", "p").stdout
    assert "Status:           Pending" in text
    assert "FailedScheduling" in text
    assert "0/1 nodes are available" in text
    assert "node.kubernetes.io/not-ready:NoExecute op=Exists for 300s" in text


def test_events_are_listed(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "events", event(), namespace="default")
    for command in (("get", "events"), ("events",)):
        header, row = cells_of(kubectl(*command).stdout)
        assert header == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
        assert [cell.lower() for cell in row[1:]] == ["warning", "failedscheduling", "pod/p", "0/1 nodes are available"]


def test_rollout_status_follows_the_deployment(
    kubectl_command: list[str], cluster: StoreClient, sandbox: KubernetesSandbox
) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    ready = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}

    def finish() -> None:
        cluster.patch("apps/v1", "deployments", "web", {"status": ready}, namespace="default", subresource="status")

    with started(kubectl_command, "rollout", "status", "deployment/web", "--timeout=15s") as process:
        once_watched(sandbox, finish)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    assert 'deployment "web" successfully rolled out' in out


def test_wait_sees_a_condition_come_true(
    kubectl_command: list[str], cluster: StoreClient, sandbox: KubernetesSandbox
) -> None:
    unready = node()
    unready["status"]["conditions"][0]["status"] = "False"
    cluster.create("v1", "nodes", unready)

    def become_ready() -> None:
        conditions = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        cluster.patch("v1", "nodes", "n", conditions, subresource="status")

    with started(kubectl_command, "wait", "--for=condition=Ready", "node/n", "--timeout=15s") as process:
        once_watched(sandbox, become_ready)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "node/n condition met\n"), err


def test_access_logs_and_versions(kubectl: Kubectl, cluster: StoreClient) -> None:
    assert kubectl("auth", "can-i", "delete", "nodes").stdout == "yes\n"
    assert "Server Version: v1.32.4" in kubectl("version").stdout
    assert "pods" in kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    assert "events.k8s.io/v1" in kubectl("api-versions").stdout.split()
    run_pod(cluster)
    assert "default/p main" in kubectl("logs", "p").stdout
