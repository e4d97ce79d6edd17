"""How the removal of one node advances.

``planned -> tainted -> draining -> drained -> evicting -> removed``, or ``rolling-back -> rolled-back``.

Pure, like `grow`. The caller saves the returned operation before it carries out an effect: the exact taint value and
the time of the removal are in the state before they are in the world, which is how a later invocation recognises its
own work. Sending the removal itself is `removal`'s business, since the drained nodes of one pool go in one call.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from exoscaler.core.model import Node, Pod, PoolState
from exoscaler.core.model.nodes import DELAY_DELETION_PREFIX
from exoscaler.core.operations.drain import (
    daemonset_pods_to_evict,
    drain_deadline,
    eviction_of,
    pods_to_move,
)
from exoscaler.core.operations.effects import EvictPod, TaintNode, UntaintNode
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.removal import follow
from exoscaler.core.operations.shrink_step import (
    Refusal,
    ShrinkStep,
    ShrinkWorld,
    enter,
    give_up,
    rolled_back,
    wait,
)
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import RollbackReason


def advance(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    """One step. Waiting is a step too: `look_at` then says when to look again."""
    match operation.phase:
        case ShrinkPhase.REMOVED | ShrinkPhase.ROLLED_BACK:
            return ShrinkStep(operation)
        case ShrinkPhase.ROLLING_BACK:
            return _advance_rolling_back(operation, world.node, now)
        case ShrinkPhase.EVICTING:
            # What was sent cannot be taken back, so no refusal counts any more.
            return follow(operation, world, policy, now)
        case _:
            return _advance_undecided(operation, world, policy, now)


def advance_without_cloud(
    operation: ShrinkOperation, node: Node | None, trouble: str, policy: Policy, now: datetime
) -> ShrinkStep:
    """One step while the pool cannot be read, `trouble` being why: nothing goes forward, but a node may be given back.

    A removal that stays in its phase for longer than any may take while the cloud answers is undone, so that its node
    takes pods again. What was sent to the cloud is waited for, come what may.
    """
    if operation.phase is ShrinkPhase.ROLLING_BACK:
        return _advance_rolling_back(operation, node, now)
    shrink = policy.shrink
    longest = shrink.max_pod_eviction_time + shrink.max_graceful_termination + shrink.node_deletion_delay_timeout
    since = operation.phase_since or operation.planned_at
    if operation.changes_pool or now < since + longest + policy.pace.operation_timeout:
        return ShrinkStep(operation)
    return ShrinkStep(give_up(operation, Refusal(RollbackReason.CLOUD_FAILURE, trouble), now))


def _advance_undecided(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    """Before the point of no return: whatever speaks against the removal ends it."""
    refusal = _objection(operation, world)
    if refusal is not None:
        return ShrinkStep(give_up(operation, refusal, now))
    if operation.mode is ShrinkMode.NEVER_REGISTERED:
        return _advance_drained(operation, world, policy, now)
    match operation.phase:
        case ShrinkPhase.PLANNED if world.node is not None:
            return _advance_planned(operation, world.node, policy, now)
        case ShrinkPhase.TAINTED:
            return _advance_tainted(operation, world, policy, now)
        case ShrinkPhase.DRAINING:
            return _advance_draining(operation, world, policy, now)
        case _:
            return _advance_drained(operation, world, policy, now)


def _objection(operation: ShrinkOperation, world: ShrinkWorld) -> Refusal | None:
    if operation.mode is ShrinkMode.NEVER_REGISTERED:
        node_objection = None if world.node is None else Refusal(RollbackReason.NODE_REGISTERED, world.node.name)
    else:
        node_objection = _node_objection(operation, world.node)
    return node_objection or _pool_objection(world) or world.refusal


def _node_objection(operation: ShrinkOperation, node: Node | None) -> Refusal | None:
    if node is None:
        return Refusal(RollbackReason.NODE_GONE)
    if node.uid != operation.node_uid:
        return Refusal(RollbackReason.NODE_REPLACED)
    taint = node.deletion_taint
    if taint is not None and taint.value != operation.taint_value:
        return Refusal(RollbackReason.TAINTED_BY_OTHERS, taint.value)
    if operation.phase is ShrinkPhase.PLANNED:
        return None
    if taint is None:
        return Refusal(RollbackReason.TAINT_REMOVED)
    if operation.cordons and not node.unschedulable:
        return Refusal(RollbackReason.UNCORDONED)
    return None


def _pool_objection(world: ShrinkWorld) -> Refusal | None:
    if world.group is None:
        return Refusal(RollbackReason.GROUP_UNMANAGED)
    if world.pool is None:
        return Refusal(RollbackReason.POOL_GONE)
    if world.pool.state in (PoolState.BLOCKED, PoolState.GOING):
        return Refusal(RollbackReason.POOL_BLOCKED, world.pool.state_text)
    return None


def _advance_planned(operation: ShrinkOperation, node: Node, policy: Policy, now: datetime) -> ShrinkStep:
    taint = node.deletion_taint
    if taint is not None:
        # Ours, since `_objection` let it pass: put there by an invocation that died before it could say so. The pause
        # after the taint starts anew, as nobody knows when the others saw it.
        return ShrinkStep(enter(operation, ShrinkPhase.TAINTED, now))
    if now >= operation.planned_at + policy.pace.operation_timeout:
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.CLUSTER_REFUSED, operation.detail), now))
    value = str(int(now.timestamp()))
    cordons = policy.shrink.cordon and (operation.cordons or not node.unschedulable)
    intent = replace(operation, taint_value=value, cordons=cordons)
    return ShrinkStep(intent, effects=(TaintNode(node.name, node.uid, value, cordons, operation.id),))


def _advance_tainted(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    """Wait until everybody has seen the taint, then prove the plan on what is on the node now (R141)."""
    seen_by_all = (operation.phase_since or now) + policy.shrink.delay_after_taint
    if now < seen_by_all:
        return ShrinkStep(replace(operation, look_at=seen_by_all))
    if operation.mode is ShrinkMode.DRAIN:
        return _advance_draining(enter(operation, ShrinkPhase.DRAINING, now), world, policy, now)
    arrived = pods_to_move(world.pods, now)
    if arrived:
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.POD_ARRIVED, arrived[0].key), now))
    farewells = tuple(
        eviction_of(pod, policy.shrink, best_effort=True)
        for pod in daemonset_pods_to_evict(world.pods, policy.shrink, drained=False)
    )
    return ShrinkStep(enter(operation, ShrinkPhase.DRAINED, now), effects=farewells)


def _advance_draining(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    remaining = pods_to_move(world.pods, now)
    if not remaining:
        return ShrinkStep(enter(operation, ShrinkPhase.DRAINED, now))
    started_at = operation.evictions_from or now
    asking = [pod for pod in remaining if not pod.is_terminating]
    if asking and now >= started_at + policy.shrink.max_pod_eviction_time:
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.EVICTION_REFUSED, _names(asking)), now))
    if now >= drain_deadline(started_at, policy.shrink, remaining):
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.PODS_DID_NOT_END, _names(remaining)), now))
    waiting = replace(operation, evictions_from=started_at, look_at=now + policy.pace.operation_poll_interval)
    last = operation.last_eviction_round
    if last is not None and now < last + policy.pace.operation_poll_interval:
        return ShrinkStep(waiting)
    evictions = _evictions(operation, asking, world.pods, policy)
    return ShrinkStep(replace(waiting, last_eviction_round=now), effects=evictions)


def _evictions(
    operation: ShrinkOperation, asking: list[Pod], pods: tuple[Pod, ...], policy: Policy
) -> tuple[EvictPod, ...]:
    evictions = [eviction_of(pod, policy.shrink) for pod in asking]
    if operation.last_eviction_round is None:
        daemons = daemonset_pods_to_evict(pods, policy.shrink, drained=True)
        evictions += [eviction_of(pod, policy.shrink, best_effort=True) for pod in daemons]
    return tuple(evictions)


def _names(pods: list[Pod] | tuple[Pod, ...]) -> str:
    names = [pod.key for pod in pods[:3]]
    return ", ".join(names) + (f" and {len(pods) - 3} more" if len(pods) > 3 else "")


def _advance_drained(operation: ShrinkOperation, world: ShrinkWorld, policy: Policy, now: datetime) -> ShrinkStep:
    arrived = pods_to_move(world.pods, now)
    if arrived:
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.POD_ARRIVED, arrived[0].key), now))
    since = operation.phase_since or operation.planned_at
    if _asked_to_delay(world.node) and now < since + policy.shrink.node_deletion_delay_timeout:
        return ShrinkStep(wait(operation, policy, now))
    pool_is_free = world.pool is not None and world.pool.state.accepts_changes and not world.other_change
    if pool_is_free:
        return ShrinkStep(replace(operation, look_at=None), ready=True)
    if now >= since + policy.pace.operation_timeout + policy.shrink.node_deletion_delay_timeout:
        state = world.pool.state_text if world.pool is not None else ""
        return ShrinkStep(give_up(operation, Refusal(RollbackReason.POOL_BUSY_TOO_LONG, state), now))
    return ShrinkStep(wait(operation, policy, now))


def _asked_to_delay(node: Node | None) -> bool:
    return node is not None and any(key.startswith(DELAY_DELETION_PREFIX) for key in node.annotations)


def _advance_rolling_back(operation: ShrinkOperation, node: Node | None, now: datetime) -> ShrinkStep:
    if node is None or node.uid != operation.node_uid:
        return ShrinkStep(rolled_back(operation, now))
    ours = node.deletion_taint is not None and node.deletion_taint.value == operation.taint_value
    if not ours and not (operation.cordons and node.unschedulable):
        return ShrinkStep(rolled_back(operation, now))
    undo = UntaintNode(node.name, node.uid, operation.taint_value, uncordon=operation.cordons)
    return ShrinkStep(operation, effects=(undo,))
