"""Operations in any phase, and the worlds they meet."""

from __future__ import annotations

from datetime import datetime
from typing import TypedDict, Unpack

from exoscaler.core.model import Node, NodeGroup, Pod, Pool, PoolState
from exoscaler.core.operations.grow import GrowWorld
from exoscaler.core.operations.model import (
    CloudOperation,
    CloudOperationState,
    GrowOperation,
    GrowPhase,
    ShrinkMode,
    ShrinkOperation,
    ShrinkPhase,
)
from exoscaler.core.operations.shrink_step import Refusal, ShrinkWorld
from exoscaler.core.policy import Policy
from tests.builders import NOW, instance_id, make_group, make_node, taint

POLICY = Policy()
TAINT_VALUE = str(int(NOW.timestamp()))


def pool(*members: str, size: int | None = None, state: PoolState = PoolState.RUNNING) -> Pool:
    return Pool(len(members) if size is None else size, tuple(sorted(members)), state, state.value)


def change(state: CloudOperationState, *, detail: str = "", busy: bool = False, quota: bool = False) -> CloudOperation:
    return CloudOperation("change-1", state, detail, busy, quota)


class GrowOptions(TypedDict, total=False):
    phase_since: datetime
    submitted_at: datetime
    cloud_operation_id: str
    detail: str
    planned_at: datetime


def growth(
    phase: GrowPhase = GrowPhase.PLANNED,
    *,
    base: tuple[str, ...] = ("a",),
    target: int = 3,
    **options: Unpack[GrowOptions],
) -> GrowOperation:
    """A growth of group `pool` from its base members to `target`, planned now."""
    given: GrowOptions = {"planned_at": NOW, **options}
    return GrowOperation("grow-1", "id-of-pool", "pool", "decision", len(base), base, target, phase=phase, **given)


def grow_world(
    seen: Pool | None,
    *,
    group: NodeGroup | None = None,
    managed: bool = True,
    other_change: bool = False,
    cloud_operation: CloudOperation | None = None,
    registered: tuple[str, ...] = (),
    ready: tuple[str, ...] = (),
) -> GrowWorld:
    known = (group or make_group("pool")) if managed else None
    return GrowWorld(known, seen, other_change, cloud_operation, frozenset((*registered, *ready)), frozenset(ready))


class ShrinkOptions(TypedDict, total=False):
    phase_since: datetime
    taint_value: str
    cordons: bool
    evictions_from: datetime
    last_eviction_round: datetime
    evict_sent_at: datetime
    size_before: int
    cloud_operation_id: str
    planned_at: datetime


def shrinking(
    phase: ShrinkPhase = ShrinkPhase.PLANNED,
    *,
    node: str = "victim",
    mode: ShrinkMode = ShrinkMode.DRAIN,
    **options: Unpack[ShrinkOptions],
) -> ShrinkOperation:
    """The removal of a node of group `pool`; past planning it has tainted and cordoned the node."""
    given: ShrinkOptions = {"planned_at": NOW, "phase_since": NOW}
    if phase is not ShrinkPhase.PLANNED:
        given = {**given, "taint_value": TAINT_VALUE, "cordons": True}
    given = {**given, **options}
    return ShrinkOperation(
        f"shrink-{node}",
        "id-of-pool",
        "pool",
        "decision",
        node,
        f"uid-of-{node}",
        instance_id(node),
        mode,
        phase=phase,
        **given,
    )


def tainted_node(name: str = "victim", *, value: str = TAINT_VALUE, cordoned: bool = True) -> Node:
    marks = (taint("ToBeDeletedByClusterAutoscaler", value),)
    return make_node(name, taints=marks, unschedulable=cordoned)


def shrink_world(
    node: Node | None,
    *pods: Pod,
    seen: Pool | None = None,
    gone_pool: bool = False,
    managed: bool = True,
    other_change: bool = False,
    cloud_operation: CloudOperation | None = None,
    leaving: bool | None = None,
    refusal: Refusal | None = None,
) -> ShrinkWorld:
    """By default a running pool of three, the victim one of them."""
    present = seen or pool(instance_id("victim"), "b", "c")
    return ShrinkWorld(
        node,
        pods,
        make_group("pool", members=("b", "c", instance_id("victim"))) if managed else None,
        None if gone_pool else present,
        other_change,
        cloud_operation,
        leaving,
        refusal,
    )
