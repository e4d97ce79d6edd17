"""Why a pod does not fit a node, in the scheduler's own words (part D of the rules)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Obstacle(StrEnum):
    """The kind of constraint that keeps a pod off a node."""

    INSUFFICIENT = "insufficient"
    TOO_MANY_PODS = "too-many-pods"
    TAINT = "taint"
    NODE_AFFINITY = "node-affinity"
    NODE_UNSCHEDULABLE = "node-unschedulable"
    NODE_NAME = "node-name"
    CANNOT_SIMULATE = "cannot-simulate"


_TEXTS = {
    Obstacle.INSUFFICIENT: "Insufficient {subject}",
    Obstacle.TOO_MANY_PODS: "Too many pods",
    Obstacle.TAINT: "node(s) had untolerated taint(s)",
    Obstacle.NODE_AFFINITY: "node(s) didn't match Pod's node affinity/selector",
    Obstacle.NODE_UNSCHEDULABLE: "node(s) were unschedulable",
    Obstacle.NODE_NAME: "node(s) didn't match the requested node name",
    Obstacle.CANNOT_SIMULATE: "cannot simulate: {subject}",
}


@dataclass(frozen=True, slots=True)
class WhyNot:
    """One reason. `subject` is the resource, taint or constraint it is about; `short_by` how much is missing.

    `short_by` is in the resource's integer unit (milli-CPU, bytes, pieces), 0 when amounts play no role.
    """

    obstacle: Obstacle
    subject: str = ""
    short_by: int = 0

    @property
    def text(self) -> str:
        """The scheduler's wording, which events and explanations group by."""
        return _TEXTS[self.obstacle].format(subject=self.subject)
