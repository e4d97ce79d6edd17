"""What ``list-sks-clusters`` says, indexed: which nodepool has which pool, and which clusters are ours."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import msgspec

from exoscaler.adapters.exoscale import wire

T = TypeVar("T", bound=wire.Identified)


@dataclass(frozen=True, slots=True)
class ListedNodepool:
    """A nodepool and the cluster it is listed under."""

    cluster_id: str
    cluster_name: str
    nodepool: wire.Nodepool

    @property
    def id(self) -> str:
        """The nodepool's id; empty without one."""
        return (self.nodepool.id or "").lower()

    @property
    def name(self) -> str:
        """What people call it."""
        return self.nodepool.name or self.id

    @property
    def pool_id(self) -> str:
        """The id of its Instance Pool; empty as long as it has none."""
        pool = self.nodepool.instance_pool
        return "" if pool is None else (pool.id or "").lower()


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """A cluster or a nodepool of a shape not expected; empty texts where even that could not be told.

    Attributes:
        cluster_id: of the cluster that lists the nodepool; of a cluster its own.
        why: what is wrong with it.
    """

    id: str
    name: str
    cluster_id: str
    why: str


@dataclass(slots=True)
class ClusterIndex:
    """The clusters of a zone.

    Attributes:
        cluster_ids: of the clusters that were read, in the order of the list.
        nodepools: by nodepool id, in the order of the list.
        unreadable_clusters, unreadable_nodepools: what was not.
    """

    cluster_ids: list[str] = field(default_factory=list)
    nodepools: dict[str, ListedNodepool] = field(default_factory=dict)
    unreadable_clusters: list[UnreadableItem] = field(default_factory=list)
    unreadable_nodepools: list[UnreadableItem] = field(default_factory=list)

    @classmethod
    def of(cls, listed: Iterable[msgspec.Raw]) -> ClusterIndex:
        """Indexes a list of clusters; what cannot be read is set aside and hides nothing else."""
        index = cls()
        for raw in listed:
            cluster = _read(raw, wire.Cluster)
            if isinstance(cluster, wire.Cluster):
                index._add(cluster)
            else:
                index.unreadable_clusters.append(cluster)
        return index

    def _add(self, cluster: wire.Cluster) -> None:
        cluster_id = (cluster.id or "").lower()
        self.cluster_ids.append(cluster_id)
        for raw in cluster.nodepools or ():
            nodepool = _read(raw, wire.Nodepool)
            if isinstance(nodepool, wire.Nodepool):
                listed = ListedNodepool(cluster_id, cluster.name or cluster_id, nodepool)
                self.nodepools[listed.id] = listed
            else:
                self.unreadable_nodepools.append(replace(nodepool, cluster_id=cluster_id))

    def of_cluster(self, cluster_id: str) -> Iterator[ListedNodepool]:
        """The nodepools of a cluster."""
        return (listed for listed in self.nodepools.values() if listed.cluster_id == cluster_id)

    def by_pool(self, pool_id: str) -> ListedNodepool | None:
        """The nodepool of an Instance Pool."""
        return next((listed for listed in self.nodepools.values() if listed.pool_id == pool_id), None)

    def owners(self, nodepool_ids: Container[str]) -> Sequence[str]:
        """The clusters that list one of these nodepools, readable or not, in the order of the list."""
        found = {listed.cluster_id for listed in self.nodepools.values() if listed.id in nodepool_ids}
        found |= {item.cluster_id for item in self.unreadable_nodepools if item.id in nodepool_ids}
        return [cluster_id for cluster_id in self.cluster_ids if cluster_id in found]

    def lists_without_pool(self, nodepool_id: str) -> bool:
        """Whether the nodepool is in the list, but its pool could not be told from it."""
        listed = self.nodepools.get(nodepool_id)
        return any(item.id == nodepool_id for item in self.unreadable_nodepools) or bool(listed and not listed.pool_id)


def _read(raw: msgspec.Raw, shape: type[T]) -> T | UnreadableItem:
    why = "it has no id"
    try:
        item = wire.read(raw, shape)
        if item.id:
            return item
    except wire.WrongShape as error:
        why = str(error)
    label = _label(raw)
    return UnreadableItem((label.id or "").lower(), label.name or "", (label.id or "").lower(), why)


def _label(raw: msgspec.Raw) -> wire.Identified:
    try:
        return wire.read(raw, wire.Identified)
    except wire.WrongShape:
        return wire.Identified()
