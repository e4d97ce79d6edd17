"""Nodes of the API to records."""

from __future__ import annotations

from datetime import datetime

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.amounts import resources
from exoscaler.adapters.kubernetes.decoding.fragments import UNKNOWN_TIME, Fragments
from exoscaler.core.model import ConditionStatus, FrozenMap, Node, NodeCondition, Taint, TaintEffect

_EFFECTS = {effect.value: effect for effect in TaintEffect}
_STATUSES = {status.value: status for status in ConditionStatus}


def node(found: wire.Node) -> Node:
    """The record of a node.

    An effect that is not known keeps pods off, like the strictest that is; a status that is not known is unknown.

    Raises:
        ValueError: it has no uid or creation time, or an amount is not a quantity.
    """
    metadata, spec, status = found.metadata, found.spec or wire.NodeSpec(), found.status or wire.NodeStatus()
    if not metadata.uid or metadata.creation_timestamp is None:
        raise ValueError("it has no uid or no creationTimestamp")
    allocatable = resources(status.allocatable)
    return Node(
        name=metadata.name,
        uid=metadata.uid,
        created_at=with_zone(metadata.creation_timestamp),
        provider_id=spec.provider_id or "",
        system_uuid=(status.node_info.system_uuid or "") if status.node_info is not None else "",
        labels=FrozenMap(metadata.labels),
        annotations=FrozenMap(metadata.annotations),
        taints=tuple(_taint(taint) for taint in spec.taints or ()),
        unschedulable=bool(spec.unschedulable),
        capacity=resources(status.capacity),
        allocatable=allocatable,
        conditions=tuple(_condition(condition) for condition in status.conditions or ()),
    )


def unreadable_node(found: Fragments) -> Node:
    """What stands for a node that is not understood.

    Leaving it out would make its instance look as if it had never joined, and such instances are removed. So it is
    there, tied to its instance, but never ready, with room for nothing, and without the amounts that a utilisation, and
    so a removal, would need.

    Raises:
        ValueError: not even its name, uid and instance are certain.
    """
    if not found.absent("spec", "providerID"):
        found.certain_text("spec", "providerID")
    return Node(
        name=found.certain_text("metadata", "name"),
        uid=found.certain_text("metadata", "uid"),
        created_at=found.time("metadata", "creationTimestamp") or UNKNOWN_TIME,
        provider_id=found.text("spec", "providerID"),
        system_uuid=found.text("status", "nodeInfo", "systemUUID"),
        labels=FrozenMap(found.texts("metadata", "labels")),
        annotations=FrozenMap(found.texts("metadata", "annotations")),
        unschedulable=True,
    )


def with_zone(moment: datetime) -> datetime:
    """The moment itself.

    Raises:
        ValueError: it has no zone, so that it cannot be compared with any other.
    """
    if moment.tzinfo is None:
        raise ValueError(f"the time {moment.isoformat()} has no zone")
    return moment


def _taint(found: wire.Taint) -> Taint:
    return Taint(found.key, _EFFECTS.get(found.effect, TaintEffect.NO_SCHEDULE), found.value or "")


def _condition(found: wire.NodeCondition) -> NodeCondition:
    since = found.last_transition_time
    status = _STATUSES.get(found.status, ConditionStatus.UNKNOWN)
    return NodeCondition(found.type, status, with_zone(since) if since is not None else None)
