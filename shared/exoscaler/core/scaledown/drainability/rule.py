"""What a rule says of one pod."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from exoscaler.core.model import Pod
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.budgets import BudgetLedger


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
        budgets: with what is left of them in this round; None once a drain has begun: its evictions were proven to fit,
            and whether they still do is the eviction API's business.
    """

    policy: ShrinkPolicy
    now: datetime
    budgets: BudgetLedger | None


Rule: TypeAlias = Callable[[Pod, DrainContext], Verdict | None]
"""Decides about a pod, or leaves it to the next rule (None)."""
