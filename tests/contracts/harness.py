"""The same cluster and the same state store twice: in memory, and behind a real HTTP API."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from exoscaler.core.model import DaemonSet, DisruptionBudget, Node, Pod
from exoscaler.core.state import Payload
from exoscaler.ports.cluster import Cluster
from exoscaler.ports.state import StateStore
from exoscaler.sandbox.objects import JsonObject, ObjectError
from tests.adapters.kubernetes.worlds import NAMESPACE, Host, World, open_world
from tests.fakes.cluster import FakeCluster
from tests.fakes.state import FakeStateStore

STATE_NAME = "exoscaler-state"


class ClusterHarness(Protocol):
    """A cluster and what others do to it. Added objects come back as the cluster has them, uid included."""

    @property
    def cluster(self) -> Cluster: ...
    def add_node(self, node: Node) -> Node: ...
    def add_pod(self, pod: Pod) -> Pod: ...
    def add_budget(self, budget: DisruptionBudget) -> None: ...
    def add_daemonset(self, daemonset: DaemonSet) -> None: ...
    def change_node(self, name: str, *, unschedulable: bool) -> None: ...
    def replace_node(self, node: Node) -> Node: ...


class RealCluster:
    def __init__(self, world: World) -> None:
        self._world = world
        self.cluster: Cluster = world.cluster
        self.add_node = world.add_node
        self.add_pod = world.add_pod
        self.add_budget = world.add_budget
        self.add_daemonset = world.add_daemonset

    def change_node(self, name: str, *, unschedulable: bool) -> None:
        self._world.api.patch("v1", "nodes", name, {"spec": {"unschedulable": unschedulable}})

    def replace_node(self, node: Node) -> Node:
        self._world.api.delete("v1", "nodes", node.name)
        return self._world.add_node(node)


class InMemoryCluster:
    def __init__(self) -> None:
        self._fake = FakeCluster()
        self.cluster: Cluster = self._fake
        self.add_budget = self._fake.put_budget
        self.add_daemonset = self._fake.put_daemonset

    def add_node(self, node: Node) -> Node:
        self._fake.put_node(node)
        return self._fake.node(node.name)

    def add_pod(self, pod: Pod) -> Pod:
        self._fake.put_pod(pod)
        return pod

    def change_node(self, name: str, *, unschedulable: bool) -> None:
        self._fake.change_node(name, unschedulable=unschedulable)

    def replace_node(self, node: Node) -> Node:
        self._fake.change_node(node.name, uid=f"another-{node.uid}")
        return self._fake.node(node.name)


class StoreHarness(Protocol):
    """A place for the state and what others do to it."""

    def store(self) -> StateStore: ...
    def put(self, payload: Payload) -> None: ...
    def remove(self) -> None: ...
    def stored(self) -> Payload | None: ...
    def quarantined(self) -> list[Payload]: ...


class RealStore:
    def __init__(self, world: World) -> None:
        self._world = world

    def store(self) -> StateStore:
        return self._world.connection.state_store(NAMESPACE, STATE_NAME)

    def put(self, payload: Payload) -> None:
        binary = {key: base64.b64encode(value).decode() for key, value in payload.binary.items()}
        body = {"metadata": {"name": STATE_NAME}, "data": dict(payload.text), "binaryData": binary}
        if self.stored() is None:
            self._world.api.create("v1", "configmaps", body, namespace=NAMESPACE)
        else:
            self._world.api.update("v1", "configmaps", body, namespace=NAMESPACE)

    def remove(self) -> None:
        self._world.api.delete("v1", "configmaps", STATE_NAME, namespace=NAMESPACE)

    def stored(self) -> Payload | None:
        try:
            return _payload(self._world.api.get("v1", "configmaps", STATE_NAME, namespace=NAMESPACE))
        except ObjectError as error:
            if error.status != 404:
                raise
            return None

    def quarantined(self) -> list[Payload]:
        found = self._world.api.list("v1", "configmaps", namespace=NAMESPACE)
        return [_payload(item) for item in found if item["metadata"]["name"].startswith(f"{STATE_NAME}-quarantine-")]


class InMemoryStore:
    def __init__(self) -> None:
        self._fake = FakeStateStore()

    def store(self) -> StateStore:
        return self._fake

    def put(self, payload: Payload) -> None:
        self._fake.put(payload)

    def remove(self) -> None:
        self._fake.put(None)

    def stored(self) -> Payload | None:
        return self._fake.payload

    def quarantined(self) -> list[Payload]:
        return self._fake.quarantined


def _payload(manifest: JsonObject) -> Payload:
    binary = {key: base64.b64decode(value) for key, value in (manifest.get("binaryData") or {}).items()}
    return Payload(text=manifest.get("data") or {}, binary=binary)


@contextmanager
def open_cluster(kind: str, host: Host, folder: Path) -> Iterator[ClusterHarness]:
    if kind == "fake":
        yield InMemoryCluster()
        return
    with open_world(host, folder) as world:
        yield RealCluster(world)


@contextmanager
def open_store(kind: str, host: Host, folder: Path) -> Iterator[StoreHarness]:
    if kind == "fake":
        yield InMemoryStore()
        return
    with open_world(host, folder) as world:
        yield RealStore(world)
