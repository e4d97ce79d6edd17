"""A pod whose disruption budget is used up must not be moved (R131-12)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block


def disruption_budget(pod: Pod, context: DrainContext) -> Verdict | None:
    """Block when several budgets cover the pod, or when the one that does allows no disruption.

    The eviction API refuses a pod with more than one budget for good, so its node could never be drained; upstream
    tries all the same. A pod that is leaving already is evicted by nobody, so it needs no budget.
    """
    if context.budgets is None or pod.is_terminating:
        return None
    covering = context.budgets.covering(pod)
    if len(covering) > 1:
        return block(BlockingPod.SEVERAL_BUDGETS)
    used_up = any(context.budgets.left(budget) < 1 for budget in covering)
    return block(BlockingPod.NOT_ENOUGH_BUDGET) if used_up else None
