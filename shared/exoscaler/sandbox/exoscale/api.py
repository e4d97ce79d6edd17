"""The operations of the API: which path and method each has, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from exoscaler.sandbox.exoscale import instance_types, wire
from exoscaler.sandbox.exoscale.cloud import Cloud
from exoscaler.sandbox.exoscale.errors import MethodNotAllowed, NotFound
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.requests import ApiRequest
from exoscaler.sandbox.exoscale.wire import Json

Handler: TypeAlias = Callable[[Cloud, ApiRequest], Json]

CLUSTER = "/sks-cluster/{id}"
NODEPOOL = "/sks-cluster/{id}/nodepool/{sks-nodepool-id}"
POOL = "/instance-pool/{id}"


def list_zones(cloud: Cloud, request: ApiRequest) -> Json:
    """The account's zone alone: the sandbox has no other."""
    with cloud.at_present() as account:
        return {"zones": [wire.zone(account.zone, request.endpoint)]}


def list_sks_clusters(cloud: Cloud, _: ApiRequest) -> Json:
    """All clusters, each with all its nodepools."""
    with cloud.at_present() as account:
        return {"sks-clusters": [wire.cluster(each, account) for each in account.clusters.values()]}


def get_sks_cluster(cloud: Cloud, request: ApiRequest) -> Json:
    """One cluster."""
    with cloud.at_present() as account:
        return wire.cluster(account.cluster(request.uuid("id")), account)


def get_sks_nodepool(cloud: Cloud, request: ApiRequest) -> Json:
    """One nodepool."""
    with cloud.at_present() as account:
        return wire.nodepool(account.nodepool(request.uuid("id"), request.uuid("sks-nodepool-id")), account)


def scale_sks_nodepool(cloud: Cloud, request: ApiRequest) -> Json:
    """Set a nodepool's size."""
    cluster_id, nodepool_id = request.uuid("id"), request.uuid("sks-nodepool-id")
    return wire.operation(cloud.scale_nodepool(cluster_id, nodepool_id, request.size()))


def evict_sks_nodepool_members(cloud: Cloud, request: ApiRequest) -> Json:
    """Remove chosen members of a nodepool."""
    cluster_id, nodepool_id = request.uuid("id"), request.uuid("sks-nodepool-id")
    return wire.operation(cloud.evict_nodepool_members(cluster_id, nodepool_id, request.instances()))


def list_instance_pools(cloud: Cloud, _: ApiRequest) -> Json:
    """All pools, those that a nodepool manages included."""
    with cloud.at_present() as account:
        return {"instance-pools": [wire.instance_pool(each) for each in account.pools.values()]}


def get_instance_pool(cloud: Cloud, request: ApiRequest) -> Json:
    """One pool."""
    with cloud.at_present() as account:
        return wire.instance_pool(account.pool(request.uuid("id")))


def scale_instance_pool(cloud: Cloud, request: ApiRequest) -> Json:
    """Set a standalone pool's size."""
    return wire.operation(cloud.scale_pool(request.uuid("id"), request.size()))


def evict_instance_pool_members(cloud: Cloud, request: ApiRequest) -> Json:
    """Remove chosen members of a standalone pool."""
    return wire.operation(cloud.evict_pool_members(request.uuid("id"), request.instances()))


def list_instances(cloud: Cloud, request: ApiRequest) -> Json:
    """The instances that the filters ask for."""
    filters = request.filters()
    with cloud.at_present() as account:
        found = (each for each in account.instances.values() if filters.match(each.pool_id, each.address, each.labels))
        return {"instances": [wire.listed_instance(each, account) for each in found]}


def get_instance(cloud: Cloud, request: ApiRequest) -> Json:
    """One instance."""
    with cloud.at_present() as account:
        return wire.instance(account.instance(request.uuid("id")), account)


def list_instance_types(_: Cloud, __: ApiRequest) -> Json:
    """The catalogue."""
    return {"instance-types": [wire.instance_type(each) for each in instance_types.CATALOGUE]}


def get_instance_type(_: Cloud, request: ApiRequest) -> Json:
    """One instance type."""
    return wire.instance_type(instance_types.by_id(request.uuid("id")))


def get_operation(cloud: Cloud, request: ApiRequest) -> Json:
    """One operation as it stands."""
    with cloud.at_present() as account:
        return wire.operation(account.operations.get(request.uuid("id")))


def list_quotas(cloud: Cloud, _: ApiRequest) -> Json:
    """All quotas."""
    with cloud.at_present() as account:
        return {"quotas": [wire.quota(each, account) for each in account.quotas.resources()]}


def get_quota(cloud: Cloud, request: ApiRequest) -> Json:
    """One quota."""
    with cloud.at_present() as account:
        return wire.quota(request.parameters["entity"], account)


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One operation: its id, its method and path below ``/v2``, and what answers it."""

    id: OperationId
    method: str
    path: str
    handler: Handler
    pattern: re.Pattern[str] = field(init=False)

    def __post_init__(self) -> None:
        # A colon never belongs to a parameter: it separates the path from an action such as ``:scale``.
        parts = re.split(r"\{([a-z-]+)\}", self.path)
        names = [f"(?P<{part.replace('-', '_')}>[^/:]+)" if odd else re.escape(part) for odd, part in _odd(parts)]
        object.__setattr__(self, "pattern", re.compile("".join(names)))

    def parameters(self, path: str) -> Mapping[str, str] | None:
        """The path's parameters; None when the path is not this operation's."""
        found = self.pattern.fullmatch(path)
        return found and {name.replace("_", "-"): value for name, value in found.groupdict().items()}


def _odd(parts: list[str]) -> list[tuple[bool, str]]:
    return [(place % 2 == 1, part) for place, part in enumerate(parts)]


OPERATIONS = (
    ApiOperation(OperationId.LIST_ZONES, "GET", "/zone", list_zones),
    ApiOperation(OperationId.LIST_SKS_CLUSTERS, "GET", "/sks-cluster", list_sks_clusters),
    ApiOperation(OperationId.GET_SKS_CLUSTER, "GET", CLUSTER, get_sks_cluster),
    ApiOperation(OperationId.GET_SKS_NODEPOOL, "GET", NODEPOOL, get_sks_nodepool),
    ApiOperation(OperationId.SCALE_SKS_NODEPOOL, "PUT", f"{NODEPOOL}:scale", scale_sks_nodepool),
    ApiOperation(OperationId.EVICT_SKS_NODEPOOL_MEMBERS, "PUT", f"{NODEPOOL}:evict", evict_sks_nodepool_members),
    ApiOperation(OperationId.LIST_INSTANCE_POOLS, "GET", "/instance-pool", list_instance_pools),
    ApiOperation(OperationId.GET_INSTANCE_POOL, "GET", POOL, get_instance_pool),
    ApiOperation(OperationId.SCALE_INSTANCE_POOL, "PUT", f"{POOL}:scale", scale_instance_pool),
    ApiOperation(OperationId.EVICT_INSTANCE_POOL_MEMBERS, "PUT", f"{POOL}:evict", evict_instance_pool_members),
    ApiOperation(OperationId.LIST_INSTANCES, "GET", "/instance", list_instances),
    ApiOperation(OperationId.GET_INSTANCE, "GET", "/instance/{id}", get_instance),
    ApiOperation(OperationId.LIST_INSTANCE_TYPES, "GET", "/instance-type", list_instance_types),
    ApiOperation(OperationId.GET_INSTANCE_TYPE, "GET", "/instance-type/{id}", get_instance_type),
    ApiOperation(OperationId.GET_OPERATION, "GET", "/operation/{id}", get_operation),
    ApiOperation(OperationId.LIST_QUOTAS, "GET", "/quota", list_quotas),
    ApiOperation(OperationId.GET_QUOTA, "GET", "/quota/{entity}", get_quota),
)
"""All operations that the sandbox answers."""


def recognise(method: str, path: str) -> tuple[ApiOperation, Mapping[str, str]]:
    """The operation of a method and a path below ``/v2``, with the path's parameters.

    Raises:
        NotFound: no operation has this path.
        MethodNotAllowed: operations have this path, but none with this method.
    """
    on_path = [(each, found) for each in OPERATIONS if (found := each.parameters(path)) is not None]
    for operation, parameters in on_path:
        if operation.method == method:
            return operation, parameters
    if on_path:
        raise MethodNotAllowed(tuple(operation.method for operation, _ in on_path))
    raise NotFound(f"No operation at {method} {path}")
