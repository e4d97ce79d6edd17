"""An annotation may forbid to move a pod (R131-10)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block


def not_safe_to_evict(pod: Pod, _: DrainContext) -> Verdict | None:
    """Block on a pod annotated ``safe-to-evict: "false"``."""
    return block(BlockingPod.NOT_SAFE_TO_EVICT) if pod.annotations.get(SAFE_TO_EVICT) == "false" else None
