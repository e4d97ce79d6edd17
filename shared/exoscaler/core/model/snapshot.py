"""The cluster as read in one invocation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from exoscaler.core.model.labels import LabelSelector
from exoscaler.core.model.nodes import Node
from exoscaler.core.model.pods import Pod


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """A PodDisruptionBudget; `selector` None selects nothing (policy/v1: an empty selector selects all)."""

    namespace: str
    name: str
    selector: LabelSelector | None
    disruptions_allowed: int

    def covers(self, pod: Pod) -> bool:
        """Whether evicting the pod uses this budget."""
        in_namespace = pod.namespace == self.namespace
        return in_namespace and self.selector is not None and self.selector.matches(pod.labels)


@dataclass(frozen=True, slots=True)
class DaemonSet:
    """A DaemonSet's own report of how many of its pods are ready."""

    namespace: str
    name: str
    uid: str
    ready: int


@dataclass(frozen=True)
class ClusterSnapshot:
    """Nodes, then pods, then what bears on moving pods, in the order they were read.

    Nodes are read before pods: a node that joined between the two is missing and its pods look homeless, so the error
    is to buy too little, which heals itself. The other order would buy nodes for pods that already run.
    """

    nodes: tuple[Node, ...]
    pods: tuple[Pod, ...]
    taken_at: datetime
    budgets: tuple[DisruptionBudget, ...] = ()
    daemonsets: tuple[DaemonSet, ...] = ()

    @cached_property
    def node_by_name(self) -> Mapping[str, Node]:
        """The nodes by name."""
        return {node.name: node for node in self.nodes}

    @cached_property
    def pods_by_node(self) -> Mapping[str, tuple[Pod, ...]]:
        """The unfinished pods bound to each node; a node without pods has no entry."""
        found: dict[str, list[Pod]] = {}
        for pod in self.pods:
            if pod.is_bound and not pod.is_finished:
                found.setdefault(pod.node_name, []).append(pod)
        return {name: tuple(pods) for name, pods in found.items()}

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """The unfinished pods bound to a node."""
        return self.pods_by_node.get(node_name, ())


@dataclass(frozen=True, slots=True)
class PodView:
    """Whether the list of pods can be trusted for a removal; `doubt` says why not, empty when it can."""

    doubt: str = field(default="")

    @property
    def complete(self) -> bool:
        """Whether nothing contradicts the list."""
        return not self.doubt
