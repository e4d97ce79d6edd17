"""What an operation asks the outside world to do, as data. The shell executes them and reports what happened."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SetPoolSize:
    """Set the pool's absolute size; only ever sent when the pool was just read to be smaller."""

    group_id: str
    size: int


@dataclass(frozen=True, slots=True)
class RemoveInstances:
    """Take instances out of the pool; the cloud lowers the pool's size by their number."""

    group_id: str
    instance_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TaintNode:
    """Taint the node for deletion and, if asked, cordon it; `operation_id` is left on the node as an annotation."""

    node_name: str
    node_uid: str
    value: str
    cordon: bool
    operation_id: str


@dataclass(frozen=True, slots=True)
class UntaintNode:
    """Take back the taint of this value, the annotation and, if we set it, the cordon."""

    node_name: str
    node_uid: str
    value: str
    uncordon: bool


@dataclass(frozen=True, slots=True)
class EvictPod:
    """Ask a pod to leave through the eviction API. A best-effort one may fail without holding the node."""

    namespace: str
    name: str
    uid: str
    grace_seconds: int
    best_effort: bool = False


@dataclass(frozen=True, slots=True)
class DeleteNode:
    """Delete the Node object of an instance that no longer exists."""

    node_name: str
    node_uid: str


Effect: TypeAlias = SetPoolSize | RemoveInstances | TaintNode | UntaintNode | EvictPod | DeleteNode


class EvictionResult(StrEnum):
    """What became of an eviction."""

    ACCEPTED = "accepted"
    GONE = "gone"
    REFUSED = "refused"
    """A disruption budget says not now."""
