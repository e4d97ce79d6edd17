"""What an evaluation decided, with a reason for everything it did and did not do."""

from __future__ import annotations

from dataclasses import dataclass, field

from exoscaler.core.model import Pod
from exoscaler.core.operations.model import GrowOperation, ShrinkOperation
from exoscaler.core.reasons import GroupSkip, PodSkip, Unremovable, WhyNot
from exoscaler.core.state import State


@dataclass(frozen=True, slots=True)
class GroupVerdict:
    """Why one group does not help one pod: it was skipped, or the pod does not fit its template."""

    group_id: str
    group_name: str
    skip: GroupSkip | None = None
    rejections: tuple[WhyNot, ...] = ()

    @property
    def text(self) -> str:
        """The reason in a few words."""
        if self.skip is not None:
            return self.skip.value
        return ", ".join(reason.text for reason in self.rejections)


@dataclass(frozen=True, slots=True)
class HelpedPod:
    """A pod that a planned growth makes room for."""

    pod: Pod
    group_id: str


@dataclass(frozen=True, slots=True)
class UnhelpedPod:
    """A pod that no growth helps, with one verdict a group."""

    pod: Pod
    verdicts: tuple[GroupVerdict, ...]


@dataclass(frozen=True, slots=True)
class SkippedPod:
    """A pod without a node that asks for no capacity."""

    pod: Pod
    reason: PodSkip


@dataclass(frozen=True, slots=True)
class GrowthPlan:
    """The scale-up half. Operations are new ones, in the order to carry them out."""

    operations: tuple[GrowOperation, ...] = ()
    helped: tuple[HelpedPod, ...] = ()
    unhelped: tuple[UnhelpedPod, ...] = ()
    skipped: tuple[SkippedPod, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeVerdict:
    """Why one node stays. `detail` names the pod, the number or the time that the reason is about."""

    node_name: str
    node_uid: str
    group_id: str
    reason: Unremovable
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ShrinkPlan:
    """The scale-down half.

    Attributes:
        operations: new ones.
        unneeded: uid and name of the nodes found removable at this look, whether or not they go now.
        staying: one verdict for each node that does not go now.
        cached: uids of `staying` nodes whose verdict came from a simulation and holds for a while (R119).
        held: why nothing is removed at all for now, empty when removals are allowed.
        judged: whether the nodes were looked at; if not, neither their times nor their verdicts change.
    """

    operations: tuple[ShrinkOperation, ...] = ()
    unneeded: tuple[tuple[str, str], ...] = ()
    staying: tuple[NodeVerdict, ...] = ()
    cached: frozenset[str] = field(default_factory=frozenset)
    held: str = ""
    judged: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """One evaluation's result. `state` is what to commit: the operations recorded and the observations renewed."""

    decision_id: str
    growth: GrowthPlan
    shrink: ShrinkPlan
    state: State

    @property
    def changes_something(self) -> bool:
        """Whether it recorded a new operation."""
        return bool(self.growth.operations or self.shrink.operations)
