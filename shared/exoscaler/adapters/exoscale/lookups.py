"""Which instances are worth a ``get-instance``: those of nodes that nothing cheaper ties to a pool."""

from __future__ import annotations

import threading
from collections.abc import Container, Iterable, Sequence
from datetime import datetime, timedelta

from exoscaler.adapters.exoscale.calls import is_id
from exoscaler.core.model import Trouble, TroubleKind
from exoscaler.ports.cloud import NodeIdentity

MAX_LOOKUPS = 20
"""Instances asked for in one reading. One call finds a whole pool, so only nodes of no pool can be more; their turn
comes at the next readings, and what was found out about them is kept."""

MAX_FAILURES = 3
"""Look-ups that may fail in one reading before the rest is left for the next one."""

EXTERNAL_PREFIX = "external-"
"""How Exoscale's cloud controller begins the provider id of a node that is no instance of Exoscale."""


class Absentees:
    """Instances that the API did not know, remembered for a while by a process that lives long enough.

    A node whose instance is gone goes soon by itself; until then it should not cost a call at each reading. Nothing but
    calls is saved, so that a new process may forget. Safe to share between threads.
    """

    KEPT = timedelta(minutes=10)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[str, datetime] = {}

    def note(self, instance_id: str, now: datetime) -> None:
        """The API has just not known this instance."""
        with self._lock:
            self._until = {known: until for known, until in self._until.items() if until > now}
            self._until[instance_id] = now + self.KEPT

    def includes(self, instance_id: str, now: datetime) -> bool:
        """Whether that was a short while ago. A clock that jumped back does not prolong it."""
        with self._lock:
            until = self._until.get(instance_id)
        return until is not None and now < until <= now + self.KEPT


def without_instance(nodes: Iterable[NodeIdentity]) -> list[Trouble]:
    """The troubles of nodes that name no instance.

    Silent are nodes of the control plane, which are not ours to scale, and nodes marked as external to Exoscale.
    """
    troubles = []
    for node in nodes:
        if node.control_plane or (node.instance_id and _is_no_instance_on_purpose(node.instance_id)):
            continue
        if node.instance_id is None:
            detail = "it has no provider id of Exoscale, so it is left alone"
            troubles.append(Trouble(TroubleKind.NODE_WITHOUT_INSTANCE, node.node_name, detail))
        elif not is_id(node.instance_id):
            detail = f"its provider id names {node.instance_id[:80]!r}, which is no instance id, so it is left alone"
            troubles.append(Trouble(TroubleKind.NODE_WITHOUT_INSTANCE, node.node_name, detail))
    return troubles


def _is_no_instance_on_purpose(instance_id: str) -> bool:
    return instance_id.startswith(EXTERNAL_PREFIX)


def candidates(
    nodes: Iterable[NodeIdentity], *, tied: Container[str], unmanaged: Container[str], now: datetime
) -> Sequence[tuple[str, str]]:
    """The instances to look up, each with the name of its node, in the order of their turn.

    Args:
        nodes: all of them. Those of the control plane are never looked up: no pool of theirs is ours to scale.
        tied: ids of nodepools that settle, by a node's label, what it belongs to.
        unmanaged: instances known to belong to no pool.
        now: moves the turn, so that the same few cannot keep the others waiting for ever.
    """
    found: dict[str, str] = {}
    for node in nodes:
        instance = node.instance_id
        if node.control_plane or instance is None or not is_id(instance):
            continue
        if instance in unmanaged or (node.nodepool_id and node.nodepool_id.lower() in tied):
            continue
        found.setdefault(instance, node.node_name)
    ordered = sorted(found.items())
    turn = int(now.timestamp()) // 60 % len(ordered) if ordered else 0
    return ordered[turn:] + ordered[:turn]
