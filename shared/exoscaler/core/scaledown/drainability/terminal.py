"""Pods that have ended for good hold nothing (R131-6)."""

from __future__ import annotations

from exoscaler.core.model import Pod, PodPhase, RestartPolicy
from exoscaler.core.scaledown.drainability.rule import SKIP, DrainContext, Verdict


def terminal(pod: Pod, _: DrainContext) -> Verdict | None:
    """Skip a failed pod, and a succeeded one that is not started again."""
    ended = pod.phase is PodPhase.SUCCEEDED and pod.spec.restart_policy is not RestartPolicy.ALWAYS
    return SKIP if pod.phase is PodPhase.FAILED or ended else None
