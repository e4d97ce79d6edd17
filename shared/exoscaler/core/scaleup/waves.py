"""The upcoming nodes in the order in which they were promised to pods."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import GrowOperation
from exoscaler.core.scaleup.outlook import Outlook, blank_names, promising
from exoscaler.core.scaleup.upcoming import Upcoming
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Template


@dataclass(frozen=True, slots=True)
class Wave:
    """Nodes of one group that came to be ordered together; all are in the ledger under these names."""

    template: Template
    started: tuple[str, ...]
    blank: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, those that are registered already before those that nothing is known of but the template."""
        return (*self.started, *self.blank)


def waves(scene: Scene, outlook: Outlook) -> tuple[Wave, ...]:
    """The upcoming nodes in the order in which the evaluations that ordered them filled them with pods.

    First what no growth in flight accounts for; then, decision by decision, what raised groups to their minimum, and
    what was ordered for pods. An evaluation that keeps to this order finds the same pods on the same nodes as the one
    that ordered them, as long as nothing else changed.
    """
    ranked: list[tuple[tuple[int, int, int], Wave]] = []
    growing = {op.group_id: (at, op) for at, op in enumerate(scene.state.operations.growing) if not op.ended}
    decisions: dict[str, int] = {}
    for op in scene.state.operations.growing:
        decisions.setdefault(op.decision_id, len(decisions))
    for position, (group, template, upcoming) in enumerate(promising(scene, outlook)):
        at, operation = growing.get(group.id, (0, None))
        older, newer = _split(scene, group, template, upcoming, operation)
        ranked.append(((-1, 0, position), older))
        if operation is not None:
            decision = decisions[operation.decision_id]
            for_minimum = max(0, min(group.min_size, operation.target_size) - operation.base_size)
            ranked.append(((decision, 0, position), _part(newer, 0, for_minimum)))
            ranked.append(((decision, 1, at), _part(newer, for_minimum, len(newer.names))))
    return tuple(wave for _, wave in sorted(ranked, key=lambda entry: entry[0]) if wave.names)


def _split(
    scene: Scene, group: NodeGroup, template: Template, upcoming: Upcoming, operation: GrowOperation | None
) -> tuple[Wave, Wave]:
    """The group's upcoming nodes: those from before a growth in flight, and those that it brings."""
    base = set(group.pool.members if operation is None else operation.base_members)
    prefix = scene.policy.provider_id_prefix
    older = [node.name for node in upcoming.starting if node.instance_id(prefix) in base]
    newer = [node.name for node in upcoming.starting if node.instance_id(prefix) not in base]
    blank = blank_names(group, upcoming)
    before = tuple(name for name, i in zip(blank, upcoming.unregistered, strict=False) if i in base)
    if operation is None:
        return Wave(template, (*older, *newer), blank), Wave(template, (), ())
    after = tuple(name for name in blank if name not in before)
    return Wave(template, tuple(older), before), Wave(template, tuple(newer), after)


def _part(wave: Wave, start: int, end: int) -> Wave:
    chosen = set(wave.names[start:end])
    return Wave(
        wave.template,
        tuple(name for name in wave.started if name in chosen),
        tuple(name for name in wave.blank if name in chosen),
    )
