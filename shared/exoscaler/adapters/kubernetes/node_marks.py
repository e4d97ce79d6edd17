"""What marks a node that is on its way out, and how the marks are set and taken back: decisions without I/O."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from exoscaler.adapters.kubernetes.calls import JsonObject
from exoscaler.core.model import TaintEffect
from exoscaler.core.model.nodes import CORDONED_MARK, OPERATION_MARK
from exoscaler.core.model.taints import TO_BE_DELETED
from exoscaler.core.operations.effects import TaintNode, UntaintNode
from exoscaler.errors import Conflict

_CORDONED = "true"


class MarkedByOthers(Conflict):
    """Somebody else is about to delete the node."""


class _Metadata(msgspec.Struct, rename="camel", gc=False):
    uid: str
    resource_version: str
    annotations: dict[str, str] | None = None


class _Spec(msgspec.Struct):
    taints: list[dict[str, object]] | None = None
    unschedulable: bool | None = None


class MarkedNode(msgspec.Struct):
    """A node, as far as marks go. Its taints keep fields that we know nothing of."""

    metadata: _Metadata
    spec: _Spec = msgspec.field(default_factory=_Spec)

    @property
    def taints(self) -> list[dict[str, object]]:
        """The taints as the API has them."""
        return self.spec.taints or []

    @property
    def annotations(self) -> dict[str, str]:
        """The annotations."""
        return self.metadata.annotations or {}

    @property
    def marks(self) -> list[str]:
        """The values of the deletion taints; another autoscaler's look the same but for the value."""
        return [str(taint.get("value") or "") for taint in self.taints if taint.get("key") == TO_BE_DELETED]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a node. An annotation of None goes; taints and unschedulable of None stay as they are."""

    annotations: dict[str, str | None] = field(default_factory=dict)
    taints: list[dict[str, object]] | None = None
    unschedulable: bool | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not self.annotations and self.taints is None and self.unschedulable is None

    def patch(self, node: MarkedNode) -> JsonObject:
        """As a JSON merge patch of exactly the node that was read: any other version is refused.

        A merge patch replaces a list as a whole, which is safe just because of that.
        """
        spec: dict[str, object] = {}
        if self.taints is not None:
            spec["taints"] = self.taints
        if self.unschedulable is not None:
            spec["unschedulable"] = self.unschedulable
        identity = {"uid": node.metadata.uid, "resourceVersion": node.metadata.resource_version}
        return {"metadata": {**identity, "annotations": self.annotations}, "spec": spec}


def marking(node: MarkedNode, change: TaintNode) -> Edit:
    """What marks the node; nothing if it carries the mark with this very value.

    Whoever set that mark set the rest with it, and what was changed since was changed on purpose.

    Raises:
        MarkedByOthers: it carries a mark of another value.
    """
    if change.value in node.marks:
        return Edit()
    if node.marks:
        detail = f"the node carries {TO_BE_DELETED}={node.marks[0]}, which others have set"
        raise MarkedByOthers("patch nodes", change.node_name, detail=detail)
    mark: dict[str, object] = {"key": TO_BE_DELETED, "value": change.value, "effect": TaintEffect.NO_SCHEDULE.value}
    cordons = change.cordon and not node.spec.unschedulable
    annotations: dict[str, str | None] = {OPERATION_MARK: change.operation_id}
    if cordons:
        annotations[CORDONED_MARK] = _CORDONED
    elif CORDONED_MARK in node.annotations:
        # Left over from a cordon of ours that was lifted by hand; the one that is there now is not ours.
        annotations[CORDONED_MARK] = None
    return Edit(annotations, [*node.taints, mark], True if cordons else None)


def unmarking(node: MarkedNode, change: UntaintNode) -> Edit:
    """What takes the mark back: the taint of this value, the annotations, and the cordon if asked and if it is ours.

    A mark of another value stays, and so do the annotations, which then are about that mark.
    """
    ours = [t for t in node.taints if t.get("key") == TO_BE_DELETED and (t.get("value") or "") == change.value]
    taints = [taint for taint in node.taints if taint not in ours] if ours else None
    if len(node.marks) > len(ours):
        return Edit(taints=taints)
    annotations: dict[str, str | None] = {}
    if OPERATION_MARK in node.annotations:
        annotations[OPERATION_MARK] = None
    uncordons = False
    if change.uncordon and CORDONED_MARK in node.annotations:
        annotations[CORDONED_MARK] = None
        uncordons = node.annotations[CORDONED_MARK] == _CORDONED and bool(node.spec.unschedulable)
    return Edit(annotations, taints, False if uncordons else None)
