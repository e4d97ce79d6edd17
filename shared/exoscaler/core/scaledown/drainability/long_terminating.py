"""Pods that should have been gone for a while hold nothing (R131-2)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.operations.drain import is_stuck
from exoscaler.core.scaledown.drainability.rule import SKIP, DrainContext, Verdict


def long_terminating(pod: Pod, context: DrainContext) -> Verdict | None:
    """Skip a pod stuck in termination."""
    return SKIP if is_stuck(pod, context.now) else None
