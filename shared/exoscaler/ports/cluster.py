"""The Kubernetes cluster. Every method may raise a `exoscaler.errors.RemoteError`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from exoscaler.core.model import ClusterSnapshot, Node, Pod
from exoscaler.core.operations.effects import DeleteNode, EvictionResult, EvictPod, TaintNode, UntaintNode


class EventType(StrEnum):
    """How serious a Kubernetes event is."""

    NORMAL = "Normal"
    WARNING = "Warning"


class SubjectKind(StrEnum):
    """What a Kubernetes event is about."""

    POD = "Pod"
    NODE = "Node"
    CONFIG_MAP = "ConfigMap"
    """The status ConfigMap stands for the cluster as a whole, as users of the upstream autoscaler know it."""


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A Kubernetes event to write. Same subject, reason and message within an hour are one event with a count."""

    subject_kind: SubjectKind
    subject_name: str
    reason: str
    message: str
    type: EventType = EventType.NORMAL
    subject_namespace: str = ""
    subject_uid: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)


class Cluster(Protocol):
    """Reads the cluster and changes single nodes and pods."""

    def snapshot(self) -> ClusterSnapshot:
        """Everything a decision needs, nodes read before pods.

        Raises when any of it could not be read whole: a partial view is never handed out.
        """

    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""

    def node(self, name: str) -> Node:
        """One node, from the API server itself. Raises `NotFound`."""

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """All pods bound to the node, finished ones too, from the API server itself and not from a cache."""

    def taint(self, change: TaintNode) -> None:
        """Taint and cordon in one write that loses no concurrent change; nothing to do is success.

        Raises:
            NotFound: the node is gone, or another node has its name.
            Conflict: others kept changing it; nothing was written.
        """

    def untaint(self, change: UntaintNode) -> None:
        """Undo `taint`: only a taint of that very value, and the cordon only if asked. A node that is gone is success.

        Raises:
            Conflict: others kept changing it; nothing was written.
        """

    def evict(self, change: EvictPod) -> EvictionResult:
        """Ask a pod to leave. A pod of another uid counts as gone.

        A refusal by a disruption budget is a result. Raises for everything else that is not success.
        """

    def delete_node(self, change: DeleteNode) -> None:
        """Delete the Node object, if its uid is still the same; a node that is gone is success."""

    def publish(self, event: ClusterEvent) -> None:
        """Write an event, or count it up when it was written before. Best effort for the caller to decide."""
