"""A pod that is to run to completion makes its node wait (R131-7)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.model.pods import SAFE_TO_EVICT
from exoscaler.core.scaledown.drainability.rule import WAIT, DrainContext, Verdict


def on_completion(pod: Pod, _: DrainContext) -> Verdict | None:
    """Wait for a pod annotated ``safe-to-evict: "on-completion"``."""
    return WAIT if pod.annotations.get(SAFE_TO_EVICT) == "on-completion" else None
