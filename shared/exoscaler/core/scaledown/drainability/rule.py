"""What a rule says of one pod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from exoscaler.core.model import DisruptionBudget, Pod
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.reasons import BlockingPod


class Outcome(StrEnum):
    """What becomes of a pod when its node goes (R130)."""

    SKIP = "skip"
    """It neither moves nor holds the node."""
    MOVE = "move"
    WAIT = "wait"
    """The node waits until it has run to completion."""
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule's decision; `blocked_by` is set for BLOCK only."""

    outcome: Outcome
    blocked_by: BlockingPod | None = None


SKIP = Verdict(Outcome.SKIP)
MOVE = Verdict(Outcome.MOVE)
WAIT = Verdict(Outcome.WAIT)


def block(reason: BlockingPod) -> Verdict:
    """The pod holds its node."""
    return Verdict(Outcome.BLOCK, reason)


@dataclass(frozen=True, slots=True)
class DrainContext:
    """What rules look at besides the pod.

    Attributes:
        budgets: with what is left of them in this round.
    """

    policy: ShrinkPolicy
    now: datetime
    budgets: tuple[DisruptionBudget, ...] = ()

    def budgets_of(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        """The budgets that cover the pod."""
        return tuple(budget for budget in self.budgets if budget.covers(pod))


Rule: TypeAlias = Callable[[Pod, DrainContext], Verdict | None]
"""Decides about a pod, or leaves it to the next rule (None)."""
