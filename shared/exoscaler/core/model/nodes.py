"""Nodes, as far as a decision depends on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from exoscaler.core.model.frozen_map import FrozenMap
from exoscaler.core.model.resources import Resources
from exoscaler.core.model.taints import NOT_READY, TO_BE_DELETED, Taint

HOSTNAME = "kubernetes.io/hostname"
SCALE_DOWN_DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
OPERATION_MARK = "exoscaler.dev/scale-down"
"""Annotation on a node that exoscaler tainted: the id of the operation that did."""
CORDONED_MARK = "exoscaler.dev/cordoned"
"""Annotation ``"true"`` on a node that exoscaler cordoned itself."""
DELAY_DELETION_PREFIX = "delay-deletion.cluster-autoscaler.kubernetes.io/"
CONTROL_PLANE_MARKS = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_NOT_READY_TAINTS = (NOT_READY, "node.kubernetes.io/disk-pressure", "node.kubernetes.io/network-unavailable")
_CONDITIONS_OF_TROUBLE = ("DiskPressure", "NetworkUnavailable")


class ConditionStatus(StrEnum):
    """``status.conditions[].status``."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


@dataclass(frozen=True, slots=True)
class NodeCondition:
    """One condition of a node."""

    type: str
    status: ConditionStatus
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node as read from the API server.

    Attributes:
        provider_id: ``spec.providerID``; empty until the cloud's controller has seen the node.
        system_uuid: ``status.nodeInfo.systemUUID``, on Exoscale the instance's id.
        allocatable: what pods may use.
    """

    name: str
    uid: str
    created_at: datetime
    provider_id: str = ""
    system_uuid: str = ""
    labels: FrozenMap[str] = field(default_factory=FrozenMap)
    annotations: FrozenMap[str] = field(default_factory=FrozenMap)
    taints: tuple[Taint, ...] = ()
    unschedulable: bool = False
    capacity: Resources = field(default_factory=Resources)
    allocatable: Resources = field(default_factory=Resources)
    conditions: tuple[NodeCondition, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the node can run pods (R19); a node that never reported is not ready."""
        status = {condition.type: condition.status for condition in self.conditions}
        if status.get("Ready") is not ConditionStatus.TRUE:
            return False
        if any(status.get(name) is ConditionStatus.TRUE for name in _CONDITIONS_OF_TROUBLE):
            return False
        return not any(taint.key in _NOT_READY_TAINTS for taint in self.taints)

    @property
    def readiness_changed_at(self) -> datetime:
        """When a condition that readiness depends on last changed; the creation time when none says."""
        relevant = ("Ready", *_CONDITIONS_OF_TROUBLE)
        times = [c.since for c in self.conditions if c.type in relevant and c.since is not None]
        return max(times, default=self.created_at)

    @property
    def is_control_plane(self) -> bool:
        """Whether label or taint marks it as part of the control plane."""
        marked = any(mark in self.labels for mark in CONTROL_PLANE_MARKS)
        return marked or any(taint.key in CONTROL_PLANE_MARKS for taint in self.taints)

    @property
    def deletion_taint(self) -> Taint | None:
        """The taint that says an autoscaler is about to delete the node."""
        return next((taint for taint in self.taints if taint.key == TO_BE_DELETED), None)

    def instance_id(self, provider_prefix: str) -> str | None:
        """The cloud instance behind the node, lower-case; None when nothing of this provider identifies it.

        The system UUID stands in only while the provider id is empty.
        """
        if self.provider_id:
            if not self.provider_id.startswith(provider_prefix):
                return None
            return self.provider_id.removeprefix(provider_prefix).lower() or None
        return self.system_uuid.lower() or None
