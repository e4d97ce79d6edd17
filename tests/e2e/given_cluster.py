"""A cluster that is there already: which controllers it has, and leaving it as it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from exoscaler.sandbox.controllers import CONTROLLER_GROUPS
from exoscaler.sandbox.kubernetes import HttpObjectClient
from exoscaler.sandbox.objects import JsonObject, ObjectClient, ObjectError

PROBE = "exoscaler-probe"
PROBE_SECONDS = 8
SCHEDULER = "scheduler"
FORBIDDEN = 403
STATE = "exoscaler-test-state"


def missing_controllers(kubeconfig: Path) -> tuple[str, ...]:
    """The sandbox's controllers that the cluster lacks: a bare API server lacks all, a whole cluster none."""
    with closing(HttpObjectClient.from_kubeconfig(kubeconfig)) as cluster:
        has_workloads, has_scheduler = _has_workload_controllers(cluster), _has_scheduler(cluster)
    groups = () if has_workloads else tuple(group for group in CONTROLLER_GROUPS if group != SCHEDULER)
    return groups if has_scheduler else (*groups, SCHEDULER)


def _has_workload_controllers(cluster: ObjectClient) -> bool:
    cluster.create("apps/v1", "deployments", _deployment(), namespace="default")
    try:
        return _within(PROBE_SECONDS, lambda: bool(_replica_sets(cluster)))
    finally:
        cluster.delete("apps/v1", "deployments", PROBE, namespace="default")


def _has_scheduler(cluster: ObjectClient) -> bool:
    _create_probe_pod(cluster)
    try:
        return _within(PROBE_SECONDS, lambda: _was_tried(cluster))
    finally:
        cluster.delete("v1", "pods", PROBE, namespace="default", grace_seconds=0)


def _create_probe_pod(cluster: ObjectClient) -> None:
    try:
        cluster.create("v1", "pods", _pod(), namespace="default")
    except ObjectError as error:
        # Without its controller a bare API server has no service account to run the pod as.
        if error.status != FORBIDDEN:
            raise
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
        cluster.create("v1", "serviceaccounts", account, namespace="default")
        cluster.create("v1", "pods", _pod(), namespace="default")


def leave_as_it_was(kubeconfig: Path) -> None:
    """Delete the sandbox's nodes and the test's state from the cluster."""
    with closing(HttpObjectClient.from_kubeconfig(kubeconfig)) as cluster:
        for node in cluster.list("v1", "nodes"):
            if str(node["spec"].get("providerID", "")).startswith("exoscale://"):
                cluster.delete("v1", "nodes", node["metadata"]["name"])
        with suppress(ObjectError):
            cluster.delete("v1", "configmaps", STATE, namespace="kube-system")


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.2)
    return False


def _replica_sets(cluster: ObjectClient) -> list[JsonObject]:
    return cluster.list("apps/v1", "replicasets", namespace="default", labels=f"app={PROBE}")


def _was_tried(cluster: ObjectClient) -> bool:
    pod = cluster.get("v1", "pods", PROBE, namespace="default")
    return bool(pod["spec"].get("nodeName") or pod.get("status", {}).get("conditions"))


def _template() -> JsonObject:
    # No node has this label, so the scheduler can only say so.
    spec = {"nodeSelector": {PROBE: "nowhere"}, "containers": [{"name": "probe", "image": "registry.example/probe"}]}
    return {"metadata": {"labels": {"app": PROBE}}, "spec": spec}


def _deployment() -> JsonObject:
    spec = {"replicas": 0, "selector": {"matchLabels": {"app": PROBE}}, "template": _template()}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": PROBE}, "spec": spec}


def _pod() -> JsonObject:
    return {"apiVersion": "v1", "kind": "Pod", **_template(), "metadata": {"name": PROBE}}
