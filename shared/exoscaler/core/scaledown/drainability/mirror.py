"""Mirror pods stand for static pods of the kubelet, which go with their machine (R131-1)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.scaledown.drainability.rule import SKIP, DrainContext, Verdict


def mirror(pod: Pod, _: DrainContext) -> Verdict | None:
    """Skip a mirror pod."""
    return SKIP if pod.is_mirror else None
