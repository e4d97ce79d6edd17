"""Nodes that are coming up, counted by instance and never from memory of what was ordered alone (R33, R37, R38)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from exoscaler.core.model import Node, NodeGroup, PoolState
from exoscaler.core.operations.model import GrowOperation, GrowPhase, ShrinkPhase
from exoscaler.core.scaleup.backoff import in_backoff
from exoscaler.core.scaleup.pending import leaving_nodes
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Template, is_starting


@dataclass(frozen=True, slots=True)
class Upcoming:
    """What a group has coming.

    Attributes:
        unregistered: members without a node that may still become one, sorted.
        lost: members that have been without a node for longer than ``max-node-provision-time``, sorted.
        missing: how many more instances the pool is about to have.
        starting: registered nodes that are not what they will be yet, sorted by name.
        counts: whether pods may be promised room on all this: not while the group is backed off, for then its nodes
            may never come, and another group must be tried.
    """

    unregistered: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    missing: int = 0
    starting: tuple[Node, ...] = ()
    counts: bool = True

    @property
    def arriving(self) -> int:
        """How many nodes pods may be promised room on."""
        return len(self.unregistered) + self.missing + len(self.starting) if self.counts else 0

    @property
    def unseen(self) -> int:
        """How many instances there are or will be that no node stands for: limits count them, come what may."""
        return len(self.unregistered) + len(self.lost) + self.missing


def upcoming_for(scene: Scene, templates: Mapping[str, Template | None]) -> Mapping[str, Upcoming]:
    """What every group has coming, by group id."""
    leaving = _leaving_instances(scene)
    return {group.id: _upcoming(group, scene, templates.get(group.id), leaving) for group in scene.groups}


def _upcoming(group: NodeGroup, scene: Scene, template: Template | None, leaving: frozenset[str]) -> Upcoming:
    policy = scene.policy.growth
    since = scene.state.observations.unregistered
    unseen = [i for i in scene.membership.unregistered[group.id] if i not in leaving]
    lost = {i for i in unseen if i in since and since[i] + policy.max_node_provision_time < scene.now}
    return Upcoming(
        unregistered=tuple(i for i in unseen if i not in lost),
        lost=tuple(sorted(lost)),
        missing=max(0, expected_size(group, scene.state.operations.growing) - len(group.pool.members)),
        starting=_starting(group, scene, template),
        counts=not in_backoff(scene.state.observations.backoffs.get(group.id), scene.now),
    )


def _starting(group: NodeGroup, scene: Scene, template: Template | None) -> tuple[Node, ...]:
    promised = template.node.allocatable if template is not None else None
    leaving = leaving_nodes(scene)
    return tuple(
        node
        for node in scene.membership.nodes_by_group[group.id]
        if node.uid not in leaving and is_starting(node, promised, scene.policy, scene.now)
    )


def expected_size(group: NodeGroup, growing: Iterable[GrowOperation]) -> int:
    """How many members the pool is about to have.

    Its members; its target while the cloud says that it scales up; the target of a growth that has yet to take effect.
    Never more than the group's maximum, except as far as the pool itself is larger already.
    """
    pool = group.pool
    sizes = [len(pool.members)]
    if pool.state is PoolState.SCALING_UP:
        sizes.append(pool.size)
    ordered = (op for op in growing if op.group_id == group.id and not op.ended)
    sizes.extend(min(op.target_size, pool.size) if _took_effect(op, group) else op.target_size for op in ordered)
    return min(max(sizes), max(group.max_size, pool.size, len(pool.members)))


def _took_effect(operation: GrowOperation, group: NodeGroup) -> bool:
    """Whether the pool was read after the growth reached it: then the pool's word counts, not what was ordered.

    Somebody may have made it smaller since.
    """
    since = operation.phase_since
    return operation.phase is GrowPhase.PROVISIONING and since is not None and group.read_at > since


def _leaving_instances(scene: Scene) -> frozenset[str]:
    """Instances that are being removed or were: still listed as members, they are not coming but going."""
    operations = scene.state.operations
    going = {op.instance_id for op in operations.shrinking if op.phase is not ShrinkPhase.ROLLING_BACK}
    gone = {op.instance_id for op in operations.ended_shrinking if op.phase is ShrinkPhase.REMOVED}
    return frozenset(going | gone)
