"""Whether the plan to remove a node still holds, on fresh data (R141)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from exoscaler.core.model import Node, NodeGroup, Pod
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.model.snapshot import ClusterSnapshot
from exoscaler.core.operations.drain import pods_to_move
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation
from exoscaler.core.operations.shrink_step import Refusal
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.scaledown.budgets import BudgetLedger
from exoscaler.core.scaledown.departure import Departure, departure
from exoscaler.core.scaledown.drainability import RULES_WITHOUT_BUDGETS, DrainContext
from exoscaler.core.scaledown.pod_view import pod_view
from exoscaler.core.scaledown.replacement import replace_pods
from exoscaler.core.scaledown.utilization import utilization_of
from exoscaler.core.scaleup import ledger_for
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Origin


def recheck_plan(scene: Scene, operation: ShrinkOperation, node: Node, pods: tuple[Pod, ...]) -> Refusal | None:
    """Why the removal must not go on, judged on the whole cluster; None when the plan still holds.

    `node` and `pods` were read from the API server just now and replace what the snapshot says of them.
    """
    view = pod_view(scene)
    if not view.complete:
        return Refusal(RollbackReason.POD_VIEW_INCOMPLETE, view.doubt)
    group = scene.state.node_groups.groups.get(operation.group_id)
    return (
        _recheck_group(scene, group)
        or _recheck_mark(node)
        or _recheck_use(scene, node, pods)
        or _recheck_pods(_with_fresh(scene, node, pods), operation, node, pods)
    )


def recheck_node(
    node: Node, pods: tuple[Pod, ...], group: NodeGroup | None, policy: Policy, now: datetime
) -> Refusal | None:
    """Why the removal must not go on, judged on the node alone, once its drain has begun."""
    if group is None:
        return Refusal(RollbackReason.GROUP_UNMANAGED)
    context = DrainContext(policy.shrink, now)
    return _recheck_mark(node) or _blocked(departure(pods, context, RULES_WITHOUT_BUDGETS))


def _recheck_group(scene: Scene, group: NodeGroup | None) -> Refusal | None:
    """The group must still be managed, and must not fall below its minimum with everything that is in flight."""
    if group is None:
        return Refusal(RollbackReason.GROUP_UNMANAGED)
    in_flight = sum(op.group_id == group.id for op in scene.state.operations.shrinking)
    floor = max(group.min_size, scene.policy.smallest_group)
    if group.pool.size - in_flight < floor:
        detail = f"size {group.pool.size}, {in_flight} being removed, minimum {floor}"
        return Refusal(RollbackReason.GROUP_MIN_SIZE_REACHED, detail)
    return None


def _recheck_mark(node: Node) -> Refusal | None:
    if node.annotations.get(SCALE_DOWN_DISABLED) == "true":
        return Refusal(RollbackReason.SCALE_DOWN_DISABLED)
    return None


def _recheck_use(scene: Scene, node: Node, pods: tuple[Pod, ...]) -> Refusal | None:
    policy = scene.policy.shrink
    utilization = utilization_of(node, [pod for pod in pods if not pod.is_finished], policy, scene.now)
    if utilization is None or utilization.exceeds(policy.utilization_threshold):
        detail = utilization.text if utilization is not None else "no allocatable CPU or memory"
        return Refusal(RollbackReason.NO_LONGER_UNNEEDED, detail)
    return None


def _with_fresh(scene: Scene, node: Node, pods: tuple[Pod, ...]) -> Scene:
    seen = scene.snapshot
    snapshot = ClusterSnapshot(
        nodes=(*(other for other in seen.nodes if other.name != node.name), node),
        pods=(*(pod for pod in seen.pods if pod.node_name != node.name), *pods),
        taken_at=seen.taken_at,
        budgets=seen.budgets,
        daemonsets=seen.daemonsets,
    )
    return replace(scene, snapshot=snapshot)


def _recheck_pods(scene: Scene, operation: ShrinkOperation, node: Node, pods: tuple[Pod, ...]) -> Refusal | None:
    context = DrainContext(scene.policy.shrink, scene.now, scene.snapshot.budgets)
    leaving = departure(pods, context)
    blocked = _blocked(leaving)
    if blocked is not None:
        return blocked
    moving = pods_to_move(pods, scene.now)
    if operation.mode is ShrinkMode.EMPTY and moving:
        return Refusal(RollbackReason.POD_ARRIVED, moving[0].key)
    return _recheck_budgets(scene, operation, leaving.moving) or _recheck_places(scene, operation, node, leaving.moving)


def _blocked(leaving: Departure) -> Refusal | None:
    if leaving.blocked is not None:
        pod, reason = leaving.blocked
        return Refusal(RollbackReason.BLOCKED_BY_POD, f"{pod.key}: {reason.text}")
    if leaving.waits_for is not None:
        return Refusal(RollbackReason.BLOCKED_BY_POD, f"{leaving.waits_for.key} is to run to completion")
    return None


def _others(scene: Scene, operation: ShrinkOperation) -> list[ShrinkOperation]:
    in_flight = [op for op in scene.state.operations.shrinking if op.id != operation.id and op.node_name]
    return sorted(in_flight, key=lambda op: op.node_name)


def _recheck_budgets(scene: Scene, operation: ShrinkOperation, moving: tuple[Pod, ...]) -> Refusal | None:
    """What the other nodes in flight still have to evict is taken off the budgets first."""
    budgets = BudgetLedger(scene.snapshot.budgets)
    for other in _others(scene, operation):
        # Only the earlier ones: were each to make room for all others, a budget for one would serve none.
        if (other.planned_at, other.id) < (operation.planned_at, operation.id):
            budgets.spend(pods_to_move(scene.snapshot.pods_on(other.node_name), scene.now))
    exceeding = budgets.exceeded_by(moving)
    if exceeding is not None:
        return Refusal(RollbackReason.BLOCKED_BY_POD, f"{exceeding.key}: its disruption budget is used up")
    return None


def _recheck_places(scene: Scene, operation: ShrinkOperation, node: Node, moving: tuple[Pod, ...]) -> Refusal | None:
    """All pods in flight find a place together: those of the other nodes first, then these."""
    ledger = ledger_for(scene)
    for other in _others(scene, operation):
        displaced = pods_to_move(scene.snapshot.pods_on(other.node_name), scene.now)
        # Whether the others find room is their own question; what they take is gone for these.
        ledger.settle(displaced, ledger.destinations(Origin.EXISTING))
    homeless = replace_pods(node.name, moving, ledger)
    return None if homeless is None else Refusal(RollbackReason.NO_PLACE_TO_MOVE_PODS, homeless.text)
