"""Taints of nodes and what pods tolerate.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"
UNINITIALIZED = "node.cloudprovider.kubernetes.io/uninitialized"
NOT_READY = "node.kubernetes.io/not-ready"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


class TaintEffect(StrEnum):
    """What a taint does to a pod that does not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class TolerationOperator(StrEnum):
    """How a toleration compares a taint's value."""

    EXISTS = "Exists"
    EQUAL = "Equal"
    LT = "Lt"
    GT = "Gt"


@dataclass(frozen=True, slots=True)
class Taint:
    """A taint of a node."""

    key: str
    effect: TaintEffect
    value: str = ""

    @property
    def repels(self) -> bool:
        """Whether it keeps pods that do not tolerate it off the node (R204); a preference does not."""
        return self.effect is not TaintEffect.PREFER_NO_SCHEDULE


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod's toleration. Empty key with ``Exists`` tolerates everything; `effect` None means every effect."""

    key: str = ""
    operator: TolerationOperator = TolerationOperator.EQUAL
    value: str = ""
    effect: TaintEffect | None = None

    def tolerates(self, taint: Taint) -> bool:
        """Whether the pod may stay in spite of `taint` (R204).

        ``Lt`` and ``Gt`` belong to a feature that is off by default, so they tolerate nothing here.
        """
        if self.effect is not None and self.effect is not taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator is TolerationOperator.EXISTS:
            return True
        return bool(self.key) and self.operator is TolerationOperator.EQUAL and self.value == taint.value
