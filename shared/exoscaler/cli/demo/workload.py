"""What is applied to the cluster, and what is read back from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from exoscaler.sandbox.kubernetes import HttpObjectClient
from exoscaler.sandbox.objects import JsonObject

NAME = "shop"
NAMESPACE = "default"
CPU_PER_POD = "500m"
MEMORY_PER_POD = "256Mi"
HARD_TAINT = "ToBeDeletedByClusterAutoscaler"


@dataclass(frozen=True, slots=True)
class ClusterLook:
    """The cluster at one moment."""

    nodes: int
    ready_nodes: int
    leaving_nodes: int
    running_pods: int
    waiting_pods: int


class Workload:
    """A Deployment of a web shop, with a disruption budget, that comes and goes."""

    def __init__(self, kubeconfig: Path) -> None:
        self._cluster = HttpObjectClient.from_kubeconfig(kubeconfig)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.close()

    def apply(self, replicas: int) -> None:
        """Create the Deployment and its budget."""
        self._cluster.create("apps/v1", "deployments", _deployment(replicas), namespace=NAMESPACE)
        self._cluster.create("policy/v1", "poddisruptionbudgets", _budget(), namespace=NAMESPACE)

    def remove(self) -> None:
        """Take it all away again."""
        self._cluster.delete("apps/v1", "deployments", NAME, namespace=NAMESPACE)
        self._cluster.delete("policy/v1", "poddisruptionbudgets", NAME, namespace=NAMESPACE)

    def scale(self, replicas: int) -> None:
        """Change the number of replicas."""
        self._cluster.patch("apps/v1", "deployments", NAME, {"spec": {"replicas": replicas}}, namespace=NAMESPACE)

    def look(self) -> ClusterLook:
        """What there is now."""
        nodes = [node for node in self._cluster.list("v1", "nodes") if _is_ours(node)]
        pods = self._cluster.list("v1", "pods", labels=f"app={NAME}")
        living = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
        return ClusterLook(
            nodes=len(nodes),
            ready_nodes=sum(_is_ready(node) for node in nodes),
            leaving_nodes=sum(_is_leaving(node) for node in nodes),
            running_pods=sum(pod["status"].get("phase") == "Running" for pod in living),
            waiting_pods=sum("nodeName" not in pod["spec"] for pod in living),
        )


def _is_ours(node: JsonObject) -> bool:
    """Whether the node stands for an instance: a given cluster may have others."""
    return str(node["spec"].get("providerID", "")).startswith("exoscale://")


def _is_ready(node: JsonObject) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _is_leaving(node: JsonObject) -> bool:
    return any(taint["key"] == HARD_TAINT for taint in node["spec"].get("taints", []))


def _deployment(replicas: int) -> JsonObject:
    labels = {"app": NAME}
    container = {
        "name": "web",
        "image": "registry.example/shop:1",
        "resources": {"requests": {"cpu": CPU_PER_POD, "memory": MEMORY_PER_POD}},
    }
    template = {
        "metadata": {"labels": labels},
        "spec": {"terminationGracePeriodSeconds": 5, "containers": [container]},
    }
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": NAME}, "spec": spec}


def _budget() -> JsonObject:
    spec = {"maxUnavailable": 2, "selector": {"matchLabels": {"app": NAME}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": NAME}, "spec": spec}
