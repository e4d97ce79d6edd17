"""DaemonSet pods belong to their node: they need no other place (R131-4)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.scaledown.drainability.rule import SKIP, DrainContext, Verdict


def daemonset(pod: Pod, _: DrainContext) -> Verdict | None:
    """Skip a DaemonSet pod; a drain may still ask it to leave, as a courtesy."""
    return SKIP if pod.is_daemonset else None
