"""How far a node has come: starting, an example of its group, past its best."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.model import Node, Resources
from exoscaler.core.policy import Policy

SETTLING_TIME = timedelta(minutes=1)
"""How long a node must have been ready before others are expected to look like it (R62)."""


def is_young(node: Node, policy: Policy, now: datetime) -> bool:
    """Whether the node may still be starting: younger than ``max-node-startup-time`` (R32)."""
    return node.created_at + policy.growth.max_node_startup_time > now


def has_startup_taint(node: Node, policy: Policy) -> bool:
    """Whether a taint says that the node has not finished starting (R21)."""
    return any(policy.taints.is_startup(taint.key) for taint in node.taints)


def can_take_pods(node: Node) -> bool:
    """Whether pods may be sent to the node at all: ready, not cordoned, not about to be deleted."""
    return node.is_ready and not node.unschedulable and node.deletion_taint is None


def is_starting(node: Node, promised: Resources | None, policy: Policy, now: datetime) -> bool:
    """Whether a young node is not yet what it will be.

    It is not ready, carries a startup taint, or has not published a resource that nodes of its group have: a device
    plugin reports its devices minutes after the node is ready (R20). The age limit holds for all three, so that a taint
    that never goes away does not promise capacity for ever. `promised` is the allocatable of such nodes, if known.
    """
    if not is_young(node, policy, now) or node.unschedulable or node.deletion_taint is not None:
        return False
    if not node.is_ready or has_startup_taint(node, policy):
        return True
    expected = promised.extended if promised is not None else {}
    have = node.allocatable.extended
    return any(amount > 0 and not have.get(name, 0) for name, amount in expected.items())


def is_example(node: Node, policy: Policy, now: datetime) -> bool:
    """Whether new nodes may be expected to look like this one: "good" in R62."""
    settled = node.readiness_changed_at + SETTLING_TIME < now
    return can_take_pods(node) and settled and not has_startup_taint(node, policy)


def has_known_shape(node: Node, policy: Policy, now: datetime) -> bool:
    """Whether at least the node's size can be relied on: it has reported it, and it is past its start or ready now.

    A node that is ready but has not settled is no example yet (R62), but better than none: in a cluster that has just
    been made, or whose only node has just been replaced, waiting pods would wait for nothing.
    """
    started = not is_young(node, policy, now) or (can_take_pods(node) and not has_startup_taint(node, policy))
    return started and node.allocatable.cpu > 0 and node.allocatable.memory > 0
