"""Which of the unneeded nodes go now (R125-R128, R137)."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.core.model import Node, NodeGroup, Pod
from exoscaler.core.observing import unneeded_since
from exoscaler.core.operations.drain import pods_to_move
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.budgets import BudgetLedger
from exoscaler.core.scaledown.candidates import Stays
from exoscaler.core.scaledown.cooldown import held_everywhere, held_in_group
from exoscaler.core.scaledown.headcount import floor, is_removing, leaving_instances, spare
from exoscaler.core.scaledown.limits import Floor
from exoscaler.core.scaledown.timers import too_early
from exoscaler.core.scene import Scene


@dataclass(frozen=True, slots=True)
class Unneeded:
    """A node found removable, the pods that would move, and the one that is waited for."""

    node: Node
    group: NodeGroup
    moving: tuple[Pod, ...]
    waits_for: Pod | None = None


def pods_leaving(scene: Scene, node_name: str) -> tuple[Pod, ...]:
    """The pods that must leave the node before it goes, whoever asks them to: expendable ones are among them."""
    return pods_to_move(scene.snapshot.pods_on(node_name), scene.now)


def budgets_after(scene: Scene) -> BudgetLedger:
    """The budgets, less what the removals in flight have still to evict."""
    budgets = BudgetLedger(scene.snapshot.budgets)
    for operation in scene.state.operations.shrinking:
        if is_removing(operation):
            budgets.spend(pods_leaving(scene, operation.node_name))
    return budgets


class Round:
    """Accepts removals one by one, within everything that is shared between them; mutable.

    Attributes:
        held: why no node goes in this round, whatever its group; empty when nodes may.
    """

    def __init__(self, scene: Scene, growth: GrowthPlan) -> None:
        self._scene = scene
        self.held = held_everywhere(scene, growth)
        operations = scene.state.operations
        self._since = unneeded_since(scene)
        self._growing = {op.group_id for op in (*operations.growing, *growth.operations) if not op.ended}
        in_flight = [op for op in operations.shrinking if is_removing(op) and op.node_uid]
        self._evicting = {op.group_id for op in operations.shrinking if op.changes_pool}
        self._leaving = leaving_instances(operations)
        self._total = len(in_flight)
        self._drains = sum(op.mode is ShrinkMode.DRAIN for op in in_flight)
        going = {op.node_uid for op in in_flight}
        self._floor = Floor((node for node in scene.snapshot.nodes if node.uid not in going), scene.policy.growth)
        self._budgets = budgets_after(scene)

    def why_not_now(self, unneeded: Unneeded) -> Stays | None:
        """Why the node does not go in this round; None when it may."""
        return (
            self._why_not_yet(unneeded) or self._why_not_this_group(unneeded.group) or self._why_not_one_more(unneeded)
        )

    def _why_not_yet(self, unneeded: Unneeded) -> Stays | None:
        node = unneeded.node
        early = too_early(node, self._since.get(node.uid), self._scene.policy, self._scene.now)
        if early is not None:
            return Stays(*early)
        if node.deletion_taint is not None:
            # An old one, which no longer says that the node is going. It is not ours to take away, nor to add to.
            return Stays(Unremovable.CURRENTLY_BEING_DELETED, f"others have set {node.deletion_taint.key}; remove it")
        if unneeded.waits_for is not None:
            return Stays(Unremovable.WAITS_FOR_COMPLETION, unneeded.waits_for.key)
        return None

    def _why_not_this_group(self, group: NodeGroup) -> Stays | None:
        if group.is_stale:
            return Stays(Unremovable.CLOUD_VIEW_STALE, group.stale)
        if not group.pool.state.accepts_changes:
            return Stays(Unremovable.OPERATION_IN_FLIGHT, f"the pool is {group.pool.state_text}")
        if group.id in self._growing:
            return Stays(Unremovable.OPERATION_IN_FLIGHT, "it is growing")
        if group.id in self._evicting:
            return Stays(Unremovable.OPERATION_IN_FLIGHT, "instances are being taken out")
        held = self.held or held_in_group(self._scene, group.id)
        return Stays(Unremovable.COOLING_DOWN, held) if held else None

    def _why_not_one_more(self, unneeded: Unneeded) -> Stays | None:
        policy, group = self._scene.policy.shrink, unneeded.group
        if spare(group, self._leaving, self._scene.policy) <= 0:
            detail = f"with those that are going already; minimum {floor(group, self._scene.policy)}"
            return Stays(Unremovable.GROUP_MIN_SIZE_REACHED, detail)
        if undercut := self._floor.refuses(unneeded.node):
            return Stays(Unremovable.MINIMAL_RESOURCE_LIMIT_EXCEEDED, undercut)
        shortage = self._budgets.shortage(pods_leaving(self._scene, unneeded.node.name))
        if shortage is not None:
            return Stays(Unremovable.BLOCKED_BY_POD, shortage.text)
        if self._total >= policy.max_parallelism:
            return Stays(Unremovable.PARALLELISM_USED_UP, f"max-scale-down-parallelism is {policy.max_parallelism}")
        if self._mode_of(unneeded) is ShrinkMode.DRAIN and self._drains >= policy.max_drain_parallelism:
            return Stays(Unremovable.PARALLELISM_USED_UP, f"max-drain-parallelism is {policy.max_drain_parallelism}")
        return None

    def accept(self, unneeded: Unneeded) -> ShrinkOperation:
        """The operation that removes the node; everything shared is taken off."""
        scene, node, group = self._scene, unneeded.node, unneeded.group
        mode = self._mode_of(unneeded)
        instance = node.instance_id(scene.policy.provider_id_prefix) or ""
        self._leaving |= {instance}
        self._total += 1
        self._drains += mode is ShrinkMode.DRAIN
        self._floor.take(node)
        self._budgets.spend(pods_leaving(scene, node.name))
        return ShrinkOperation(
            id=f"{scene.decision_id}-shrink-{node.uid}",
            group_id=group.id,
            group_name=group.name,
            decision_id=scene.decision_id,
            node_name=node.name,
            node_uid=node.uid,
            instance_id=instance,
            mode=mode,
            planned_at=scene.now,
            phase_since=scene.now,
        )

    def _mode_of(self, unneeded: Unneeded) -> ShrinkMode:
        """Empty only if nothing at all would have to leave first: neither an expendable pod nor one that is leaving."""
        return ShrinkMode.DRAIN if pods_leaving(self._scene, unneeded.node.name) else ShrinkMode.EMPTY
