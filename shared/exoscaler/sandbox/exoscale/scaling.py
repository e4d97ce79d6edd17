"""How a pool gets from one size to another.

A change is accepted (or refused) at once; from then on the pool is busy. Its operation ends when the control plane
is done, which is before new instances have booted and before evicted ones are gone. A little later the pool is
``running`` again.
"""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.sandbox.exoscale.account import Account
from exoscaler.sandbox.exoscale.errors import Busy, Invalid
from exoscaler.sandbox.exoscale.fault_kinds import (
    OperationFailsFault,
    OperationFault,
    OperationStaysPendingFault,
    OperationTimesOutFault,
)
from exoscaler.sandbox.exoscale.faults import Faults
from exoscaler.sandbox.exoscale.lifecycle import Lifecycle
from exoscaler.sandbox.exoscale.naming import Names
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.operations import (
    SUCCEEDED,
    Operation,
    OperationReason,
    OperationState,
    Outcome,
    Reference,
    failed,
)
from exoscaler.sandbox.exoscale.resources import Instance, Pool, PoolState
from exoscaler.sandbox.exoscale.room import Grant, Room
from exoscaler.sandbox.exoscale.scenario import Timing
from exoscaler.sandbox.exoscale.timeline import Timeline

MAX_SPREAD_SECONDS = 20.0
"""However many members a change brings, the last one appears this long after the first."""

_OPERATION_FAULTS: tuple[type[OperationFault], ...] = (
    OperationFailsFault,
    OperationTimesOutFault,
    OperationStaysPendingFault,
)


@dataclass(frozen=True, slots=True)
class _Course:
    """How an accepted change runs: whether it has an effect, when it starts (None: never), how its operation ends."""

    effective: bool = True
    starts: float | None = 0.0
    operation_lags: float | None = 0.0
    """How much later than usual the operation ends; None is never."""
    outcome: Outcome | None = None
    """None leaves the outcome as it would have been."""


class Scaling:
    """Changes the size of pools. Not thread-safe; `now` is the simulated time, up to which the world has moved."""

    def __init__(
        self,
        account: Account,
        timeline: Timeline,
        names: Names,
        faults: Faults,
        timing: Timing,
        lifecycle: Lifecycle,
        room: Room,
    ) -> None:
        self._account = account
        self._timeline = timeline
        self._names = names
        self._faults = faults
        self._timing = timing
        self._lifecycle = lifecycle
        self._room = room

    def resize(self, pool: Pool, size: int, cause: OperationId | None, now: float) -> Operation:
        """Set the size: missing members are created; of surplus ones the oldest go first.

        Raises:
            Busy: another change of the pool is under way.
            QuotaReached: there is no room, and the account says so at once.
        """
        _refuse_if_busy(pool)
        staying = self._account.staying(pool)
        missing = size - len(staying)
        if missing > 0:
            grant = self._room.grant(pool, missing, cause)
            return self._grow(pool, size, grant, cause, now)
        return self._shrink(pool, size, staying[: len(staying) - size], cause, now)

    def evict(self, pool: Pool, instance_ids: tuple[str, ...], cause: OperationId | None, now: float) -> Operation:
        """Remove these members; the size goes down by their number at once.

        All or none: an id that is given twice, that is not a member of this pool (unknown, of another pool, of no
        pool, gone), or whose removal is under way already makes the whole request invalid. What the real API does
        with such ids is not documented; a client has to look at the members before it asks.

        Raises:
            Busy: another change of the pool is under way.
            Invalid: an id cannot be evicted; there is one detail per such id.
        """
        _refuse_if_busy(pool)
        victims = self._evictable(pool, instance_ids)
        return self._shrink(pool, max(0, pool.size - len(victims)), victims, cause, now)

    def heal(self, pool: Pool, now: float) -> None:
        """Replace members that got lost, as far as there is room: a pool keeps its number of instances up."""
        if pool.busy:
            pool.heal_wanted = True
            return
        pool.heal_wanted = False
        missing = pool.size - len(self._account.staying(pool))
        creates = self._room.fitting(pool, missing) if missing > 0 else 0
        if creates:
            pool.state = PoolState.SCALING_UP
            pool.coming = creates
            last = self._plan_members(pool, creates, None, now)
            self._plan_settling(pool, last + self._timing.finish_seconds)

    def _grow(self, pool: Pool, size: int, grant: Grant, cause: OperationId | None, now: float) -> Operation:
        course = self._course(pool, cause, now)
        operation = self._begin(pool)
        pool.state = PoolState.SCALING_UP
        creates = grant.creates if course.effective else 0
        if course.effective and grant.size_changes:
            pool.size = size
        pool.coming = creates
        if course.starts is not None:
            last = self._plan_members(pool, creates, cause, course.starts)
            self._plan_end(pool, operation, course, grant.outcome, last)
        return operation

    def _shrink(
        self, pool: Pool, size: int, victims: list[Instance], cause: OperationId | None, now: float
    ) -> Operation:
        course = self._course(pool, cause, now)
        operation = self._begin(pool)
        leaving = victims if course.effective else []
        if course.effective:
            pool.size = size
        if victims:
            pool.state = PoolState.SCALING_DOWN
        for victim in leaving:
            victim.leaving = True
        if course.starts is not None:
            start = course.starts + self._timing.accept_seconds
            for victim in leaving:
                self._lifecycle.remove(victim, start)
            gone = start + self._lifecycle.removal_seconds if leaving else start
            self._plan_end(pool, operation, course, SUCCEEDED, start, idle_from=gone)
        return operation

    def _plan_members(self, pool: Pool, count: int, cause: OperationId | None, start: float) -> float:
        """Let `count` members appear one after the other; the moment of the last one."""

        def appear(moment: float) -> None:
            pool.coming -= 1
            self._lifecycle.launch(pool, cause, moment)

        first = start + self._timing.accept_seconds
        step = min(self._timing.appear_seconds, MAX_SPREAD_SECONDS / max(1, count - 1))
        for number in range(count):
            self._timeline.at(first + number * step, appear)
        return first + max(0, count - 1) * step

    def _plan_end(
        self,
        pool: Pool,
        operation: Operation,
        course: _Course,
        outcome: Outcome,
        done: float,
        *,
        idle_from: float = 0.0,
    ) -> None:
        """Let the operation end after `done`, and the pool be idle after that, not before `idle_from`."""
        end = done + self._timing.finish_seconds
        final = course.outcome or outcome
        if course.operation_lags is not None:
            self._timeline.at(end + course.operation_lags, lambda _: self._account.operations.end(operation.id, final))
        if pool.busy:
            self._plan_settling(pool, max(end, idle_from))

    def _plan_settling(self, pool: Pool, moment: float) -> None:
        def settle(now: float) -> None:
            pool.state = PoolState.RUNNING
            if pool.heal_wanted:
                self.heal(pool, now)

        self._timeline.at(moment + self._timing.settle_seconds, settle)

    def _begin(self, pool: Pool) -> Operation:
        return self._account.operations.begin(self._names.uuid(), self._reference(pool))

    def _reference(self, pool: Pool) -> Reference:
        nodepool = self._account.nodepool_of(pool)
        if nodepool is None:
            return Reference(pool.id, f"/v2/instance-pool/{pool.id}", OperationId.GET_INSTANCE_POOL)
        link = f"/v2/sks-cluster/{nodepool.cluster_id}/nodepool/{nodepool.id}"
        return Reference(nodepool.id, link, OperationId.GET_SKS_NODEPOOL)

    def _evictable(self, pool: Pool, instance_ids: tuple[str, ...]) -> list[Instance]:
        details = []
        members = {member.id: member for member in self._account.members(pool)}
        for instance_id in sorted(set(instance_ids)):
            member = members.get(instance_id)
            if member is None:
                details.append(f"Instance {instance_id} is not a member of Instance Pool {pool.id}")
            elif member.leaving:
                details.append(f"Instance {instance_id} is being removed already")
            if instance_ids.count(instance_id) > 1:
                details.append(f"Instance {instance_id} is given more than once")
        if details:
            raise Invalid.because(*details)
        return [members[instance_id] for instance_id in instance_ids]

    def _course(self, pool: Pool, cause: OperationId | None, now: float) -> _Course:
        fault = self._faults.take(_OPERATION_FAULTS, cause, pool.keys)
        return _Course(starts=now) if fault is None else _struck(fault, now)


def _refuse_if_busy(pool: Pool) -> None:
    if pool.busy:
        kind = "nodepool" if pool.nodepool_id else "instance pool"
        raise Busy(f"The {kind} is already being updated.")


def _struck(fault: OperationFault, now: float) -> _Course:
    match fault:
        case OperationFailsFault():
            return _Course(fault.takes_effect, now, outcome=failed(fault.reason, fault.message))
        case OperationTimesOutFault():
            outcome = Outcome(OperationState.TIMEOUT, OperationReason.UNKNOWN, "The operation did not end in time")
            return _Course(fault.takes_effect, now, outcome=outcome)
        case OperationStaysPendingFault():
            if not fault.holds_pool:
                return _Course(starts=now, operation_lags=fault.for_seconds)
            return _Course(starts=None if fault.for_seconds is None else now + fault.for_seconds)
