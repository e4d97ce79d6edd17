"""Whether a node is cordoned for the pod (R203)."""

from __future__ import annotations

from exoscaler.core.model import Pod, Taint, TaintEffect
from exoscaler.core.model.taints import UNSCHEDULABLE
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling.place import Place

_AS_TAINT = Taint(UNSCHEDULABLE, TaintEffect.NO_SCHEDULE)
_CORDONED = (WhyNot(Obstacle.NODE_UNSCHEDULABLE),)


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:
    """A cordon keeps out every pod that would not tolerate it written as a taint without a value."""
    if not place.node.unschedulable:
        return ()
    tolerated = any(toleration.tolerates(_AS_TAINT) for toleration in pod.spec.tolerations)
    return () if tolerated else _CORDONED
