"""Ports that let a test do something around every call: kill the caller, let another one in between, count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol, TypeVar

from exoscaler.app.invocation import Ports
from exoscaler.core.model import CloudReading, ClusterSnapshot, Node, NodeGroup, Pod, Pool
from exoscaler.core.operations.effects import DeleteNode, EvictionResult, EvictPod, TaintNode, UntaintNode
from exoscaler.core.operations.model import CloudOperation
from exoscaler.core.state import State
from exoscaler.errors import StateConflict
from exoscaler.ports.cloud import Cloud, KnownCloud, NodeIdentity
from exoscaler.ports.cluster import Cluster, ClusterEvent
from exoscaler.ports.events import EventSink, OperationPlanned
from exoscaler.ports.state import Change, LoadedState, StateStore, Version

T = TypeVar("T")

UPDATE_ATTEMPTS = 8


class CallKind(StrEnum):
    """Whether a call changes something outside."""

    LOOK = "look"
    EFFECT = "effect"


class Probe(Protocol):
    """Called instead of a port's method; it may call on, before or after doing something of its own, or not at all."""

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T: ...


@dataclass(frozen=True)
class WiredCluster:
    inner: Cluster
    probe: Probe

    def snapshot(self) -> ClusterSnapshot:
        return self.probe.around("snapshot", CallKind.LOOK, self.inner.snapshot)

    def nodes(self) -> tuple[Node, ...]:
        return self.probe.around("nodes", CallKind.LOOK, self.inner.nodes)

    def node(self, name: str) -> Node:
        return self.probe.around("node", CallKind.LOOK, lambda: self.inner.node(name))

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        return self.probe.around("pods_on", CallKind.LOOK, lambda: self.inner.pods_on(node_name))

    def taint(self, change: TaintNode) -> None:
        self.probe.around("taint", CallKind.EFFECT, lambda: self.inner.taint(change))

    def untaint(self, change: UntaintNode) -> None:
        self.probe.around("untaint", CallKind.EFFECT, lambda: self.inner.untaint(change))

    def evict(self, change: EvictPod) -> EvictionResult:
        return self.probe.around("evict", CallKind.EFFECT, lambda: self.inner.evict(change))

    def delete_node(self, change: DeleteNode) -> None:
        self.probe.around("delete_node", CallKind.EFFECT, lambda: self.inner.delete_node(change))

    def publish(self, event: ClusterEvent) -> None:
        self.probe.around("publish", CallKind.EFFECT, lambda: self.inner.publish(event))


@dataclass
class WiredCloud:
    inner: Cloud
    probe: Probe

    def __post_init__(self) -> None:
        self.provider_id_prefix = self.inner.provider_id_prefix
        self.nodepool_label = self.inner.nodepool_label

    def read_groups(self, nodes: Sequence[NodeIdentity], known: KnownCloud) -> CloudReading:
        return self.probe.around("read_groups", CallKind.LOOK, lambda: self.inner.read_groups(nodes, known))

    def read_pool(self, group: NodeGroup) -> Pool:
        return self.probe.around("read_pool", CallKind.LOOK, lambda: self.inner.read_pool(group))

    def set_size(self, group: NodeGroup, size: int) -> CloudOperation:
        return self.probe.around("set_size", CallKind.EFFECT, lambda: self.inner.set_size(group, size))

    def remove_instances(self, group: NodeGroup, instance_ids: Sequence[str]) -> CloudOperation:
        return self.probe.around(
            "remove_instances", CallKind.EFFECT, lambda: self.inner.remove_instances(group, instance_ids)
        )

    def read_operation(self, operation_id: str) -> CloudOperation:
        return self.probe.around("read_operation", CallKind.LOOK, lambda: self.inner.read_operation(operation_id))

    def instance_is_leaving(self, instance_id: str) -> bool:
        return self.probe.around("is_leaving", CallKind.LOOK, lambda: self.inner.instance_is_leaving(instance_id))

    def close(self) -> None:
        self.inner.close()


@dataclass(frozen=True)
class WiredStore:
    """An update is a load and a commit here, too, so that something can happen between the two."""

    inner: StateStore
    probe: Probe

    def load(self) -> LoadedState:
        return self.probe.around("load", CallKind.LOOK, self.inner.load)

    def commit(self, state: State, version: Version) -> LoadedState:
        return self.probe.around("commit", CallKind.EFFECT, lambda: self.inner.commit(state, version))

    def update(self, change: Change) -> LoadedState:
        for _ in range(UPDATE_ATTEMPTS):
            loaded = self.load()
            changed = change(loaded.state)
            if changed == loaded.state:
                return loaded
            try:
                return self.commit(changed, loaded.version)
            except StateConflict:
                continue
        raise StateConflict("others kept writing")


@dataclass(frozen=True)
class WiredSink:
    inner: EventSink
    probe: Probe

    def operation_planned(self, event: OperationPlanned) -> None:
        self.probe.around("send", CallKind.EFFECT, lambda: self.inner.operation_planned(event))


def wired(ports: Ports, probe: Probe) -> Ports:
    """The same ports with a probe in front of everything but the clock."""
    return Ports(
        WiredCluster(ports.cluster, probe),
        WiredCloud(ports.cloud, probe),
        WiredStore(ports.store, probe),
        WiredSink(ports.sink, probe),
        ports.clock,
    )


def through(probe: Probe) -> Callable[[Ports], Ports]:
    """What `World.invoke` takes to put a probe between a function and its ports."""
    return partial(wired, probe=probe)
