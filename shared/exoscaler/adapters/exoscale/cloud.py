"""The `Cloud` port on the Exoscale API."""

from __future__ import annotations

from collections.abc import Sequence

from exoscaler.adapters.exoscale import conversion, wire
from exoscaler.adapters.exoscale.client import ExoscaleClient
from exoscaler.adapters.exoscale.clusters import ClusterIndex
from exoscaler.adapters.exoscale.discovery import read_groups
from exoscaler.adapters.exoscale.lookups import Absentees
from exoscaler.core.model import GroupKind, NodeGroup, Pool
from exoscaler.core.operations.model import CloudOperation, CloudOperationState
from exoscaler.errors import NotFound
from exoscaler.ports.clock import Clock
from exoscaler.ports.cloud import CloudReading, KnownCloud, NodeIdentity

PROVIDER_ID_PREFIX = "exoscale://"


class ExoscaleCloud:
    """One account in one zone. Safe to share between threads.

    An SKS group is changed through its nodepool, any other through its Instance Pool: a pool under a nodepool refuses
    direct changes.

    Attributes:
        provider_id_prefix, nodepool_label: see `exoscaler.ports.cloud.Cloud`.
    """

    provider_id_prefix = PROVIDER_ID_PREFIX
    nodepool_label = conversion.NODEPOOL_LABEL

    def __init__(self, client: ExoscaleClient, clock: Clock, sks_cluster_id: str = "") -> None:
        self._client = client
        self._clock = clock
        self._cluster_id = sks_cluster_id.lower()
        self._absentees = Absentees()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._client!r}, sks_cluster_id={self._cluster_id!r})"

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def read_groups(self, nodes: Sequence[NodeIdentity], known: KnownCloud) -> CloudReading:
        """Finds and reads the groups.

        At most 2 calls and one for each pool once every node is explained; before that, at most
        `exoscaler.adapters.exoscale.lookups.MAX_LOOKUPS` more.

        Raises:
            Denied: every single call was refused.
        """
        return read_groups(
            self._client,
            nodes,
            known,
            cluster_id=self._cluster_id,
            absentees=self._absentees,
            now=self._clock.now(),
        )

    def read_pool(self, group: NodeGroup) -> Pool:
        """The group's pool now; for an SKS group together with its nodepool's state, which takes a second call.

        Raises:
            NotFound: the pool does not exist any more.
            RemoteError: it could not be read.
        """
        if group.kind is GroupKind.INSTANCE_POOL:
            return conversion.pool(self._client.get_instance_pool(group.id))
        listed = ClusterIndex.of(self._client.list_sks_clusters()).nodepools.get(group.nodepool_id)
        # A nodepool that is not in the list, or not readable there, counts as one in an unknown state: no change then.
        nodepool = wire.Nodepool() if listed is None else listed.nodepool
        return conversion.pool(self._client.get_instance_pool(group.id), nodepool)

    def set_size(self, group: NodeGroup, size: int) -> CloudOperation:
        """Asks for an absolute size: ``scale-sks-nodepool`` or ``scale-instance-pool``, sent once.

        Raises:
            ValueError: the size is negative.
            RemoteError: see `exoscaler.ports.cloud.Cloud.set_size`.
        """
        if size < 0:
            raise ValueError(f"{group.name} cannot have {size} members")
        if group.kind is GroupKind.SKS_NODEPOOL:
            answer = self._client.scale_sks_nodepool(group.cluster_id, group.nodepool_id, size)
        else:
            answer = self._client.scale_instance_pool(group.id, size)
        return conversion.operation(answer)

    def remove_instances(self, group: NodeGroup, instance_ids: Sequence[str]) -> CloudOperation:
        """Takes members out and deletes them: one evict call for all, sent once.

        Raises:
            ValueError: no instance, or one twice: the API's answer to either is unknown.
            RemoteError: see `exoscaler.ports.cloud.Cloud.remove_instances`.
        """
        instances = [instance.lower() for instance in instance_ids]
        if not instances:
            raise ValueError(f"no instance to remove from {group.name}")
        if len(set(instances)) != len(instances):
            raise ValueError(f"an instance to remove from {group.name} is named twice")
        if group.kind is GroupKind.SKS_NODEPOOL:
            answer = self._client.evict_sks_nodepool_members(group.cluster_id, group.nodepool_id, instances)
        else:
            answer = self._client.evict_instance_pool_members(group.id, instances)
        return conversion.operation(answer)

    def read_operation(self, operation_id: str) -> CloudOperation:
        """A change's progress; forgotten when the API does not know it any more.

        Raises:
            RemoteError: it could not be read.
        """
        try:
            return conversion.operation(self._client.get_operation(operation_id))
        except NotFound:
            return CloudOperation(operation_id, CloudOperationState.FORGOTTEN)

    def instance_is_leaving(self, instance_id: str) -> bool:
        """Whether the instance is gone or on its way out.

        Raises:
            RemoteError: it could not be read; `Rejected` for what is no instance id.
        """
        try:
            return conversion.is_leaving(self._client.get_instance(instance_id.lower()))
        except NotFound:
            return True
