"""Writing an operation's progress into the state.

Only the holder of a pool's claim may write, and only about an operation that the state knows to be in flight: what
was lost or taken over meanwhile is not written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TypeVar

from exoscaler.core.model import NodeGroup
from exoscaler.core.observing import counted
from exoscaler.core.operations.claims import claim_holder
from exoscaler.core.operations.model import (
    GrowOperation,
    GrowPhase,
    ShrinkMode,
    ShrinkOperation,
    ShrinkPhase,
)
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import GrowFailure, RollbackReason
from exoscaler.core.scaleup.backoff import backed_off
from exoscaler.core.state import CounterName, ObservationsDocument, OperationsDocument, State
from exoscaler.errors import ClaimLost


def check_claim(state: State, group_id: str, owner: str, now: datetime) -> None:
    """Raise `ClaimLost` unless `owner` may act on the pool now."""
    if claim_holder(state.operations, group_id, now) != owner:
        raise ClaimLost(f"the claim on pool {group_id} has expired or passed to another invocation")


def with_grow(state: State, operation: GrowOperation, policy: Policy, now: datetime) -> State:
    """The state with a growth's progress. One that ended is kept among the last, and what follows from it is noted.

    Raises:
        ClaimLost: the state does not know the operation as in flight.
    """
    known = state.operations.growing
    if operation.id not in {op.id for op in known}:
        raise ClaimLost(f"growth {operation.id} of {operation.group_name} is not in the state any more")
    operations = state.operations
    if operation.ended:
        ended = _last((*operations.ended_growing, operation), policy)
        rest = tuple(op for op in known if op.id != operation.id)
        operations = operations.model_copy(update={"growing": rest, "ended_growing": ended})
        observations = _after_growth(state.observations, operation, policy, now)
        return state.model_copy(update={"operations": operations, "observations": observations})
    growing = tuple(operation if op.id == operation.id else op for op in known)
    return state.model_copy(update={"operations": operations.model_copy(update={"growing": growing})})


_Operation = TypeVar("_Operation", GrowOperation, ShrinkOperation)


def _last(ended: tuple[_Operation, ...], policy: Policy) -> tuple[_Operation, ...]:
    return ended[max(0, len(ended) - policy.pace.ended_operations_kept) :]


def _after_growth(
    before: ObservationsDocument, operation: GrowOperation, policy: Policy, now: datetime
) -> ObservationsDocument:
    added = max(0, operation.target_size - operation.base_size)
    if operation.phase is GrowPhase.DONE:
        return before.model_copy(
            update={
                "grown_at": {**before.grown_at, operation.group_id: now},
                "counters": counted(before.counters, CounterName.NODES_ADDED, added),
            }
        )
    counters = counted(before.counters, CounterName.GROWTHS_FAILED)
    if operation.failure is None or operation.failure is GrowFailure.SUPERSEDED:
        return before.model_copy(update={"counters": counters})
    previous = before.backoffs.get(operation.group_id)
    backoff = backed_off(previous, operation.failure, operation.detail, now, policy.growth)
    return before.model_copy(
        update={"backoffs": {**before.backoffs, operation.group_id: backoff}, "counters": counters}
    )


def with_never_registered(
    state: State, operation: GrowOperation, instances: Iterable[str], group: NodeGroup, now: datetime
) -> State:
    """The state with a removal for each instance of a timed-out growth that never became a node (R42).

    As many as the group's minimum allows; an instance that has a removal already gets no second one.
    """
    operations = state.operations
    doomed = {op.instance_id for op in operations.shrinking}
    room = max(0, group.pool.size - group.min_size - len(doomed & set(group.pool.members)))
    new = [instance for instance in sorted(instances) if instance not in doomed][:room]
    removals = tuple(
        ShrinkOperation(
            id=f"{operation.id}-never-{instance}",
            group_id=operation.group_id,
            group_name=operation.group_name,
            decision_id=operation.decision_id,
            node_name="",
            node_uid="",
            instance_id=instance,
            mode=ShrinkMode.NEVER_REGISTERED,
            planned_at=now,
            phase=ShrinkPhase.DRAINED,
            phase_since=now,
        )
        for instance in new
    )
    recorded = operations.model_copy(update={"shrinking": (*operations.shrinking, *removals)})
    return state.model_copy(update={"operations": recorded})


def with_shrinks(state: State, operations: Iterable[ShrinkOperation], policy: Policy, now: datetime) -> State:
    """The state with the progress of removals.

    Raises:
        ClaimLost: the state does not know one of them as in flight.
    """
    for operation in operations:
        state = _with_shrink(state, operation, policy, now)
    return state


def _with_shrink(state: State, operation: ShrinkOperation, policy: Policy, now: datetime) -> State:
    document = state.operations
    if operation.id not in {op.id for op in document.shrinking}:
        raise ClaimLost(f"removal {operation.id} of {operation.node_name} is not in the state any more")
    if not operation.ended:
        shrinking = tuple(operation if op.id == operation.id else op for op in document.shrinking)
        return state.model_copy(update={"operations": document.model_copy(update={"shrinking": shrinking})})
    ended = _last((*document.ended_shrinking, operation), policy)
    rest = tuple(op for op in document.shrinking if op.id != operation.id)
    document = document.model_copy(update={"shrinking": rest, "ended_shrinking": ended})
    observations = _after_removal(state.observations, operation, now)
    return state.model_copy(update={"operations": document, "observations": observations})


_REMOVED = {
    ShrinkMode.EMPTY: CounterName.NODES_REMOVED_EMPTY,
    ShrinkMode.DRAIN: CounterName.NODES_REMOVED_DRAINED,
    ShrinkMode.NEVER_REGISTERED: CounterName.INSTANCES_REMOVED_UNREGISTERED,
}
_COOLS_DOWN = frozenset(
    {
        RollbackReason.DENIED,
        RollbackReason.REJECTED,
        RollbackReason.CLOUD_FAILURE,
        RollbackReason.CLUSTER_REFUSED,
        RollbackReason.POOL_BUSY_TOO_LONG,
        RollbackReason.EVICTION_REFUSED,
        RollbackReason.PODS_DID_NOT_END,
    }
)
"""Roll-backs after which the group is left alone for ``scale-down-delay-after-failure``: trying at once would fail
again. The others only say that the plan no longer held."""


def _after_removal(before: ObservationsDocument, operation: ShrinkOperation, now: datetime) -> ObservationsDocument:
    """A removed node starts the cool-down after a deletion; a node that stays starts its time anew (R155)."""
    unneeded = {uid: node for uid, node in before.unneeded.items() if uid != operation.node_uid}
    group = operation.group_id
    if operation.phase is ShrinkPhase.REMOVED:
        counters = counted(before.counters, _REMOVED[operation.mode])
        shrunk_at = {**before.shrunk_at, group: now}
        return before.model_copy(update={"unneeded": unneeded, "counters": counters, "shrunk_at": shrunk_at})
    counters = counted(before.counters, CounterName.REMOVALS_ROLLED_BACK)
    failed_at = before.shrink_failed_at
    if operation.rollback in _COOLS_DOWN:
        failed_at = {**failed_at, group: now}
    return before.model_copy(update={"unneeded": unneeded, "counters": counters, "shrink_failed_at": failed_at})


def with_operations(state: State, operations: OperationsDocument) -> State:
    """The state with another document of operations."""
    return state.model_copy(update={"operations": operations})


def with_counter(state: State, name: CounterName, by: int = 1) -> State:
    """The state with one counter raised."""
    counters = counted(state.observations.counters, name, by)
    return state.model_copy(update={"observations": state.observations.model_copy(update={"counters": counters})})
