"""Which nodes may be looked at for removal, and why the others stay (R106, R110-R116)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler.core.model import Node, NodeGroup
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.utilization import utilization_of
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, is_starting
from exoscaler.core.state import StayingNode

FOREIGN_TAINT_LIFETIME = timedelta(minutes=5)
"""How long a deletion taint that is not ours is taken at its word (R113)."""


@dataclass(frozen=True, slots=True)
class Stays:
    """Why a node stays."""

    reason: Unremovable
    detail: str = ""


def why_not_candidate(node: Node, group: NodeGroup, room: int, scene: Scene, ledger: Ledger) -> Stays | None:
    """The first reason not to look at a node of a managed group any further; None when it is a candidate.

    `room` is how many nodes the group may lose. Nodes of a group without room are not judged, so they lose their time
    (R106); everything else that only forbids to act now is asked later, so that the time goes on.
    """
    policy, now = scene.policy.shrink, scene.now
    if room <= 0:
        return Stays(Unremovable.GROUP_MIN_SIZE_REACHED, f"size {group.pool.size}, minimum {group.min_size}")
    if (cached := _cached(scene.state.observations.staying.get(node.uid), now)) is not None:
        return cached
    if _is_going_elsewhere(node, now):
        return Stays(Unremovable.CURRENTLY_BEING_DELETED)
    if node.annotations.get(SCALE_DOWN_DISABLED) == "true":
        return Stays(Unremovable.SCALE_DOWN_DISABLED)
    if is_starting(node, None, scene.policy, now):
        return Stays(Unremovable.STILL_STARTING)
    if not node.is_ready and not policy.unready_enabled:
        return Stays(Unremovable.SCALE_DOWN_UNREADY_DISABLED)
    return _overused(node, ledger, policy, now)


def _overused(node: Node, ledger: Ledger, policy: ShrinkPolicy, now: datetime) -> Stays | None:
    """Pods promised to the node in this evaluation count like those that run there."""
    utilization = utilization_of(node, ledger.pods_on(node.name), policy, now)
    if utilization is None:
        return Stays(Unremovable.NO_UTILIZATION)
    if utilization.exceeds(policy.utilization_threshold):
        return Stays(Unremovable.NOT_UNDERUTILIZED, utilization.text)
    return None


def _cached(known: StayingNode | None, now: datetime) -> Stays | None:
    """A verdict of a simulation holds for a while (R112, R119); its first reason stays readable."""
    if known is None or known.until is None or known.until <= now:
        return None
    if known.reason is Unremovable.RECENTLY_UNREMOVABLE:
        return Stays(known.reason, known.detail)
    return Stays(Unremovable.RECENTLY_UNREMOVABLE, f"{known.reason.value}: {known.detail}")


def _is_going_elsewhere(node: Node, now: datetime) -> bool:
    """A young deletion taint that is not ours; one whose value is no time says nothing (R113)."""
    taint = node.deletion_taint
    if taint is None or not taint.value.isascii() or not taint.value.isdigit():
        return False
    age = now.timestamp() - int(taint.value)
    return age < FOREIGN_TAINT_LIFETIME.total_seconds()
