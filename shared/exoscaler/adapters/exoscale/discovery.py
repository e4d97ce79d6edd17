"""Finds and reads the node groups behind a cluster's nodes.

The way there, cheapest knowledge first:

1. ``list-sks-clusters``, once: every nodepool with its pool, also the empty ones.
2. The clusters that are ours: the configured one, or those that a node's label or a known group names.
3. ``get-instance-pool``, once for each of their nodepools and for each standalone pool known from earlier readings.
4. ``get-instance`` for nodes that none of this explains. Its pool is read at once, which explains all of the pool's
   nodes; a pool of a listed nodepool makes that nodepool's cluster ours.

Whatever fails is contained: a trouble says what, and a known group that could not be read stays known, as unread. A
group is gone only when the API says of its own pool that it does not exist, or when it lies outside the configured
cluster.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial

from exoscaler.adapters.exoscale import conversion, lookups, wire
from exoscaler.adapters.exoscale.attempts import Attempts
from exoscaler.adapters.exoscale.client import ExoscaleClient
from exoscaler.adapters.exoscale.clusters import ClusterIndex, ListedNodepool
from exoscaler.core.model import GroupKind, NodeGroup, Quota, Trouble, TroubleKind
from exoscaler.errors import Denied, NotFound, RateLimited, RemoteError
from exoscaler.ports.cloud import CloudReading, GroupReading, KnownCloud, NodeIdentity

QUOTA_RESOURCE = "instance"


def read_groups(
    client: ExoscaleClient,
    nodes: Sequence[NodeIdentity],
    known: KnownCloud,
    *,
    cluster_id: str,
    absentees: lookups.Absentees,
    now: datetime,
) -> CloudReading:
    """Reads the groups; see `exoscaler.ports.cloud.Cloud.read_groups`.

    Args:
        client: what to ask.
        nodes: the cluster's nodes.
        known: the last reading.
        cluster_id: the only SKS cluster to look at, lower-case; empty for those that own a node.
        absentees: instances that need not be asked for right now.
        now: the time.

    Raises:
        Denied: every single call was refused.
    """
    with Attempts() as attempts:
        reading = _Reading(client, attempts, nodes, known, cluster_id, absentees, now).run()
        if attempts.refusal is not None:
            raise attempts.refusal
        return reading


class _Reading:
    """One reading; made for it and thrown away."""

    def __init__(
        self,
        client: ExoscaleClient,
        attempts: Attempts,
        nodes: Sequence[NodeIdentity],
        known: KnownCloud,
        cluster_id: str,
        absentees: lookups.Absentees,
        now: datetime,
    ) -> None:
        self._client = client
        self._attempts = attempts
        self._nodes = nodes
        self._known = {group.id: group for group in known.groups}
        self._cluster_id = cluster_id
        self._absentees = absentees
        self._now = now
        self._index: ClusterIndex | None = None
        self._scope: set[str] = set()
        self._tried: set[str] = set()
        self._explained: set[str] = set()
        self._groups: dict[str, GroupReading] = {}
        self._unread: set[str] = set()
        self._gone: set[str] = set()
        self._quota: Quota | None = None
        self._unmanaged = {node.instance_id for node in nodes if node.instance_id}.intersection(known.unmanaged)
        self._troubles = lookups.without_instance(nodes)

    def run(self) -> CloudReading:
        """Reads everything, whatever fails."""
        self._read_clusters()
        self._read_quota_and_pools()
        self._look_up_the_rest()
        return CloudReading(
            groups=tuple(self._groups[group_id] for group_id in sorted(self._groups)),
            unread=tuple(sorted(self._unread)),
            gone=tuple(sorted(self._gone)),
            quota=self._quota,
            unmanaged=tuple(sorted(self._unmanaged)),
            troubles=tuple(dict.fromkeys(self._troubles)),
        )

    # Clusters

    def _read_clusters(self) -> None:
        listed = self._attempts.call(self._client.list_sks_clusters)
        if isinstance(listed, RemoteError):
            self._cannot_list(listed)
            return
        index = self._index = ClusterIndex.of(listed)
        for item in index.unreadable_clusters:
            what = f"{item.name or 'a cluster'}: the cluster is not understood: {item.why}"
            self._report(TroubleKind.CLUSTERS_UNREADABLE, item.id, what)
        if self._cluster_id:
            ours: Iterable[str] = [self._cluster_id]
        else:
            labels = {node.nodepool_id.lower() for node in self._nodes if node.nodepool_id}
            ours = [*index.owners(labels), *(group.cluster_id for group in self._known.values())]
        for cluster_id in ours:
            self._claim_cluster(index, cluster_id)

    def _cannot_list(self, error: RemoteError) -> None:
        """Says why there are no SKS groups, or why the known ones stay as they were."""
        for group in self._known.values():
            if group.kind is GroupKind.SKS_NODEPOOL and not self._is_foreign(group.cluster_id):
                self._keep(group)
        if not isinstance(error, Denied) or error.status != 403:
            self._report(TroubleKind.CLUSTERS_UNREADABLE, error.operation, str(error))
            return
        labelled = sum(1 for node in self._nodes if node.nodepool_id)
        detail = "the API key may not list SKS clusters, so there are no SKS groups here"
        if labelled or self._unread:
            detail = (
                f"the API key may not list SKS clusters, but {labelled} nodes name an SKS nodepool:"
                f" allow {error.operation} in the key's IAM role to scale them"
            )
        self._report(TroubleKind.CLUSTERS_DENIED, error.operation, detail)

    def _is_foreign(self, cluster_id: str) -> bool:
        """Whether the settings name another cluster."""
        return bool(self._cluster_id) and cluster_id != self._cluster_id

    def _claim_cluster(self, index: ClusterIndex, cluster_id: str) -> None:
        """Makes a cluster ours: all its nodepools are groups."""
        if cluster_id in self._scope or not cluster_id:
            return
        if cluster_id not in index.cluster_ids:
            if cluster_id == self._cluster_id:
                detail = "this zone has no SKS cluster of the configured id; check the id and the zone"
                self._report(TroubleKind.CLUSTERS_UNREADABLE, cluster_id, detail)
            return
        self._scope.add(cluster_id)
        for item in index.unreadable_nodepools:
            if item.cluster_id == cluster_id:
                name = item.name or "a nodepool"
                self._report_nodepool(item.id, name, f"the nodepool is not understood: {item.why}")
        for listed in index.of_cluster(cluster_id):
            if not listed.pool_id:
                what = f"the nodepool has no Instance Pool yet (state {listed.nodepool.state})"
                self._report_nodepool(listed.id, listed.name, what)

    def _report_nodepool(self, nodepool_id: str, name: str, what: str) -> None:
        """Says what is wrong with a nodepool whose pool could not be told, under its group's id if that is known."""
        known = next((g.id for g in self._known.values() if nodepool_id and g.nodepool_id == nodepool_id), nodepool_id)
        self._report(TroubleKind.GROUP_UNREADABLE, known, f"{name}: {what}")

    # Quota and pools

    def _read_quota_and_pools(self) -> None:
        quota = self._attempts.begin(partial(self._client.get_quota, QUOTA_RESOURCE))
        self._read_pools(self._pools_to_read())
        try:
            found = self._attempts.end(quota)
            if isinstance(found, RemoteError):
                raise found
            self._quota = conversion.quota(found)
        except RemoteError as error:
            self._report(TroubleKind.QUOTA_UNREADABLE, QUOTA_RESOURCE, str(error))

    def _pools_to_read(self) -> Sequence[str]:
        """The pools of our clusters, then the known ones that these do not include."""
        index = self._index
        wanted = [] if index is None else [n.pool_id for c in sorted(self._scope) for n in index.of_cluster(c)]
        for group in self._known.values():
            if group.kind is GroupKind.INSTANCE_POOL:
                wanted.append(group.id)
            elif self._is_foreign(group.cluster_id):
                self._gone.add(group.id)
            elif index is not None and group.id not in wanted:
                # Not listed any more, or not readable there. Only its own pool can say that it is gone.
                wanted.append(group.id)
        return [pool_id for pool_id in dict.fromkeys(wanted) if pool_id]

    def _read_pools(self, pool_ids: Iterable[str]) -> None:
        """Reads pools side by side; what they lead to is read before this returns."""
        fresh = [pool_id for pool_id in pool_ids if pool_id not in self._tried]
        self._tried.update(fresh)
        begun = [(i, self._attempts.begin(partial(self._client.get_instance_pool, i))) for i in fresh]
        for pool_id, future in begun:
            found = self._attempts.end(future)
            try:
                if isinstance(found, RemoteError):
                    raise found
                self._take(pool_id, found)
            except RemoteError as error:
                self._pool_failed(pool_id, error)

    def _take(self, pool_id: str, found: wire.InstancePool) -> None:
        """Makes a pool that was read a group, if it is one of ours.

        Raises:
            Unavailable: the answer makes no sense.
        """
        members = conversion.pool(found).members
        self._explained.update(members)
        listed = None if self._index is None else self._index.by_pool(pool_id)
        if listed is not None:
            self._take_nodepool(listed, found)
            return
        known = self._known.get(pool_id)
        if (known and known.kind is GroupKind.SKS_NODEPOOL) or conversion.is_of_nodepool(found):
            self._unresolved(pool_id, found)
            return
        group = conversion.standalone_group(found)
        self._groups[pool_id] = group
        self._troubles += conversion.oddities(group, found)

    def _take_nodepool(self, listed: ListedNodepool, found: wire.InstancePool) -> None:
        index = self._index
        if index is None or self._is_foreign(listed.cluster_id):
            return
        group = conversion.sks_group(listed, found)
        self._groups[listed.pool_id] = group
        self._troubles += conversion.oddities(group, found, listed.nodepool)
        if listed.cluster_id not in self._scope:
            self._claim_cluster(index, listed.cluster_id)
            self._read_pools(other.pool_id for other in index.of_cluster(listed.cluster_id) if other.pool_id)

    def _unresolved(self, pool_id: str, found: wire.InstancePool) -> None:
        """A pool of a nodepool that the list of clusters does not show: it cannot be changed without its cluster."""
        known = self._known.get(pool_id)
        if known is not None:
            self._keep(known)
            if self._index is not None and self._index.lists_without_pool(known.nodepool_id):
                return  # reported with the cluster
        name, state = known.name if known else found.name or pool_id, found.state or "unknown"
        what = f"{name}: no SKS cluster that could be read lists its nodepool, though the pool exists (state {state})"
        self._report(TroubleKind.GROUP_UNREADABLE, pool_id, what)

    def _pool_failed(self, pool_id: str, error: RemoteError) -> None:
        known = self._known.get(pool_id)
        listed = None if self._index is None else self._index.by_pool(pool_id)
        if isinstance(error, NotFound):
            if known is not None:
                self._gone.add(pool_id)
            expected = known is not None if listed is None else listed.nodepool.state == "deleting"
            if expected:
                return
        elif known is not None:
            self._keep(known)
        name = listed.name if listed else known.name if known else pool_id
        self._report(TroubleKind.GROUP_UNREADABLE, pool_id, f"{name}: {error}")

    def _keep(self, group: NodeGroup) -> None:
        """Leaves a known group as it was, and its nodes explained by what it was."""
        self._unread.add(group.id)
        self._explained.update(group.pool.members)

    # Single instances

    def _look_up_the_rest(self) -> None:
        queue = lookups.candidates(
            self._nodes, tied=self._settled_nodepools(), unmanaged=self._unmanaged, now=self._now
        )
        asked = failures = 0
        for position, (instance_id, node_name) in enumerate(queue):
            if instance_id in self._explained:
                continue
            if self._absentees.includes(instance_id, self._now):
                self._absent(instance_id, node_name)
                continue
            if asked >= lookups.MAX_LOOKUPS or failures >= lookups.MAX_FAILURES:
                self._postpone([name for instance, name in queue[position:] if instance not in self._explained])
                return
            asked += 1
            failures += self._look_up(instance_id, node_name)

    def _settled_nodepools(self) -> set[str]:
        """Nodepools whose nodes need no look-up: the label says whose they are, or nothing would come of it."""
        if self._index is None:
            return {node.nodepool_id.lower() for node in self._nodes}
        return {*self._index.nodepools, *(item.id for item in self._index.unreadable_nodepools)}

    def _look_up(self, instance_id: str, node_name: str) -> int:
        """Follows one instance to its pool. How heavily a failure weighs against asking for more; 0 without one."""
        found = self._attempts.call(partial(self._client.get_instance, instance_id))
        if isinstance(found, NotFound):
            self._absentees.note(instance_id, self._now)
            self._absent(instance_id, node_name)
            return 0
        if isinstance(found, RemoteError):
            self._report(TroubleKind.INSTANCE_UNREADABLE, instance_id, f"instance of node {node_name}: {found}")
            return lookups.MAX_FAILURES if isinstance(found, Denied | RateLimited) else 1
        pool_id = conversion.pool_of(found)
        listed = None if self._index is None else self._index.by_pool(pool_id)
        if not pool_id or (listed is not None and self._is_foreign(listed.cluster_id)):
            self._unmanaged.add(instance_id)
        else:
            self._read_pools([pool_id])
        return 0

    def _absent(self, instance_id: str, node_name: str) -> None:
        what = f"node {node_name} names an instance that this zone does not know, so it is left alone"
        self._report(TroubleKind.INSTANCE_UNREADABLE, instance_id, what)

    def _postpone(self, node_names: Sequence[str]) -> None:
        what = f"{len(node_names)} nodes belong to no pool read so far; they are looked up at the next readings"
        self._report(TroubleKind.INSTANCE_UNREADABLE, node_names[0], what)

    def _report(self, kind: TroubleKind, subject: str, detail: str) -> None:
        self._troubles.append(Trouble(kind, subject, detail))
