"""Whether a node has been unneeded for long enough (R125)."""

from __future__ import annotations

from datetime import datetime

from exoscaler.core.model import Node
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scheduling.readiness import has_startup_taint


def counts_as_ready(node: Node, policy: Policy) -> bool:
    """Whether the node is ready and carries no startup taint: one that never lost it is as good as unready (R21)."""
    return node.is_ready and not has_startup_taint(node, policy)


def too_early(node: Node, since: datetime | None, policy: Policy, now: datetime) -> tuple[Unremovable, str] | None:
    """The reason to wait, with the moment until when; None when the time is up.

    Strict: at the very end of the time it is still too early. Which time counts depends on whether the node is ready
    now; `since` is when it became unneeded, None when that is now. A time of zero is up at once.
    """
    ready = counts_as_ready(node, policy)
    needed = policy.shrink.unneeded_time if ready else policy.shrink.unready_time
    began = since or now
    if not needed or began + needed < now:
        return None
    reason = Unremovable.NOT_UNNEEDED_LONG_ENOUGH if ready else Unremovable.NOT_UNREADY_LONG_ENOUGH
    return reason, f"until {(began + needed).isoformat(timespec='seconds')}"
