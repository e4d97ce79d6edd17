"""Which of the unneeded nodes go now (R125-R128, R137)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from exoscaler.core.model import Node, NodeGroup, Pod, PoolState
from exoscaler.core.observing import unneeded_since
from exoscaler.core.operations.drain import pods_to_move
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation
from exoscaler.core.plan import GrowthPlan
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.budgets import BudgetLedger
from exoscaler.core.scaledown.candidates import Stays
from exoscaler.core.scaledown.cooldown import held_in_group
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


class Round:
    """Accepts removals one by one, within everything that is shared between them; mutable."""

    def __init__(self, scene: Scene, growth: GrowthPlan) -> None:
        self._scene = scene
        self._since: Mapping[str, datetime] = unneeded_since(scene)
        self._growing = {op.group_id for op in (*scene.state.operations.growing, *growth.operations) if not op.ended}
        in_flight = scene.state.operations.shrinking
        self._removing = {group.id: 0 for group in scene.groups}
        for operation in in_flight:
            self._removing[operation.group_id] = self._removing.get(operation.group_id, 0) + 1
        self._total = len(in_flight)
        self._drains = sum(operation.mode is ShrinkMode.DRAIN for operation in in_flight)
        self._evicting = {operation.group_id for operation in in_flight if operation.changes_pool}
        self._floor = Floor(scene.snapshot.nodes, scene.policy.growth)
        self.budgets = BudgetLedger(scene.snapshot.budgets)
        for operation in in_flight:
            self.budgets.spend(pods_to_move(scene.snapshot.pods_on(operation.node_name), scene.now))

    def room(self, group: NodeGroup) -> int:
        """How many nodes the group may lose, besides those that are being removed already."""
        return group.pool.size - self._removing[group.id] - max(group.min_size, self._scene.policy.smallest_group)

    def why_not_now(self, unneeded: Unneeded) -> Stays | None:
        """Why the node does not go in this round; None when it may."""
        return (
            self._why_not_yet(unneeded) or self._why_not_this_group(unneeded.group) or self._why_not_one_more(unneeded)
        )

    def _why_not_yet(self, unneeded: Unneeded) -> Stays | None:
        policy = self._scene.policy.shrink
        early = too_early(unneeded.node, self._since.get(unneeded.node.uid), policy, self._scene.now)
        if early is not None:
            return Stays(*early)
        if unneeded.waits_for is not None:
            return Stays(Unremovable.WAITS_FOR_COMPLETION, unneeded.waits_for.key)
        return None

    def _why_not_this_group(self, group: NodeGroup) -> Stays | None:
        if group.is_stale:
            return Stays(Unremovable.OPERATION_IN_FLIGHT, f"the pool's view is stale: {group.stale}")
        if group.pool.state not in (PoolState.RUNNING, PoolState.DEGRADED):
            return Stays(Unremovable.OPERATION_IN_FLIGHT, f"the pool is {group.pool.state_text}")
        if group.id in self._growing or group.id in self._evicting:
            return Stays(Unremovable.OPERATION_IN_FLIGHT)
        if held := held_in_group(self._scene, group.id):
            return Stays(Unremovable.OPERATION_IN_FLIGHT, held)
        return None

    def _why_not_one_more(self, unneeded: Unneeded) -> Stays | None:
        policy = self._scene.policy.shrink
        if self.room(unneeded.group) <= 0:
            return Stays(Unremovable.GROUP_MIN_SIZE_REACHED)
        if self._floor.refuses(unneeded.node):
            return Stays(Unremovable.MINIMAL_RESOURCE_LIMIT_EXCEEDED)
        drains = self.mode_of(unneeded) is ShrinkMode.DRAIN
        if self._total >= policy.max_parallelism or (drains and self._drains >= policy.max_drain_parallelism):
            return Stays(Unremovable.PARALLELISM_USED_UP)
        exceeding = self.budgets.exceeded_by(unneeded.moving)
        if exceeding is not None:
            return Stays(Unremovable.PARALLELISM_USED_UP, f"a disruption budget is used up before {exceeding.key}")
        return None

    def accept(self, unneeded: Unneeded) -> ShrinkOperation:
        """The operation that removes the node; everything shared is taken off."""
        scene, node, group = self._scene, unneeded.node, unneeded.group
        mode = self.mode_of(unneeded)
        self._removing[group.id] += 1
        self._total += 1
        self._drains += mode is ShrinkMode.DRAIN
        self._floor.take(node)
        self.budgets.spend(unneeded.moving)
        return ShrinkOperation(
            id=f"{scene.decision_id}-shrink-{node.uid[:8]}-{self._total}",
            group_id=group.id,
            group_name=group.name,
            decision_id=scene.decision_id,
            node_name=node.name,
            node_uid=node.uid,
            instance_id=node.instance_id(scene.policy.provider_id_prefix) or "",
            mode=mode,
            planned_at=scene.now,
        )

    def mode_of(self, unneeded: Unneeded) -> ShrinkMode:
        """Empty only if nothing at all would have to be asked to leave, expendable pods included."""
        present = self._scene.snapshot.pods_on(unneeded.node.name)
        return ShrinkMode.DRAIN if pods_to_move(present, self._scene.now) else ShrinkMode.EMPTY
