"""When nothing may be removed for a while, although nodes are judged all the same (R105, R107-R109).

Upstream drops the unneeded times of a group that cools down by itself (R108); here they go on, as they do when all
groups cool down together.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from exoscaler.core.plan import GrowthPlan
from exoscaler.core.scene import Scene


def held_everywhere(scene: Scene, growth: GrowthPlan) -> str:
    """Why nothing is removed in any group; empty when removals are allowed, or are held group by group.

    A growth that is planned or under way holds removals like one that has just ended.
    """
    if scene.policy.shrink.delay_is_local:
        return ""
    under_way = (*scene.state.operations.growing, *growth.operations)
    growing = sorted({op.group_name for op in under_way if not op.ended})
    if growing:
        return f"growing: {', '.join(growing)}"
    return _recent(scene, None)


def held_in_group(scene: Scene, group_id: str) -> str:
    """Why nothing is removed in one group, with ``scale-down-delay-type-local`` (R108); empty when it is allowed."""
    return _recent(scene, group_id) if scene.policy.shrink.delay_is_local else ""


def held_after_failure(scene: Scene, group_id: str) -> bool:
    """Whether a removal from the group failed so lately that another one would fail too."""
    failed_at = scene.state.observations.shrink_failed_at.get(group_id)
    return failed_at is not None and min(failed_at, scene.now) + scene.policy.shrink.delay_after_failure > scene.now


def _recent(scene: Scene, group_id: str | None) -> str:
    policy, seen = scene.policy.shrink, scene.state.observations
    checks: tuple[tuple[Mapping[str, datetime], timedelta, str], ...] = (
        (seen.grown_at, policy.delay_after_add, "a growth"),
        (seen.shrunk_at, policy.delay_after_delete, "a removal"),
        (seen.shrink_failed_at, policy.delay_after_failure, "a failed removal"),
    )
    for times, delay, what in checks:
        # A time in the future was stamped by a clock that has been set back: it counts as now.
        moments = (min(at, scene.now) for group, at in times.items() if group_id in (None, group))
        latest = max(moments, default=None)
        if latest is not None and latest + delay > scene.now:
            return f"cool-down after {what} until {(latest + delay).isoformat(timespec='seconds')}"
    return ""
