"""All constraints together, in the scheduler's order.

A constraint is a module with one face, ``why_not(pod, place)``: the reasons that keep the pod off the place, none when
it fits. Where a pod is bound now plays no role, since the question is where it could go.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exoscaler.core.model import Pod
from exoscaler.core.reasons import WhyNot
from exoscaler.core.scheduling import node_affinity, resource_fit, taints, unmodelled, unschedulable
from exoscaler.core.scheduling.place import Place

Filter: TypeAlias = Callable[[Pod, Place], tuple[WhyNot, ...]]

FILTERS: tuple[Filter, ...] = (
    unschedulable.why_not,
    taints.why_not,
    node_affinity.why_not,
    resource_fit.why_not,
    # Last, so that what can be told is told: a pod that is too large stays too large whatever else it wants.
    unmodelled.why_not,
)
"""In the order of the scheduler's default profile (R200)."""

_BESIDE_RESOURCES = tuple(keeps_out for keeps_out in FILTERS if keeps_out is not resource_fit.why_not)


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:
    """Why the pod does not fit the place: all reasons of the first constraint that fails (R200); empty when it fits."""
    for keeps_out in FILTERS:
        if reasons := keeps_out(pod, place):
            return reasons
    return ()


def room_for(pod: Pod, place: Place) -> int:
    """How many pods like `pod` can go to the place one after the other; 0 exactly when `why_not` has a reason.

    Resources, which fail most often, are looked at first.
    """
    room = resource_fit.room(pod, place)
    if room and any(keeps_out(pod, place) for keeps_out in _BESIDE_RESOURCES):
        return 0
    return room
