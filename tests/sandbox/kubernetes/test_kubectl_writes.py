"""kubectl changes objects of the sandbox as it would those of a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from exoscaler.sandbox.kubernetes import StoreClient
from exoscaler.sandbox.objects import JsonObject
from tests.sandbox.kubernetes.builders import budget, node, workload
from tests.sandbox.kubernetes.conftest import Kubectl


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
