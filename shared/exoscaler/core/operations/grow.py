"""How a growth advances: ``planned -> submitted -> provisioning -> done | failed | timed-out``.

Pure: what was observed and the time go in, the operation and the effects to carry out come out. The caller saves the
returned operation before it carries out an effect, so that a crash leaves either "intent recorded, not done" or "done,
not recorded"; both are told apart by the pool's size, since only absolute sizes are ever sent. Until they are, nothing
else may change the pool: a removal would lower the size, and the same growth would be bought twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from exoscaler.core.model import NodeGroup, Pool, PoolState
from exoscaler.core.operations.due import pause_for
from exoscaler.core.operations.effects import SetPoolSize
from exoscaler.core.operations.model import CloudOperation, CloudOperationState, GrowOperation, GrowPhase
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import GrowFailure
from exoscaler.errors import Conflict, Denied, NotFound, QuotaExceeded, RateLimited, Rejected, RemoteError


@dataclass(frozen=True, slots=True)
class GrowWorld:
    """What was just observed.

    Attributes:
        group: the group as the cache knows it; None when it is no longer managed.
        pool: the pool, read just now; None when the cloud says that it does not exist.
        other_change: whether another change of the same pool is under way.
        cloud_operation: the change's own progress; None when it has no id or was not asked for.
        registered: ids of the instances that have a node.
        ready: ids of the instances whose node is ready.
    """

    group: NodeGroup | None
    pool: Pool | None
    other_change: bool = False
    cloud_operation: CloudOperation | None = None
    registered: frozenset[str] = frozenset()
    ready: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GrowStep:
    """The operation as it now stands, what to do, and instances to remove since they never became nodes."""

    operation: GrowOperation
    effects: tuple[SetPoolSize, ...] = ()
    never_registered: tuple[str, ...] = ()


def advance(operation: GrowOperation, world: GrowWorld, policy: Policy, now: datetime) -> GrowStep:
    """One step. Waiting is a step too: `look_at` then says when to look again."""
    if operation.ended:
        return GrowStep(operation)
    if world.pool is None:
        return GrowStep(_failed(operation, GrowFailure.POOL_GONE, "", now))
    match operation.phase:
        case GrowPhase.PLANNED:
            return _advance_planned(operation, world, world.pool, policy, now)
        case GrowPhase.SUBMITTED:
            return _advance_submitted(operation, world, world.pool, policy, now)
        case _:
            return _advance_provisioning(operation, world, world.pool, policy, now)


def accepted(operation: GrowOperation, change: CloudOperation, now: datetime) -> GrowOperation:
    """The cloud took the new size."""
    return _enter(replace(operation, cloud_operation_id=change.id, submitted_at=now), GrowPhase.SUBMITTED, now)


def refused(operation: GrowOperation, error: RemoteError, policy: Policy, now: datetime) -> GrowOperation:
    """The cloud did not take the new size, or its answer was lost.

    What may pass by itself leaves the operation planned; the pool is read again before anything is sent again, so a
    change that did take effect is recognised.
    """
    match error:
        case QuotaExceeded():
            return _failed(operation, GrowFailure.QUOTA_EXCEEDED, str(error), now)
        case Denied():
            return _failed(operation, GrowFailure.DENIED, str(error), now)
        case Rejected():
            return _failed(operation, GrowFailure.REJECTED, str(error), now)
        case NotFound():
            return _failed(operation, GrowFailure.POOL_GONE, str(error), now)
        case RateLimited(retry_after=timedelta() as pause):
            return replace(operation, submitted_at=None, look_at=now + pause_for(pause, policy), detail=str(error))
        case _:
            sent_at = operation.submitted_at if error.took_effect else None
            later = now + policy.pace.operation_poll_interval
            return replace(operation, submitted_at=sent_at, look_at=later, detail=str(error))


def _advance_planned(operation: GrowOperation, world: GrowWorld, pool: Pool, policy: Policy, now: datetime) -> GrowStep:
    if pool.size >= operation.target_size:
        # Sent by an invocation that died before it could say so, or somebody else wanted the same.
        return GrowStep(_enter(replace(operation, submitted_at=now), GrowPhase.SUBMITTED, now))
    operation = _on_top_of(pool, operation)
    if world.group is None or operation.target_size > world.group.max_size:
        return GrowStep(_failed(operation, GrowFailure.SUPERSEDED, "the group's bounds changed", now))
    if pool.state in (PoolState.BLOCKED, PoolState.GOING):
        return GrowStep(_failed(operation, GrowFailure.POOL_BLOCKED, f"the pool is {pool.state_text}", now))
    is_free = pool.state.accepts_changes and not world.other_change
    if now >= operation.planned_at + policy.pace.operation_timeout:
        return GrowStep(_too_late(operation, now, is_free=is_free))
    if not is_free:
        return GrowStep(_wait(operation, policy, now))
    intent = replace(operation, submitted_at=now)
    return GrowStep(intent, effects=(SetPoolSize(intent.group_id, intent.target_size),))


def _on_top_of(pool: Pool, operation: GrowOperation) -> GrowOperation:
    """The growth by as many nodes as planned, on top of a pool that has become smaller since.

    Nodes that were on their way out when it was planned counted as gone already: to reach the old target would buy
    them back.
    """
    gone = operation.base_size - pool.size
    if gone <= 0:
        return operation
    return replace(operation, base_size=pool.size, target_size=operation.target_size - gone)


def _too_late(operation: GrowOperation, now: datetime, *, is_free: bool) -> GrowOperation:
    """A growth that was not submitted in time: the last refusal tells whether the cloud answered.

    Where nothing was refused and the pool is free, nobody looked: that is not the pool's fault, and what was wanted so
    long ago is no reason to buy now.
    """
    if not operation.detail and is_free:
        return _failed(operation, GrowFailure.SUPERSEDED, "nobody carried out the plan in time", now)
    unreachable = operation.detail and Conflict.what not in operation.detail
    failure = GrowFailure.CLOUD_UNREACHABLE if unreachable else GrowFailure.POOL_BUSY_TOO_LONG
    return _failed(operation, failure, operation.detail, now)


def _advance_submitted(
    operation: GrowOperation, world: GrowWorld, pool: Pool, policy: Policy, now: datetime
) -> GrowStep:
    change = world.cloud_operation
    state = change.state if change is not None else CloudOperationState.FORGOTTEN
    if change is not None and state in (CloudOperationState.FAILURE, CloudOperationState.TIMEOUT):
        return GrowStep(_after_cloud_failure(operation, change, pool, policy, now))
    if state is CloudOperationState.PENDING and not _overdue(operation, policy, now):
        return GrowStep(_wait(operation, policy, now))
    if pool.size >= operation.target_size:
        # The pool's size is what counts; an operation that stays pending beyond its limit is not waited for.
        return _advance_provisioning(_enter(operation, GrowPhase.PROVISIONING, now), world, pool, policy, now)
    if _overdue(operation, policy, now):
        detail = f"the pool is still of size {pool.size}, not {operation.target_size}"
        return GrowStep(_failed(operation, GrowFailure.CLOUD_FAILURE, detail, now))
    return GrowStep(_wait(operation, policy, now))


def _after_cloud_failure(
    operation: GrowOperation, change: CloudOperation, pool: Pool, policy: Policy, now: datetime
) -> GrowOperation:
    if change.busy and pool.size < operation.target_size:
        again = replace(operation, cloud_operation_id="", submitted_at=None, detail=change.detail)
        return _wait(_enter(again, GrowPhase.PLANNED, now), policy, now)
    failure = GrowFailure.QUOTA_EXCEEDED if change.quota else GrowFailure.CLOUD_FAILURE
    return _failed(operation, failure, change.detail or f"operation ended as {change.state.value}", now)


def _advance_provisioning(
    operation: GrowOperation, world: GrowWorld, pool: Pool, policy: Policy, now: datetime
) -> GrowStep:
    arrivals = [instance for instance in pool.members if instance not in operation.base_members]
    # A pool made smaller by hand meanwhile owes only what it still means to have.
    wanted = min(operation.target_size, pool.size)
    missing = max(0, wanted - len(pool.members))
    unready = [instance for instance in arrivals if instance not in world.ready]
    if not missing and not unready:
        return GrowStep(_enter(replace(operation, look_at=None, detail=""), GrowPhase.DONE, now))
    since = operation.submitted_at or operation.planned_at
    if now < since + policy.growth.max_node_provision_time:
        return GrowStep(_wait(operation, policy, now))
    detail = f"{len(unready)} instances not ready as nodes, {missing} never appeared in the pool"
    never = tuple(instance for instance in unready if instance not in world.registered)
    ended = _enter(replace(operation, failure=GrowFailure.NEVER_READY, detail=detail), GrowPhase.TIMED_OUT, now)
    return GrowStep(ended, never_registered=never)


def _overdue(operation: GrowOperation, policy: Policy, now: datetime) -> bool:
    return now >= (operation.submitted_at or operation.planned_at) + policy.pace.operation_timeout


def _wait(operation: GrowOperation, policy: Policy, now: datetime) -> GrowOperation:
    return replace(operation, look_at=now + policy.pace.operation_poll_interval)


def _enter(operation: GrowOperation, phase: GrowPhase, now: datetime) -> GrowOperation:
    return replace(operation, phase=phase, phase_since=now, look_at=None)


def _failed(operation: GrowOperation, failure: GrowFailure, detail: str, now: datetime) -> GrowOperation:
    return _enter(replace(operation, failure=failure, detail=detail), GrowPhase.FAILED, now)
