"""Kubernetes objects inside events, as far as they tell whether there is something to do.

Only the named fields are decoded; the rest of an object, managedFields above all, is skipped.
"""

from __future__ import annotations

import msgspec


class _Shape(msgspec.Struct, rename="camel", frozen=True):
    """Fields in camelCase on the wire; unknown ones are skipped."""


class Owner(_Shape, frozen=True):
    """``metadata.ownerReferences[]``."""

    kind: str = ""
    controller: bool | None = None


class Metadata(_Shape, frozen=True):
    """``metadata``."""

    name: str = ""
    namespace: str = ""
    deletion_timestamp: str | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[Owner] | None = None


class Reference(_Shape, frozen=True):
    """What Reference mode sends in place of the object, and how an Event names what it is about."""

    kind: str = ""
    api_version: str = ""
    namespace: str = ""
    name: str = ""


class ObjectHead(_Shape, frozen=True):
    """What every object has."""

    kind: str = ""
    api_version: str = ""
    metadata: Metadata = msgspec.field(default_factory=Metadata)


class Condition(_Shape, frozen=True):
    """``status.conditions[]`` of a pod or node."""

    type: str = ""
    status: str = ""
    reason: str | None = None
    last_transition_time: str | None = None


class PodSpec(_Shape, frozen=True):
    """``spec`` of a pod."""

    node_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[dict[str, str]] | None = None


class PodStatus(_Shape, frozen=True):
    """``status`` of a pod."""

    phase: str | None = None
    nominated_node_name: str | None = None
    conditions: list[Condition] | None = None


class Pod(_Shape, frozen=True):
    """A pod."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)
    status: PodStatus = msgspec.field(default_factory=PodStatus)


class NodeStatus(_Shape, frozen=True):
    """``status`` of a node."""

    conditions: list[Condition] | None = None


class Node(_Shape, frozen=True):
    """A node."""

    metadata: Metadata = msgspec.field(default_factory=Metadata)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)


class ClusterEvent(_Shape, frozen=True):
    """An Event object: of the core group (``involvedObject``) or of events.k8s.io (``regarding``)."""

    reason: str | None = None
    involved_object: Reference | None = None
    regarding: Reference | None = None

    @property
    def about(self) -> Reference:
        """The object the Event is about; an empty reference when it names none."""
        return self.involved_object or self.regarding or Reference()
