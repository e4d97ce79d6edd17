"""Operations: intended changes of one node group, kept in the state until they ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from exoscaler.core.reasons import GrowFailure, RollbackReason


class GrowPhase(StrEnum):
    """``planned -> submitted -> provisioning -> done | failed | timed-out``."""

    PLANNED = "planned"
    SUBMITTED = "submitted"
    PROVISIONING = "provisioning"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed-out"

    @property
    def ended(self) -> bool:
        """Whether nothing more happens."""
        return self in (GrowPhase.DONE, GrowPhase.FAILED, GrowPhase.TIMED_OUT)


class ShrinkPhase(StrEnum):
    """``planned -> tainted -> draining -> drained -> evicting -> removed``, or ``rolling-back -> rolled-back``."""

    PLANNED = "planned"
    TAINTED = "tainted"
    DRAINING = "draining"
    DRAINED = "drained"
    EVICTING = "evicting"
    REMOVED = "removed"
    ROLLING_BACK = "rolling-back"
    ROLLED_BACK = "rolled-back"

    @property
    def ended(self) -> bool:
        """Whether nothing more happens."""
        return self in (ShrinkPhase.REMOVED, ShrinkPhase.ROLLED_BACK)


class ShrinkMode(StrEnum):
    """What is on the node when its removal is planned."""

    EMPTY = "empty"
    DRAIN = "drain"
    NEVER_REGISTERED = "never-registered"
    """There is no node: the instance did not join in time."""


@dataclass(frozen=True, slots=True)
class GrowOperation:
    """Grow one group to an absolute size.

    Attributes:
        base_size: the pool's size when the plan was made.
        base_members: the pool's members then; what is a member later and not here is new.
        target_size: the size to reach; never sent when the pool is that large already.
        submitted_at: when the size was sent, or, in ``planned``, may have been sent; None when it certainly was not.
        cloud_operation_id: what the cloud calls the change; empty when its answer was lost.
        look_at: not to be looked at again before this moment.
        failure, detail: how it failed.
    """

    id: str
    group_id: str
    group_name: str
    decision_id: str
    base_size: int
    base_members: tuple[str, ...]
    target_size: int
    planned_at: datetime
    phase: GrowPhase = GrowPhase.PLANNED
    phase_since: datetime | None = None
    submitted_at: datetime | None = None
    cloud_operation_id: str = ""
    look_at: datetime | None = None
    failure: GrowFailure | None = None
    detail: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more happens."""
        return self.phase.ended

    @property
    def changes_pool(self) -> bool:
        """Whether a change of the pool may be under way in the cloud."""
        return self.phase is GrowPhase.SUBMITTED or (self.phase is GrowPhase.PLANNED and self.submitted_at is not None)


@dataclass(frozen=True, slots=True)
class ShrinkOperation:
    """Remove one node, or one instance that never became one.

    Attributes:
        taint_value: the exact value of the taint that this operation puts on the node; it marks the taint as ours.
        cordons: whether this operation cordons the node, and so may undo it.
        evictions_from: when the first pod was asked to leave.
        last_eviction_round: when pods were last asked.
        evict_sent_at: when the removal was sent to the cloud, None before.
        size_before: the pool's size just before the removal was sent.
        rollback: why the removal is undone; set from ``rolling-back`` on.
    """

    id: str
    group_id: str
    group_name: str
    decision_id: str
    node_name: str
    node_uid: str
    instance_id: str
    mode: ShrinkMode
    planned_at: datetime
    phase: ShrinkPhase = ShrinkPhase.PLANNED
    phase_since: datetime | None = None
    taint_value: str = ""
    cordons: bool = False
    evictions_from: datetime | None = None
    last_eviction_round: datetime | None = None
    evict_sent_at: datetime | None = None
    size_before: int = 0
    cloud_operation_id: str = ""
    look_at: datetime | None = None
    rollback: RollbackReason | None = None
    detail: str = ""

    @property
    def ended(self) -> bool:
        """Whether nothing more happens."""
        return self.phase.ended

    @property
    def changes_pool(self) -> bool:
        """Whether a change of the pool may be under way in the cloud."""
        return self.phase is ShrinkPhase.EVICTING


class CloudOperationState(StrEnum):
    """The state of a change in the cloud."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    FORGOTTEN = "forgotten"
    """The cloud no longer knows the operation."""


@dataclass(frozen=True, slots=True)
class CloudOperation:
    """A change in the cloud. `busy` is True when it failed only because the pool was being changed."""

    id: str
    state: CloudOperationState
    detail: str = ""
    busy: bool = False
    quota: bool = False
    """Whether it failed for want of quota."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The right of one invocation to act on a pool's operations, until it expires."""

    group_id: str
    owner: str
    expires_at: datetime
