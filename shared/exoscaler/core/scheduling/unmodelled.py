"""Constraints that are not simulated: where they decide, the answer is "cannot tell", which counts as no."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.reasons import Obstacle, WhyNot
from exoscaler.core.scheduling.place import Place


def why_not(pod: Pod, place: Place) -> tuple[WhyNot, ...]:  # noqa: ARG001  every constraint has this one face
    """One reason for each constraint of the pod that cannot be judged, on any node."""
    return tuple(WhyNot(Obstacle.CANNOT_SIMULATE, constraint.value) for constraint in pod.spec.unmodelled)
