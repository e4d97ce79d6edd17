"""What a removal looks at, what one step of it yields, and the moves that every phase shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from exoscaler.core.model import Node, NodeGroup, Pod, Pool
from exoscaler.core.operations.effects import Effect
from exoscaler.core.operations.model import CloudOperation, ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import RollbackReason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a removal must not go on."""

    reason: RollbackReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ShrinkWorld:
    """What was just observed.

    Attributes:
        node: the node, read from the API server; None when it does not exist. For an instance that never registered:
            any node that stands for it.
        pods: the pods bound to it, read after the node.
        group: as the cache knows it; None when it is no longer managed.
        pool: read just now; None when the cloud says that it does not exist.
        other_change: whether another change of the same pool is under way.
        cloud_operation: the removal's own progress; None when it has no id or was not asked for.
        instance_leaving: whether the instance is gone or going; None when that was not asked for.
        refusal: why the plan no longer holds on fresh data; None when it does.
    """

    node: Node | None
    pods: tuple[Pod, ...]
    group: NodeGroup | None
    pool: Pool | None
    other_change: bool = False
    cloud_operation: CloudOperation | None = None
    instance_leaving: bool | None = None
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class ShrinkStep:
    """The operation as it now stands and what to do. `ready` says that its instance may be sent for removal now."""

    operation: ShrinkOperation
    effects: tuple[Effect, ...] = ()
    ready: bool = False


def rolled_back(operation: ShrinkOperation, now: datetime) -> ShrinkOperation:
    """The node is as it was before, as far as we changed it."""
    return enter(operation, ShrinkPhase.ROLLED_BACK, now)


def give_up(operation: ShrinkOperation, refusal: Refusal, now: datetime) -> ShrinkOperation:
    """Undo the removal; at once when nothing was done to a node yet."""
    reasoned = replace(operation, rollback=refusal.reason, detail=refusal.detail)
    untouched = not operation.taint_value
    return enter(reasoned, ShrinkPhase.ROLLED_BACK if untouched else ShrinkPhase.ROLLING_BACK, now)


def hindered(operation: ShrinkOperation, detail: str, policy: Policy, now: datetime) -> ShrinkOperation:
    """The cluster did not carry out a taint, an eviction or an untaint; it is tried again later."""
    return wait(replace(operation, detail=detail), policy, now)


def wait(operation: ShrinkOperation, policy: Policy, now: datetime) -> ShrinkOperation:
    """Nothing to do before the next look."""
    return replace(operation, look_at=now + policy.pace.operation_poll_interval)


def enter(operation: ShrinkOperation, phase: ShrinkPhase, now: datetime) -> ShrinkOperation:
    """Begin a phase."""
    return replace(operation, phase=phase, phase_since=now, look_at=None)
