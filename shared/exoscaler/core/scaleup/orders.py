"""What an evaluation has ordered so far: nodes by group, within all limits."""

from __future__ import annotations

from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import GrowOperation
from exoscaler.core.reasons import GroupSkip
from exoscaler.core.scaleup.limits import Cap, headroom, size_of_new_node
from exoscaler.core.scaleup.outlook import Outlook
from exoscaler.core.scaleup.standing import why_skipped
from exoscaler.core.scaleup.waves import Wave
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, Origin


class Orders:
    """Collects orders. Every ordered node is entered in the ledger at once, so that it counts for whatever follows."""

    def __init__(self, scene: Scene, outlook: Outlook, ledger: Ledger) -> None:
        self._scene = scene
        self._outlook = outlook
        self._ledger = ledger
        self._headroom = headroom(scene, outlook)
        self._counts: dict[str, int] = {}
        self._for_minimum: list[str] = []
        self._for_pods: list[str] = []
        self._sizes = {group.id: size_of_new_node(group, scene, outlook) for group in scene.groups}

    def cap(self, group: NodeGroup) -> Cap:
        """How many more nodes the group may get; 0 with the reason when it may get none."""
        skip = why_skipped(group, self._scene)
        if skip is not None:
            return Cap(0, skip)
        size = group.pool.size + self._counts.get(group.id, 0)
        return self._headroom.cap(group, size, self._sizes[group.id])

    def cap_for_pods(self, group: NodeGroup) -> Cap:
        """The same for nodes that pods are to be promised: without a template there can be none."""
        cap = self.cap(group)
        if cap.nodes and self._outlook.templates[group.id] is None:
            return Cap(0, GroupSkip.NO_TEMPLATE)
        return cap

    def raise_to_minimum(self, group: NodeGroup) -> Wave | None:
        """Order what the group lacks to its minimum size, as far as limits allow (R98).

        A group without a template is raised too: its first node is what the template will be learnt from. Returns the
        ordered nodes, None when there are none on which room can be promised.
        """
        count = min(group.min_size - group.pool.size, self.cap(group).nodes)
        if count <= 0:
            return None
        self._for_minimum.append(group.id)
        return self._add(group, count)

    def add_for_pods(self, group: NodeGroup, count: int) -> tuple[str, ...]:
        """Order nodes for pods, at most as many as `cap_for_pods` said; their names in the ledger."""
        if group.id not in self._for_pods:
            self._for_pods.append(group.id)
        wave = self._add(group, count)
        return wave.names if wave is not None else ()

    def _add(self, group: NodeGroup, count: int) -> Wave | None:
        before = self._counts.get(group.id, 0)
        self._counts[group.id] = before + count
        self._headroom = self._headroom.less(count, self._sizes[group.id])
        template = self._outlook.templates[group.id]
        if template is None:
            return None
        names = tuple(f"{group.id}/ordered-{number}" for number in range(before, before + count))
        for name in names:
            self._ledger.add(template.place(name, Origin.ORDERED))
        return Wave(template, (), names)

    def operations(self) -> tuple[GrowOperation, ...]:
        """One growth a group: first those that only raise to a minimum, then those for pods in the order of choice.

        The order is kept in the state, and the evaluations that follow fill the nodes in this order too.
        """
        order = [*(group for group in self._for_minimum if group not in self._for_pods), *self._for_pods]
        groups = {group.id: group for group in self._scene.groups}
        return tuple(self._operation(groups[group_id], number) for number, group_id in enumerate(order, start=1))

    def _operation(self, group: NodeGroup, number: int) -> GrowOperation:
        scene = self._scene
        return GrowOperation(
            id=f"{scene.decision_id}-grow-{number}",
            group_id=group.id,
            group_name=group.name,
            decision_id=scene.decision_id,
            base_size=group.pool.size,
            base_members=group.pool.members,
            target_size=group.pool.size + self._counts[group.id],
            planned_at=scene.now,
            phase_since=scene.now,
        )
