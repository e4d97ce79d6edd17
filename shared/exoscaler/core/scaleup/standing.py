"""Whether a group may be grown at all now, its size and the shared limits aside (R51)."""

from __future__ import annotations

from exoscaler.core.model import NodeGroup, PoolState
from exoscaler.core.reasons import GroupSkip
from exoscaler.core.scaleup.backoff import in_backoff
from exoscaler.core.scene import Scene


def why_skipped(group: NodeGroup, scene: Scene) -> GroupSkip | None:
    """Why the group is left alone, if it is; what a person must mend comes before what passes by itself."""
    if group.pool.state in (PoolState.BLOCKED, PoolState.GOING):
        return GroupSkip.POOL_BLOCKED
    if group.is_stale:
        return GroupSkip.STALE
    if in_backoff(scene.state.observations.backoffs.get(group.id), scene.now):
        return GroupSkip.BACKED_OFF
    if _is_being_changed(group, scene):
        return GroupSkip.OPERATION_IN_FLIGHT
    if not group.pool.state.accepts_changes:
        return GroupSkip.POOL_BUSY
    return None


def _is_being_changed(group: NodeGroup, scene: Scene) -> bool:
    """One change of a pool at a time. A removal that has not reached the cloud yet does not stand in the way."""
    operations = scene.state.operations
    growing = any(op.group_id == group.id and not op.ended for op in operations.growing)
    return growing or any(op.group_id == group.id and op.changes_pool for op in operations.shrinking)
