"""A pod marked as safe to evict moves, whatever the rules that follow say (R131-5).

The eviction API still asks its disruption budgets.
"""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.scaledown.drainability.rule import MOVE, DrainContext, Verdict


def safe_to_evict(pod: Pod, _: DrainContext) -> Verdict | None:
    """Move a pod annotated ``safe-to-evict: "true"``."""
    return MOVE if pod.annotations.get(SAFE_TO_EVICT) == "true" else None
