"""Everything that exists in the account, and how to find it. Not thread-safe: `Cloud` guards it."""

from __future__ import annotations

from exoscaler.sandbox.exoscale.errors import NotFound
from exoscaler.sandbox.exoscale.operations import Operations
from exoscaler.sandbox.exoscale.quotas import Quotas
from exoscaler.sandbox.exoscale.resources import Cluster, Instance, Nodepool, NodepoolState, Pool


class Account:
    """One account in one zone. Lookups raise NotFound (404) for what does not exist."""

    def __init__(self, zone: str, quotas: Quotas) -> None:
        self.zone = zone
        self.quotas = quotas
        self.operations = Operations()
        self.clusters: dict[str, Cluster] = {}
        self.pools: dict[str, Pool] = {}
        self.instances: dict[str, Instance] = {}

    def cluster(self, cluster_id: str) -> Cluster:
        """The cluster with this id."""
        found = self.clusters.get(cluster_id)
        if found is None:
            raise NotFound(f"SKS cluster {cluster_id} not found")
        return found

    def nodepool(self, cluster_id: str, nodepool_id: str) -> Nodepool:
        """The nodepool with this id, if it is one of that cluster."""
        for nodepool in self.cluster(cluster_id).nodepools:
            if nodepool.id == nodepool_id:
                return nodepool
        raise NotFound(f"SKS Nodepool {nodepool_id} not found")

    def nodepool_of(self, pool: Pool) -> Nodepool | None:
        """The nodepool that manages `pool`; None for a standalone one."""
        every = (nodepool for cluster in self.clusters.values() for nodepool in cluster.nodepools)
        return next((nodepool for nodepool in every if nodepool.pool is pool), None)

    def pool(self, pool_id: str) -> Pool:
        """The pool with this id."""
        found = self.pools.get(pool_id)
        if found is None:
            raise NotFound(f"Instance Pool {pool_id} not found")
        return found

    def pool_by_any_id(self, any_id: str) -> Pool:
        """The pool with this pool id or nodepool id."""
        found = next((pool for pool in self.pools.values() if any_id in pool.keys), None)
        if found is None:
            raise NotFound(f"no Instance Pool and no SKS Nodepool has the id {any_id}")
        return found

    def instance(self, instance_id: str) -> Instance:
        """The instance with this id."""
        found = self.instances.get(instance_id)
        if found is None:
            raise NotFound(f"Instance {instance_id} not found")
        return found

    def members(self, pool: Pool) -> list[Instance]:
        """The pool's instances, oldest first, those on their way out included."""
        return [self.instances[member_id] for member_id in pool.member_ids]

    def staying(self, pool: Pool) -> list[Instance]:
        """The pool's instances that nobody has asked to remove, oldest first."""
        return [member for member in self.members(pool) if not member.leaving]

    def state_of(self, nodepool: Nodepool) -> NodepoolState:
        """What a nodepool shows: its pool's state in SKS's words."""
        if nodepool.pool.busy:
            return NodepoolState.SCALING
        if len(self.staying(nodepool.pool)) < nodepool.pool.size:
            return NodepoolState.DEGRADED
        return NodepoolState.RUNNING

    def usage(self, resource: str) -> int:
        """How much of a quota is used. A member counts from the moment its pool's change was accepted."""
        if resource == "sks-cluster":
            return len(self.clusters)
        existing = sum(Quotas.charge(each.launch.instance_type, resource) for each in self.instances.values())
        coming = sum(Quotas.charge(pool.launch.instance_type, resource) * pool.coming for pool in self.pools.values())
        return existing + coming
