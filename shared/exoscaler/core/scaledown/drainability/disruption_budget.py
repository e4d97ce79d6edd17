"""A pod whose disruption budget is used up must not be moved (R131-12)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block


def disruption_budget(pod: Pod, context: DrainContext) -> Verdict | None:
    """Block when a budget that covers the pod allows no disruption, or when several cover it.

    The eviction API refuses a pod with more than one budget for good, so its node could never be drained.
    """
    budgets = context.budgets_of(pod)
    used_up = any(budget.disruptions_allowed < 1 for budget in budgets)
    return block(BlockingPod.NOT_ENOUGH_BUDGET) if used_up or len(budgets) > 1 else None
