"""Whether a node has been unneeded for long enough (R125)."""

from __future__ import annotations

from datetime import datetime

from exoscaler.core.model import Node
from exoscaler.core.policy import ShrinkPolicy
from exoscaler.core.reasons import Unremovable


def too_early(
    node: Node, since: datetime | None, policy: ShrinkPolicy, now: datetime
) -> tuple[Unremovable, str] | None:
    """The reason to wait, with the moment until when; None when the time is up.

    Strict: at the very end of the time it is still too early. Which time counts depends on whether the node is ready
    now; `since` is when it became unneeded, None when that is now.
    """
    needed = policy.unneeded_time if node.is_ready else policy.unready_time
    reason = Unremovable.NOT_UNNEEDED_LONG_ENOUGH if node.is_ready else Unremovable.NOT_UNREADY_LONG_ENOUGH
    began = since or now
    if needed and began + needed >= now:
        return reason, f"until {(began + needed).isoformat(timespec='seconds')}"
    return None
