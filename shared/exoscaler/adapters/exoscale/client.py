"""The Exoscale API v2, as far as exoscaler uses it: one typed method per operation, and none other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from exoscaler.adapters.exoscale import calls, wire
from exoscaler.adapters.exoscale.calls import Call
from exoscaler.adapters.exoscale.http import Http

T = TypeVar("T", bound=wire.Identified)


class ExoscaleClient:
    """The API of one zone for one key. Safe to share between threads.

    Every method raises a `exoscaler.errors.RemoteError` whose `operation` is the operation's name and whose `target` is
    the id of the object: `NotFound`, `Denied`, `RateLimited`, `Unavailable` or `TimedOut`, the changes also `Conflict`,
    `QuotaExceeded` and `Rejected`. Ids are lower-case UUIDs; anything else is `Rejected` without being sent.
    """

    def __init__(self, http: Http) -> None:
        self._http = http

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._http!r})"

    def close(self) -> None:
        """Closes the connections; the client cannot be used any more."""
        self._http.close()

    def list_sks_clusters(self) -> Sequence[msgspec.Raw]:
        """``list-sks-clusters``: each cluster as JSON, to be read one by one."""
        call = calls.list_sks_clusters()
        return wire.answer(call, self._http.send(call), wire.ClusterList).sks_clusters

    def get_instance(self, instance_id: str) -> wire.Instance:
        """``get-instance``."""
        return self._object(calls.get_instance(instance_id), wire.Instance)

    def get_instance_pool(self, pool_id: str) -> wire.InstancePool:
        """``get-instance-pool``."""
        return self._object(calls.get_instance_pool(pool_id), wire.InstancePool)

    def get_quota(self, resource: str) -> wire.Quota:
        """``get-quota``."""
        call = calls.get_quota(resource)
        return wire.answer(call, self._http.send(call), wire.Quota)

    def get_operation(self, operation_id: str) -> wire.Operation:
        """``get-operation``."""
        return self._operation(calls.get_operation(operation_id))

    def scale_sks_nodepool(self, cluster_id: str, nodepool_id: str, size: int) -> wire.Operation:
        """``scale-sks-nodepool``."""
        return self._operation(calls.scale_sks_nodepool(cluster_id, nodepool_id, size))

    def evict_sks_nodepool_members(
        self, cluster_id: str, nodepool_id: str, instance_ids: Sequence[str]
    ) -> wire.Operation:
        """``evict-sks-nodepool-members``."""
        return self._operation(calls.evict_sks_nodepool_members(cluster_id, nodepool_id, instance_ids))

    def scale_instance_pool(self, pool_id: str, size: int) -> wire.Operation:
        """``scale-instance-pool``."""
        return self._operation(calls.scale_instance_pool(pool_id, size))

    def evict_instance_pool_members(self, pool_id: str, instance_ids: Sequence[str]) -> wire.Operation:
        """``evict-instance-pool-members``."""
        return self._operation(calls.evict_instance_pool_members(pool_id, instance_ids))

    def _object(self, call: Call, shape: type[T]) -> T:
        """The object asked for. An answer about nothing or another one must not pass for an empty pool."""
        found = wire.answer(call, self._http.send(call), shape)
        if (found.id or "").lower() != call.target:
            raise wire.wrong(call, f"it is about {found.id or 'no id at all'}")
        return found

    def _operation(self, call: Call) -> wire.Operation:
        operation = wire.answer(call, self._http.send(call), wire.Operation)
        if not operation.state:
            raise wire.wrong(call, "it names no state of the operation")
        return operation
