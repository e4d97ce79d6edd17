"""When nothing may be removed for a while, although nodes are judged all the same (R105, R107-R109)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from exoscaler.core.plan import GrowthPlan
from exoscaler.core.scene import Scene


def held_everywhere(scene: Scene, growth: GrowthPlan) -> str:
    """Why nothing is removed in any group; empty when removals are allowed, or are held group by group."""
    policy = scene.policy.shrink
    if not policy.enabled:
        return "scale-down-enabled is off"
    if policy.delay_is_local:
        return ""
    if growth.operations or any(not op.ended for op in scene.state.operations.growing):
        return "a group is growing"
    return _recent(scene, None)


def held_in_group(scene: Scene, group_id: str) -> str:
    """Why nothing is removed in one group, with ``scale-down-delay-type-local`` (R108); empty when it is allowed."""
    return _recent(scene, group_id) if scene.policy.shrink.delay_is_local else ""


def _recent(scene: Scene, group_id: str | None) -> str:
    policy, seen = scene.policy.shrink, scene.state.observations
    checks: tuple[tuple[Mapping[str, datetime], timedelta, str], ...] = (
        (seen.grown_at, policy.delay_after_add, "a growth"),
        (seen.shrunk_at, policy.delay_after_delete, "a removal"),
        (seen.shrink_failed_at, policy.delay_after_failure, "a failed removal"),
    )
    for times, delay, what in checks:
        relevant = [at for group, at in times.items() if group_id is None or group == group_id]
        # A time in the future was stamped by a clock that has been set back: it cools down no longer than any other.
        latest = max((min(at, scene.now) for at in relevant), default=None)
        if latest is not None and latest + delay > scene.now:
            return f"cool-down after {what} until {(latest + delay).isoformat(timespec='seconds')}"
    return ""
