"""A user's view of a sandbox: the official clients of both APIs, and patience."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from exoscale.api.v2 import Client as ExoscaleClient
from kubernetes import client as kubernetes
from kubernetes import config as kubernetes_config

from exoscaler.sandbox.exoscale import ClusterSpec, NodepoolSpec, Scenario
from exoscaler.sandbox.world import SANDBOX_KEY, SANDBOX_SECRET

DEADLINE_SECONDS = 20
SPEED = 60
SCENARIO = Scenario(
    clusters=(
        ClusterSpec(name="demo", nodepools=(NodepoolSpec(name="general", size=1, instance_type="standard.medium"),)),
    )
)


def wait_until(condition: Callable[[], Any], what: str, seconds: float = DEADLINE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds} s in vain until {what}"
        time.sleep(0.05)


class Users:
    """A user's view of a world: the official clients of both APIs."""

    def __init__(self, exoscale_url: str, kubeconfig: Path) -> None:
        self.exoscale: Any = ExoscaleClient(SANDBOX_KEY, SANDBOX_SECRET, url=exoscale_url)
        configuration: Any = kubernetes.Configuration()
        load: Any = kubernetes_config.load_kube_config  # the client carries no types
        load(str(kubeconfig), client_configuration=configuration)
        self._api: Any = kubernetes.ApiClient(configuration)
        self.core: Any = kubernetes.CoreV1Api(self._api)
        self.apps: Any = kubernetes.AppsV1Api(self._api)

    def close(self) -> None:
        self._api.close()
        self.exoscale.http_client.close()

    def nodes(self) -> dict[str, str]:
        """Names of ready nodes to their instances."""
        return {
            node.metadata.name: node.spec.provider_id.removeprefix("exoscale://")
            for node in self.core.list_node().items
            if node.spec.provider_id
            and any(entry.type == "Ready" and entry.status == "True" for entry in node.status.conditions)
        }

    def ready_pods(self, labels: str) -> dict[str, str]:
        """Names of ready pods to their nodes."""
        return {
            pod.metadata.name: pod.spec.node_name
            for pod in self.core.list_namespaced_pod("default", label_selector=labels).items
            if not pod.metadata.deletion_timestamp
            and any(entry.type == "Ready" and entry.status == "True" for entry in pod.status.conditions or ())
        }

    def unschedulable(self, labels: str) -> list[str]:
        return [
            entry.message
            for pod in self.core.list_namespaced_pod("default", label_selector=labels).items
            for entry in pod.status.conditions or ()
            if entry.type == "PodScheduled" and entry.reason == "Unschedulable"
        ]

    def nodepool(self) -> tuple[str, str]:
        """The ids of the only cluster and its only nodepool."""
        (cluster,) = self.exoscale.list_sks_clusters()["sks-clusters"]
        (nodepool,) = cluster["nodepools"]
        return cluster["id"], nodepool["id"]
