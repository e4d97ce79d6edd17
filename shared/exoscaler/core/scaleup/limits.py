"""How many nodes a group may get, and which limit says so (R52, R69, R86, R87, R94)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from exoscaler.core.model import Node, NodeGroup, Resources
from exoscaler.core.reasons import GroupSkip
from exoscaler.core.scaleup.outlook import Outlook
from exoscaler.core.scene import Scene

_MILLI = 1000
_TYPE_LABEL = "type"
_VIRTUAL = "virtual-kubelet"


@dataclass(frozen=True, slots=True)
class Cap:
    """The most nodes that may be added, and the limit that is reached first."""

    nodes: int
    reason: GroupSkip


@dataclass(frozen=True, slots=True)
class Headroom:
    """What is left of the limits that all groups share; None where there is no limit.

    Attributes:
        nodes: of ``max-nodes-total``.
        quota: of the account's quota of instances.
        per_scaleup: of ``max-nodes-per-scaleup``.
        cores: of the maximum of ``cores-total``, in whole cores.
        memory: of the maximum of ``memory-total``, in bytes.
    """

    nodes: int | None
    quota: int | None
    per_scaleup: int | None
    cores: int
    memory: int

    def cap(self, group: NodeGroup, size: int, capacity: Resources | None) -> Cap:
        """How far the group may grow from `size` with nodes of this capacity.

        Nodes of unknown capacity, None, come one at a time, for only the first one tells what they count for. Where two
        limits allow the same, the one that is named first in `GroupSkip`'s order of importance is the reason.
        """
        caps = [
            Cap(group.max_size - size, GroupSkip.AT_MAX),
            *_known(self.nodes, GroupSkip.MAX_NODES_TOTAL),
            *_known(self.quota, GroupSkip.QUOTA),
            *self._resource_caps(capacity),
            *_known(self.per_scaleup, GroupSkip.MAX_NODES_PER_SCALEUP),
        ]
        least = min(caps, key=lambda cap: cap.nodes)
        return replace(least, nodes=max(0, least.nodes))

    def _resource_caps(self, capacity: Resources | None) -> list[Cap]:
        if capacity is None:
            spare = self.cores > 0 and self.memory > 0
            return [Cap(1 if spare else 0, GroupSkip.CLUSTER_LIMIT)]
        needs = ((self.cores, cores_of(capacity)), (self.memory, capacity.memory))
        return [Cap(left // each, GroupSkip.CLUSTER_LIMIT) for left, each in needs if each > 0]

    def less(self, count: int, capacity: Resources | None) -> Headroom:
        """What is left after `count` nodes more."""
        each = capacity or Resources()
        return Headroom(
            nodes=None if self.nodes is None else self.nodes - count,
            quota=None if self.quota is None else self.quota - count,
            per_scaleup=None if self.per_scaleup is None else self.per_scaleup - count,
            cores=self.cores - count * cores_of(each),
            memory=self.memory - count * each.memory,
        )


def _known(left: int | None, reason: GroupSkip) -> Iterable[Cap]:
    return () if left is None else (Cap(left, reason),)


def cores_of(capacity: Resources) -> int:
    """CPU in whole cores, rounded up for each node (R94)."""
    return -(-capacity.cpu // _MILLI)


def headroom(scene: Scene, outlook: Outlook) -> Headroom:
    """What is left of the shared limits now.

    Every node counts, those of no group too, and every instance that is or will be there without a node (R52): a
    backed-off group promises no room, but what it has ordered may still come.
    """
    policy = scene.policy.growth
    unseen = sum(upcoming.unseen for upcoming in outlook.upcoming.values())
    used = _used(scene, outlook)
    total = policy.max_nodes_total
    return Headroom(
        nodes=total - len(scene.snapshot.nodes) - unseen if total > 0 else None,
        quota=_quota(scene, outlook),
        per_scaleup=policy.max_nodes_per_scaleup if policy.max_nodes_per_scaleup > 0 else None,
        cores=policy.cores.maximum - used.cpu // _MILLI,
        memory=policy.memory.maximum - used.memory,
    )


def size_of_new_node(group: NodeGroup, scene: Scene, outlook: Outlook) -> Resources | None:
    """What a new node of the group counts for.

    As much as the largest node there is while nothing shows its own size; None when there is no node at all.
    """
    template = outlook.templates[group.id]
    if template is not None:
        return template.node.capacity
    largest: Resources | None = None
    for node in scene.snapshot.nodes:
        if not _is_virtual(node):
            largest = node.capacity if largest is None else largest.at_least(node.capacity)
    return largest


def _used(scene: Scene, outlook: Outlook) -> Resources:
    """Cores (as thousands of milli-CPU) and memory of all nodes, virtual ones aside, and of those to come."""
    cores = sum(cores_of(node.capacity) for node in scene.snapshot.nodes if not _is_virtual(node))
    memory = sum(node.capacity.memory for node in scene.snapshot.nodes if not _is_virtual(node))
    for group in scene.groups:
        unseen = outlook.upcoming[group.id].unseen
        size = size_of_new_node(group, scene, outlook) if unseen else None
        if size is not None:
            cores += unseen * cores_of(size)
            memory += unseen * size.memory
    return Resources(cpu=cores * _MILLI, memory=memory)


def _is_virtual(node: Node) -> bool:
    return node.labels.get(_TYPE_LABEL) == _VIRTUAL


def _quota(scene: Scene, outlook: Outlook) -> int | None:
    """What the account has left, less what pools are still to take of it.

    The account counts instances that exist. What a pool means to have beyond its members it will take, whether
    exoscaler or somebody else asked for it.
    """
    quota = scene.state.node_groups.quota
    if quota is None or quota.headroom is None:
        return None
    owed = (
        max(outlook.upcoming[group.id].missing, group.pool.size - len(group.pool.members), 0) for group in scene.groups
    )
    return max(0, quota.headroom - sum(owed))
