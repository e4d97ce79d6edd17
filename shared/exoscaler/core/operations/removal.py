"""Sending drained instances of one pool for removal, and following what becomes of them.

An accepted removal lowers the pool's size by itself and must never be sent twice. When its answer was lost, the pool
and the instance tell whether it took effect; until they do, nothing is sent again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from exoscaler.core.model import NodeGroup, Pool
from exoscaler.core.operations.due import pause_for
from exoscaler.core.operations.effects import DeleteNode, RemoveInstances
from exoscaler.core.operations.model import CloudOperation, CloudOperationState, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.shrink_step import Refusal, ShrinkStep, ShrinkWorld, enter, give_up, wait
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import RollbackReason
from exoscaler.errors import Conflict, Denied, NotFound, QuotaExceeded, RateLimited, Rejected, RemoteError

NODE_OBJECT_POLLS = 6
"""For how many poll intervals a Node may outlive its instance before exoscaler deletes it; usually the cloud's own
controller is quicker."""


def begin_removal(
    ready: Sequence[ShrinkOperation], group: NodeGroup, pool: Pool, policy: Policy, now: datetime
) -> tuple[tuple[ShrinkOperation, ...], RemoveInstances | None]:
    """Of the drained nodes of one pool, those to send now, as one call.

    Never so many that the pool would fall below its minimum; what is beyond is given up, in name order (I1). Members
    that the pool no longer lists need no call: following them finds them gone.

    Returns:
        Every operation of `ready` as it now stands, and the call, None when there is none to make.
    """
    floor = max(group.min_size, policy.smallest_group)
    room = max(0, pool.size - floor)
    decided: list[ShrinkOperation] = []
    sent: list[str] = []
    for operation in sorted(ready, key=lambda op: (op.node_name, op.instance_id)):
        listed = operation.instance_id in pool.members
        if listed and len(sent) >= room:
            refusal = Refusal(RollbackReason.GROUP_MIN_SIZE_REACHED, f"size {pool.size}, minimum {floor}")
            decided.append(give_up(operation, refusal, now))
            continue
        if listed:
            sent.append(operation.instance_id)
        begun = replace(operation, evict_sent_at=now, size_before=pool.size, cloud_operation_id="")
        decided.append(enter(begun, ShrinkPhase.EVICTING, now))
    call = RemoveInstances(group.id, tuple(sent)) if sent else None
    return tuple(decided), call


def removal_accepted(
    operation: ShrinkOperation, change: CloudOperation, policy: Policy, now: datetime
) -> ShrinkOperation:
    """The cloud took the removal."""
    return wait(replace(operation, cloud_operation_id=change.id), policy, now)


def removal_refused(operation: ShrinkOperation, error: RemoteError, policy: Policy, now: datetime) -> ShrinkOperation:
    """The cloud did not take the removal, or its answer was lost."""
    match error:
        case Denied():
            return give_up(operation, Refusal(RollbackReason.DENIED, str(error)), now)
        case Rejected() | QuotaExceeded():
            return give_up(operation, Refusal(RollbackReason.REJECTED, str(error)), now)
        case Conflict() | NotFound():
            # Nothing was done. One of the instances may be gone already; the next look tells which.
            return wait(enter(replace(operation, detail=str(error)), ShrinkPhase.DRAINED, now), policy, now)
        case RateLimited(retry_after=pause):
            again = enter(replace(operation, detail=str(error)), ShrinkPhase.DRAINED, now)
            return replace(again, look_at=now + pause_for(pause or policy.pace.operation_poll_interval, policy))
        case _ if not error.took_effect:
            # The request certainly never left.
            return wait(enter(replace(operation, detail=str(error)), ShrinkPhase.DRAINED, now), policy, now)
        case _:
            return wait(replace(operation, detail=str(error)), policy, now)


def follow(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    """What became of a removal that was sent, or may have been."""
    listed = world.pool is not None and operation.instance_id in world.pool.members
    if not listed:
        return _finish(operation, world, policy, now)
    change = world.cloud_operation
    if change is not None and change.state in (CloudOperationState.FAILURE, CloudOperationState.TIMEOUT):
        return ShrinkStep(_after_cloud_failure(operation, change, world, policy, now))
    known = change is not None and change.state in (CloudOperationState.PENDING, CloudOperationState.SUCCESS)
    if known or world.pool is None or _took_effect(operation, world, world.pool, policy, now):
        return ShrinkStep(wait(operation, policy, now))
    return ShrinkStep(enter(operation, ShrinkPhase.DRAINED, now))


def _took_effect(operation: ShrinkOperation, world: ShrinkWorld, pool: Pool, policy: Policy, now: datetime) -> bool:
    """Whether a removal without a known operation may have been carried out, as far as the world tells.

    A doubt counts as yes, for a limited time: sending an evict twice could take another member with it.
    """
    sent_at = operation.evict_sent_at or now
    if world.instance_leaving or not pool.state.accepts_changes:
        return True
    if now < sent_at + policy.pace.operation_poll_interval:
        return True
    return pool.size < operation.size_before and now < sent_at + policy.pace.operation_timeout


def _after_cloud_failure(
    operation: ShrinkOperation, change: CloudOperation, world: ShrinkWorld, policy: Policy, now: datetime
) -> ShrinkOperation:
    if world.instance_leaving:
        return wait(operation, policy, now)
    if change.busy:
        again = replace(operation, cloud_operation_id="", detail=change.detail)
        return wait(enter(again, ShrinkPhase.DRAINED, now), policy, now)
    detail = change.detail or f"operation ended as {change.state.value}"
    return give_up(operation, Refusal(RollbackReason.CLOUD_FAILURE, detail), now)


def _finish(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    """The pool no longer lists the instance: what remains is its Node object.

    Without a pool to ask, only the instance itself can tell; one that is still there after so long was never removed.
    """
    if world.node is None or world.node.uid != operation.node_uid:
        return ShrinkStep(enter(replace(operation, detail=""), ShrinkPhase.REMOVED, now))
    too_long = now >= (operation.evict_sent_at or now) + policy.pace.operation_timeout
    if world.pool is None and world.instance_leaving is False and too_long:
        reason = RollbackReason.GROUP_UNMANAGED if world.group is None else RollbackReason.POOL_GONE
        return ShrinkStep(give_up(operation, Refusal(reason), now))
    patience: timedelta = NODE_OBJECT_POLLS * policy.pace.operation_poll_interval
    if world.instance_leaving and now >= (operation.evict_sent_at or now) + patience:
        return ShrinkStep(wait(operation, policy, now), effects=(DeleteNode(world.node.name, world.node.uid),))
    return ShrinkStep(wait(operation, policy, now))
