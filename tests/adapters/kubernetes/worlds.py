"""The adapter in front of a cluster's real HTTP API, served by the sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from exoscaler.adapters.kubernetes import Connection, KubernetesCluster, connect
from exoscaler.core.model import DaemonSet, DisruptionBudget, Node, Pod
from exoscaler.ports.clock import Clock
from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes import FaultRule, KubernetesSandbox, StoreClient, write_kubeconfig
from exoscaler.sandbox.server import HttpServer
from tests.adapters.kubernetes.manifests import (
    JsonObject,
    budget_manifest,
    daemonset_manifest,
    node_manifest,
    pod_manifest,
)
from tests.fakes.clock import FakeClock

NAMESPACE = "kube-system"
REQUEST_TIMEOUT = timedelta(seconds=5)


@dataclass
class World:
    """A cluster that nothing moves by itself, and a connection to it.

    `api` is the same cluster from the inside: what is done through it, somebody else did.
    """

    sandbox: KubernetesSandbox
    url: str
    kubeconfig: Path
    clock: FakeClock
    connection: Connection
    others: list[Connection] = field(default_factory=list)

    @property
    def api(self) -> StoreClient:
        return self.sandbox.client

    @property
    def cluster(self) -> KubernetesCluster:
        return self.connection.cluster

    def fault(self, rule: FaultRule) -> None:
        self.sandbox.faults.add(rule)

    def connect(
        self, clock: Clock | None = None, *, page_size: int = 500, timeout: timedelta = REQUEST_TIMEOUT
    ) -> Connection:
        """Another connection; it is closed with the world."""
        connection = connect(
            clock or self.clock, kubeconfig=str(self.kubeconfig), page_size=page_size, request_timeout=timeout
        )
        self.others.append(connection)
        return connection

    def operations(self) -> list[str]:
        """What the API server was asked, in order."""
        return [call.operation for call in self.sandbox.calls.calls()]

    def add_node(self, node: Node) -> Node:
        """Create the node and return it as the API server has it, with a uid of its own."""
        self.api.create("v1", "nodes", node_manifest(node))
        return self.cluster.node(node.name)

    def add_pod(self, pod: Pod) -> Pod:
        """Create the pod in its phase and return it as the API server has it."""
        manifest = pod_manifest(pod)
        self.api.create("v1", "pods", manifest, namespace=pod.namespace)
        self.patch_status("v1", "pods", pod.name, manifest["status"], pod.namespace)
        return self.pod(pod.namespace, pod.name)

    def add_budget(self, budget: DisruptionBudget) -> None:
        manifest = budget_manifest(budget)
        self.api.create("policy/v1", "poddisruptionbudgets", manifest, namespace=budget.namespace)
        self.patch_status("policy/v1", "poddisruptionbudgets", budget.name, manifest["status"], budget.namespace)

    def add_daemonset(self, daemonset: DaemonSet) -> None:
        manifest = daemonset_manifest(daemonset)
        self.api.create("apps/v1", "daemonsets", manifest, namespace=daemonset.namespace)
        self.patch_status("apps/v1", "daemonsets", daemonset.name, manifest["status"], daemonset.namespace)

    def patch_status(self, group: str, plural: str, name: str, status: JsonObject, namespace: str = "") -> None:
        self.api.patch(group, plural, name, {"status": status}, namespace=namespace, subresource="status")

    def pod(self, namespace: str, name: str) -> Pod:
        """The pod as the adapter reads it."""
        node_name = self.api.get("v1", "pods", name, namespace=namespace)["spec"].get("nodeName")
        pods = self.cluster.pods_on(node_name) if node_name else self.cluster.snapshot().pods
        return next(pod for pod in pods if (pod.namespace, pod.name) == (namespace, name))

    def raw_node(self, name: str) -> JsonObject:
        return self.api.get("v1", "nodes", name)

    def events(self, namespace: str = "default") -> list[JsonObject]:
        return self.api.list("v1", "events", namespace=namespace)


class Host:
    """One HTTP server for many worlds, one after the other: starting and stopping one takes longer than most tests."""

    def __init__(self) -> None:
        self.server = HttpServer(self)
        self._app: ASGIApp | None = None

    def show(self, sandbox: KubernetesSandbox) -> None:
        self._app = sandbox.app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None
        await self._app(scope, receive, send)


@contextmanager
def open_host() -> Iterator[Host]:
    host = Host()
    with host.server:
        yield host


@contextmanager
def open_world(host: Host, folder: Path, *, page_size: int = 500, history: int = 10_000) -> Iterator[World]:
    sandbox = KubernetesSandbox(SandboxClock(), history=history)
    host.show(sandbox)
    clock = FakeClock()
    url = host.server.url
    kubeconfig = write_kubeconfig(folder / "kubeconfig", url)
    with connect(clock, kubeconfig=str(kubeconfig), page_size=page_size, request_timeout=REQUEST_TIMEOUT) as connection:
        world = World(sandbox, url, kubeconfig, clock, connection)
        try:
            yield world
        finally:
            for other in world.others:
                other.close()
