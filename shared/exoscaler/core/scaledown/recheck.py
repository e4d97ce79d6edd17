"""Whether the plan to remove a node still holds, on fresh data (R141)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from exoscaler.core.model import ClusterSnapshot, Node, NodeGroup, Pod
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.model.taints import TO_BE_DELETED
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.operations.shrink_step import Refusal
from exoscaler.core.plan import SkippedPod
from exoscaler.core.policy import Policy
from exoscaler.core.reasons import PodSkip, RollbackReason
from exoscaler.core.scaledown.budgets import BudgetLedger
from exoscaler.core.scaledown.departure import Departure, departure, holding
from exoscaler.core.scaledown.drainability import DrainContext
from exoscaler.core.scaledown.headcount import floor, instances_of, is_removing, leaving_instances, remaining
from exoscaler.core.scaledown.pod_view import pod_view
from exoscaler.core.scaledown.replacement import Relocation
from exoscaler.core.scaledown.round import pods_leaving
from exoscaler.core.scaledown.timers import counts_as_ready
from exoscaler.core.scaledown.utilization import utilization_of
from exoscaler.core.scaleup import ledger_for
from exoscaler.core.scaleup.pending import moving_pods, pending_pods
from exoscaler.core.scaleup.placing import settle_on_existing
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Place, why_not

SCHEDULING_TIME = timedelta(minutes=1)
"""How long a scheduler may take to look at a new pod; one that nobody has looked at for longer may wait for ever."""


def recheck_plan(scene: Scene, operation: ShrinkOperation, node: Node, pods: tuple[Pod, ...]) -> Refusal | None:
    """Why the removal must not go on, judged on the whole cluster; None when the plan still holds.

    `node` and `pods` were read from the API server just now and replace what the snapshot says of them; ended pods may
    be among them. Of the other removals in flight those count that go before this one: were each to make room for all
    others, what is enough for one would serve none.
    """
    group = scene.state.node_groups.groups.get(operation.group_id)
    refusal = recheck_node(node, pods, group, scene.policy, scene.now)
    if refusal is not None or group is None:
        return refusal
    view = pod_view(scene)
    if not view.complete:
        return Refusal(RollbackReason.POD_VIEW_INCOMPLETE, view.doubt)
    proof = _Proof(_with_fresh(scene, node, pods), operation, node)
    return proof.of_mode() or proof.of_size(group) or proof.of_use() or proof.of_budgets() or proof.of_places()


def recheck_node(
    node: Node, pods: tuple[Pod, ...], group: NodeGroup | None, policy: Policy, now: datetime
) -> Refusal | None:
    """Why the removal must not go on, judged on the node alone, once its drain has begun.

    Pods that are leaving already are let go; budgets are the eviction API's business by now.
    """
    if group is None:
        return Refusal(RollbackReason.GROUP_UNMANAGED)
    if not policy.shrink.enabled:
        return Refusal(RollbackReason.SCALE_DOWN_DISABLED, "scale-down-enabled is off")
    if node.annotations.get(SCALE_DOWN_DISABLED) == "true":
        return Refusal(RollbackReason.SCALE_DOWN_DISABLED, SCALE_DOWN_DISABLED)
    present = (pod for pod in holding(pods, policy.growth) if not pod.is_terminating)
    return _held(departure(present, DrainContext(policy.shrink, now, budgets=None)))


def _held(leaving: Departure) -> Refusal | None:
    if leaving.blocked is not None:
        return Refusal(RollbackReason.BLOCKED_BY_POD, leaving.blocked.text)
    if leaving.waits_for is not None:
        return Refusal(RollbackReason.BLOCKED_BY_POD, f"{leaving.waits_for.key} is to run to completion first")
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


class _Proof:
    """The proof of one removal, part by part; each part returns why it fails, None when it holds."""

    def __init__(self, scene: Scene, operation: ShrinkOperation, node: Node) -> None:
        self._scene = scene
        self._operation = operation
        self._node = node
        self._ahead = _ahead(scene, operation)
        self._present = holding(scene.snapshot.pods_on(node.name), scene.policy.growth)

    def of_mode(self) -> Refusal | None:
        """A node planned as empty must still be so."""
        arrived = pods_leaving(self._scene, self._node.name)
        if self._operation.mode is ShrinkMode.EMPTY and arrived:
            return Refusal(RollbackReason.POD_ARRIVED, arrived[0].key)
        return None

    def of_size(self, group: NodeGroup) -> Refusal | None:
        """The group must not fall below its minimum. An instance that it has lost already takes nothing from it."""
        scene = self._scene
        if self._operation.instance_id not in group.pool.members:
            return None
        gone = leaving_instances(scene.state.operations.model_copy(update={"shrinking": self._ahead}))
        left = remaining(group, gone | instances_of((self._operation,)))
        if left < (least := floor(group, scene.policy)):
            return Refusal(RollbackReason.GROUP_MIN_SIZE_REACHED, f"{left} members would be left, minimum {least}")
        return None

    def of_use(self) -> Refusal | None:
        """The node must be as little used as when the removal was planned."""
        scene, policy = self._scene, self._scene.policy.shrink
        if not counts_as_ready(self._node, scene.policy) and not policy.unready_enabled:
            return Refusal(RollbackReason.NO_LONGER_UNNEEDED, "it is not ready, and scale-down-unready-enabled is off")
        utilization = utilization_of(self._node, self._present, policy, scene.now)
        if utilization is None:
            return Refusal(RollbackReason.NO_LONGER_UNNEEDED, "it reports no allocatable CPU or memory")
        if utilization.exceeds(policy.utilization_threshold):
            return Refusal(RollbackReason.NO_LONGER_UNNEEDED, utilization.text)
        return None

    def of_budgets(self) -> Refusal | None:
        """Every pod may be moved, and the budgets allow to evict all of them after those of the removals ahead."""
        scene = self._scene
        budgets = BudgetLedger(scene.snapshot.budgets)
        for other in self._ahead:
            budgets.spend(pods_leaving(scene, other.node_name))
        held = _held(departure(self._present, DrainContext(scene.policy.shrink, scene.now, budgets)))
        shortage = budgets.shortage(pods_leaving(scene, self._node.name))
        if held is None and shortage is not None:
            return Refusal(RollbackReason.BLOCKED_BY_POD, shortage.text)
        return held

    def of_places(self) -> Refusal | None:
        """All pods find another place, after the pods that wait and those of the removals ahead have theirs.

        Pods wait that a scheduler calls unschedulable, and those so new that none has looked at them: what was just
        evicted elsewhere comes back as such. A pod that waits, finds no place and would fit this very node stops the
        removal: the node is needed.
        """
        scene, node = self._scene, self._node
        ledger = ledger_for(scene)
        ledger.exclude(node.name)
        names = {other.node_name for other in self._ahead}
        displaced = [pod for n in scene.snapshot.nodes if n.name in names for pod in moving_pods(n, scene)]
        pending = pending_pods(scene)
        new = [skipped.pod for skipped in pending.skipped if self._is_new(skipped)]
        settled = settle_on_existing((*pending.asking, *new, *pending.daemons, *displaced), ledger)
        moving = departure(self._present, DrainContext(scene.policy.shrink, scene.now, budgets=None)).moving
        homeless = Relocation(ledger).empty(node.name, moving)
        if homeless is not None:
            return Refusal(RollbackReason.NO_PLACE_TO_MOVE_PODS, homeless.text)
        place = self._as_it_was()
        waiting = (pod for pod in pending.asking if pod.uid not in settled and not why_not(pod, place))
        wanted = next(waiting, None)
        return None if wanted is None else Refusal(RollbackReason.PODS_PENDING, wanted.key)

    def _is_new(self, skipped: SkippedPod) -> bool:
        unseen = skipped.reason is PodSkip.NOT_UNSCHEDULABLE
        return unseen and skipped.pod.created_at + SCHEDULING_TIME > self._scene.now

    def _as_it_was(self) -> Place:
        """The node without the marks of its removal."""
        taints = tuple(taint for taint in self._node.taints if taint.key != TO_BE_DELETED)
        unschedulable = self._node.unschedulable and not self._operation.cordons
        return Place.of(replace(self._node, taints=taints, unschedulable=unschedulable), self._present)


def _ahead(scene: Scene, operation: ShrinkOperation) -> tuple[ShrinkOperation, ...]:
    """The removals that go before this one: those planned before it, and those that are past this proof already."""
    ahead: list[ShrinkOperation] = []
    later = False
    for other in scene.state.operations.shrinking:
        if other.id == operation.id:
            later = True
        elif is_removing(other) and not (later and other.phase in (ShrinkPhase.PLANNED, ShrinkPhase.TAINTED)):
            ahead.append(other)
    return tuple(ahead)
