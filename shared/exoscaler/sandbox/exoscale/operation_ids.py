"""The operations of the Exoscale API that the sandbox answers, by the names that IAM roles use too."""

from __future__ import annotations

from enum import StrEnum


class OperationId(StrEnum):
    """An operation's ``operationId`` in Exoscale's published API description."""

    EVICT_INSTANCE_POOL_MEMBERS = "evict-instance-pool-members"
    EVICT_SKS_NODEPOOL_MEMBERS = "evict-sks-nodepool-members"
    GET_INSTANCE = "get-instance"
    GET_INSTANCE_POOL = "get-instance-pool"
    GET_INSTANCE_TYPE = "get-instance-type"
    GET_OPERATION = "get-operation"
    GET_QUOTA = "get-quota"
    GET_SKS_CLUSTER = "get-sks-cluster"
    GET_SKS_NODEPOOL = "get-sks-nodepool"
    LIST_INSTANCE_POOLS = "list-instance-pools"
    LIST_INSTANCE_TYPES = "list-instance-types"
    LIST_INSTANCES = "list-instances"
    LIST_QUOTAS = "list-quotas"
    LIST_SKS_CLUSTERS = "list-sks-clusters"
    LIST_ZONES = "list-zones"
    SCALE_INSTANCE_POOL = "scale-instance-pool"
    SCALE_SKS_NODEPOOL = "scale-sks-nodepool"


SCALES = frozenset({OperationId.SCALE_INSTANCE_POOL, OperationId.SCALE_SKS_NODEPOOL})
"""The operations that set a size."""

EVICTS = frozenset({OperationId.EVICT_INSTANCE_POOL_MEMBERS, OperationId.EVICT_SKS_NODEPOOL_MEMBERS})
"""The operations that remove chosen members."""

CHANGES = SCALES | EVICTS
"""The operations that change a pool; each answers with an asynchronous operation."""

PUBLIC = frozenset({OperationId.LIST_ZONES})
"""The operations that need no signature."""
