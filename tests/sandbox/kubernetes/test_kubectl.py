"""kubectl drives the sandbox as it would a cluster."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from exoscaler.sandbox.kubernetes import KubernetesSandbox, StoreClient
from exoscaler.sandbox.kubernetes.history import Change, ChangeKind
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.sandbox.kubernetes.builders import budget, event, node, pod, workload
from tests.sandbox.kubernetes.conftest import Kubectl


def _bind(cluster: StoreClient, name: str = "p", *, labels: dict[str, str] | None = None, on: str = "n") -> None:
    """A running, ready pod of a ReplicaSet on a node."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
    body = pod(name, labels=labels)
    body["metadata"]["ownerReferences"] = [owner]
    cluster.create("v1", "pods", body, namespace="default")
    cluster.bind("default", name, on)
    container = {"name": "main", "ready": True, "restartCount": 0, "state": {"running": {}}, "image": "", "imageID": ""}
    status = {
        "phase": "Running",
        "podIP": "10.0.0.9",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [container],
    }
    cluster.patch("v1", "pods", name, {"status": status}, namespace="default", subresource="status")


@contextlib.contextmanager
def _kubelet(sandbox: KubernetesSandbox) -> Iterator[None]:
    """Finishes off every pod that is being deleted, as a node's kubelet would."""
    doomed: list[Change] = []
    wake, stop = threading.Event(), threading.Event()

    def note(change: Change) -> None:
        if change.kind is ChangeKind.MODIFIED and "deletionTimestamp" in change.after["metadata"]:
            doomed.append(change)
            wake.set()

    def run() -> None:
        while not stop.is_set():
            wake.wait(0.5)
            wake.clear()
            while doomed:
                namespace, name = doomed.pop().key
                with contextlib.suppress(ObjectError):
                    sandbox.client.delete("v1", "pods", name, namespace=namespace, grace_seconds=0)

    unsubscribe = sandbox.store.subscribe(note)
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        wake.set()
        thread.join()
        unsubscribe()


def _started(kubectl_command: list[str], *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([*kubectl_command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _cells(output: str) -> list[list[str]]:
    """The rows of a table, the columns being two spaces or more apart."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in output.splitlines()]


def test_get_shows_nodes_and_pods_as_tables(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node(labels={"node-role.kubernetes.io/worker": ""}))
    cluster.create("v1", "pods", pod("waiting"), namespace="default")
    _bind(cluster)
    header, row = _cells(kubectl("get", "nodes").stdout)
    assert header == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [row[0], row[1], row[2], row[4]] == ["n", "Ready", "worker", "v1.32.4"]
    rows = {cells[0]: cells for cells in _cells(kubectl("get", "pods", "-o", "wide").stdout)}
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
        header, row = _cells(kubectl(*command).stdout)
        assert header == ["LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
        assert [cell.lower() for cell in row[1:]] == ["warning", "failedscheduling", "pod/p", "0/1 nodes are available"]


def _applied(kubectl: Kubectl, *bodies: JsonObject, options: tuple[str, ...] = ()) -> list[str]:
    return kubectl("apply", *options, "-f", "-", stdin=yaml.safe_dump_all(bodies)).stdout.splitlines()


@pytest.mark.parametrize("options", [(), ("--server-side",)], ids=["client-side", "server-side"])
def test_apply_creates_then_changes(kubectl: Kubectl, cluster: StoreClient, options: tuple[str, ...]) -> None:
    deployment, disruption = workload(), budget()
    done = "serverside-applied" if options else "created"
    told = _applied(kubectl, deployment, disruption, options=options)
    assert told == [f"deployment.apps/web {done}", f"poddisruptionbudget.policy/b {done}"]
    deployment["spec"]["replicas"] = 3
    deployment["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "A", "value": "1"}]
    _applied(kubectl, deployment, options=options)
    stored = cluster.get("apps/v1", "deployments", "web", namespace="default")
    assert stored["spec"]["replicas"] == 3
    assert stored["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": "1"}]
    assert stored["metadata"]["generation"] == 2


def test_apply_of_the_same_again_changes_nothing_and_removals_are_removed(
    kubectl: Kubectl, cluster: StoreClient
) -> None:
    deployment = workload(replicas=2)
    deployment["spec"]["template"]["spec"]["containers"].append({"name": "side", "image": "side:1"})
    _applied(kubectl, deployment)
    assert _applied(kubectl, deployment) == ["deployment.apps/web unchanged"]
    deployment["spec"]["template"]["spec"]["containers"].pop()
    assert _applied(kubectl, deployment) == ["deployment.apps/web configured"]
    stored = cluster.get("apps/v1", "deployments", "web", namespace="default")
    assert [one["name"] for one in stored["spec"]["template"]["spec"]["containers"]] == ["main"]


def test_apply_refuses_a_misspelt_field(kubectl: Kubectl, cluster: StoreClient) -> None:
    misspelt = workload(replicaz=2)
    failed = kubectl("apply", "-f", "-", stdin=yaml.safe_dump(misspelt), check=False)
    assert failed.returncode == 1
    assert 'unknown field "spec.replicaz"' in failed.stderr
    assert cluster.list("apps/v1", "deployments") == []


def test_apply_reports_an_invalid_object(kubectl: Kubectl) -> None:
    failed = kubectl("apply", "-f", "-", stdin=yaml.safe_dump(workload(replicas=-1)), check=False)
    assert 'The Deployment "web" is invalid: spec.replicas' in failed.stderr


def test_diff_tells_what_apply_would_change(kubectl: Kubectl) -> None:
    _applied(kubectl, workload(replicas=2))
    shown = kubectl("diff", "-f", "-", stdin=yaml.safe_dump(workload(replicas=5)), check=False)
    assert shown.returncode == 1, shown.stderr
    assert "+  replicas: 5" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("deployment", "web", "--image=app:1", "--replicas=2"), "deployment.apps/web created"),
        (("job", "once", "--image=app:1", "--", "sleep", "5"), "job.batch/once created"),
        (("cronjob", "often", "--image=app:1", "--schedule=* * * * *"), "cronjob.batch/often created"),
        (("configmap", "c", "--from-literal=a=b"), "configmap/c created"),
        (("secret", "generic", "s", "--from-literal=a=b"), "secret/s created"),
        (("namespace", "team"), "namespace/team created"),
        (("service", "clusterip", "web", "--tcp=80:8080"), "service/web created"),
        (("serviceaccount", "robot"), "serviceaccount/robot created"),
        (("pdb", "b", "--selector=app=web", "--min-available=50%"), "poddisruptionbudget.policy/b created"),
        (("priorityclass", "low", "--value=-5"), "priorityclass.scheduling.k8s.io/low created"),
        (
            ("clusterrole", "reader", "--verb=get", "--resource=nodes"),
            "clusterrole.rbac.authorization.k8s.io/reader created",
        ),
        (("quota", "q", "--hard=pods=5"), "resourcequota/q created"),
        (("token", "default"), 'error: failed to create token: serviceaccounts "default" not found'),
    ],
)
def test_create_makes_objects_from_options(kubectl: Kubectl, arguments: tuple[str, ...], told: str) -> None:
    """These commands write protobuf."""
    done = kubectl("create", *arguments, check=False)
    assert (done.stdout or done.stderr).strip() == told


def test_what_create_and_run_make_is_complete(kubectl: Kubectl, cluster: StoreClient) -> None:
    kubectl("create", "deployment", "web", "--image=app:1", "--replicas=2", "--port=80")
    spec = cluster.get("apps/v1", "deployments", "web", namespace="default")["spec"]
    assert (spec["replicas"], spec["selector"]) == (2, {"matchLabels": {"app": "web"}})
    assert spec["template"]["spec"]["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    kubectl("run", "solo", "--image=app:1", "--labels=a=b", "--env=X=1")
    solo = cluster.get("v1", "pods", "solo", namespace="default")
    assert solo["metadata"]["labels"] == {"a": "b"}
    assert solo["spec"]["containers"][0]["env"] == [{"name": "X", "value": "1"}]
    taken = kubectl("create", "deployment", "web", "--image=app:1", check=False)
    assert taken.stderr.strip() == 'error: failed to create deployment: deployments.apps "web" already exists'


def test_delete_waits_until_the_pod_is_gone(kubectl: Kubectl, cluster: StoreClient, sandbox: KubernetesSandbox) -> None:
    _bind(cluster)
    with _kubelet(sandbox):
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
        _bind(cluster, name)
    with _kubelet(sandbox):
        told = kubectl("drain", "n", "--ignore-daemonsets", "--timeout=20s").stdout
    assert "node/n drained" in told
    assert [found["metadata"]["name"] for found in cluster.list("v1", "pods")] == ["daemon"]
    assert sandbox.calls.counts()["create pods/eviction"] == 2
    assert cluster.get("v1", "nodes", "n")["spec"]["unschedulable"] is True


def test_drain_stops_at_a_budget(kubectl_command: list[str], cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    _bind(cluster, labels={"app": "web"})
    cluster.create("policy/v1", "poddisruptionbudgets", budget(), namespace="default")
    status = {"status": {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "disruptionsAllowed": 0}}
    cluster.patch("policy/v1", "poddisruptionbudgets", "b", status, namespace="default", subresource="status")
    with _started(kubectl_command, "drain", "n") as process:
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


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("merge", '{"spec": {"replicas": 4}}'),
        ("strategic", '{"spec": {"replicas": 4}}'),
        ("json", '[{"op": "replace", "path": "/spec/replicas", "value": 4}]'),
    ],
)
def test_patch_in_three_formats(kubectl: Kubectl, cluster: StoreClient, kind: str, patch: str) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    kubectl("patch", "deployment", "web", f"--type={kind}", "-p", patch)
    assert cluster.get("apps/v1", "deployments", "web", namespace="default")["spec"]["replicas"] == 4


def test_patch_of_the_status(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("v1", "nodes", node())
    kubectl(
        "patch", "node", "n", "--subresource=status", "--type=merge", "-p", '{"status": {"capacity": {"cpu": "9"}}}'
    )
    assert cluster.get("v1", "nodes", "n")["status"]["capacity"]["cpu"] == "9"


def test_scale_and_set_image(kubectl: Kubectl, cluster: StoreClient) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    kubectl("scale", "deployment", "web", "--replicas=7")
    refused = kubectl("scale", "deployment", "web", "--replicas=1", "--current-replicas=3", check=False)
    assert refused.returncode == 1
    kubectl("set", "image", "deployment/web", "main=app:9")
    spec = cluster.get("apps/v1", "deployments", "web", namespace="default")["spec"]
    assert spec["replicas"] == 7
    assert spec["template"]["spec"]["containers"][0]["image"] == "app:9"


def _once_watched(sandbox: KubernetesSandbox, then: Callable[[], object]) -> None:
    """Do something as soon as a watch is open."""
    deadline = threading.Event()
    for _ in range(200):
        if any(call.verb == "watch" for call in sandbox.calls.calls()):
            then()
            return
        deadline.wait(0.05)
    pytest.fail("no watch was opened")


def test_rollout_status_follows_the_deployment(
    kubectl_command: list[str], cluster: StoreClient, sandbox: KubernetesSandbox
) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    ready = {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1, "readyReplicas": 1}

    def finish() -> None:
        cluster.patch("apps/v1", "deployments", "web", {"status": ready}, namespace="default", subresource="status")

    with _started(kubectl_command, "rollout", "status", "deployment/web", "--timeout=15s") as process:
        _once_watched(sandbox, finish)
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

    with _started(kubectl_command, "wait", "--for=condition=Ready", "node/n", "--timeout=15s") as process:
        _once_watched(sandbox, become_ready)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (0, "node/n condition met\n"), err


def test_access_logs_and_versions(kubectl: Kubectl, cluster: StoreClient) -> None:
    assert kubectl("auth", "can-i", "delete", "nodes").stdout == "yes\n"
    assert "Server Version: v1.32.4" in kubectl("version").stdout
    assert "pods" in kubectl("api-resources", "--verbs=list", "-o", "name").stdout.split()
    assert "events.k8s.io/v1" in kubectl("api-versions").stdout.split()
    _bind(cluster)
    assert "default/p main" in kubectl("logs", "p").stdout


def test_replace_and_edit_with_a_stale_version_fail(kubectl: Kubectl, cluster: StoreClient, tmp_path: Path) -> None:
    cluster.create("apps/v1", "deployments", workload(), namespace="default")
    stale = cluster.get("apps/v1", "deployments", "web", namespace="default")
    cluster.patch("apps/v1", "deployments", "web", {"spec": {"replicas": 2}}, namespace="default")
    file = tmp_path / "web.json"
    file.write_text(json.dumps(stale))
    failed = kubectl("replace", "-f", str(file), check=False)
    assert "the object has been modified" in failed.stderr
    stale["metadata"].pop("resourceVersion")
    file.write_text(json.dumps(stale))
    assert kubectl("replace", "-f", str(file)).stdout == "deployment.apps/web replaced\n"
