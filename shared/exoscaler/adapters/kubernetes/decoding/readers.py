"""One reader for each kind of object that is read."""

from __future__ import annotations

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.budgets import budget, daemonset, unreadable_budget, unreadable_daemonset
from exoscaler.adapters.kubernetes.decoding.nodes import node, unreadable_node
from exoscaler.adapters.kubernetes.decoding.pods import PodConverter, unreadable_pod
from exoscaler.adapters.kubernetes.decoding.reader import ObjectReader
from exoscaler.core.model import DaemonSet, DisruptionBudget, Node, Pod


def node_reader() -> ObjectReader[wire.Node, Node]:
    """Reads nodes."""
    return ObjectReader(wire.Node, wire.Page[wire.Node], node, unreadable_node)


def pod_reader() -> ObjectReader[wire.Pod, Pod]:
    """Reads pods of one list; pods alike share one spec object."""
    return ObjectReader(wire.Pod, wire.Page[wire.Pod], PodConverter(), unreadable_pod)


def budget_reader() -> ObjectReader[wire.DisruptionBudget, DisruptionBudget]:
    """Reads disruption budgets."""
    return ObjectReader(wire.DisruptionBudget, wire.Page[wire.DisruptionBudget], budget, unreadable_budget)


def daemonset_reader() -> ObjectReader[wire.DaemonSet, DaemonSet]:
    """Reads DaemonSets."""
    return ObjectReader(wire.DaemonSet, wire.Page[wire.DaemonSet], daemonset, unreadable_daemonset)
