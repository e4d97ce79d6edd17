"""Every "why" and "why not" as an enum member or a small type, each with its text."""

from exoscaler.core.reasons.scaledown import BlockingPod, RollbackReason, Unremovable
from exoscaler.core.reasons.scaleup import GroupSkip, GrowFailure, PodSkip
from exoscaler.core.reasons.scheduling import Obstacle, WhyNot

__all__ = [
    "BlockingPod",
    "GroupSkip",
    "GrowFailure",
    "Obstacle",
    "PodSkip",
    "RollbackReason",
    "Unremovable",
    "WhyNot",
]
