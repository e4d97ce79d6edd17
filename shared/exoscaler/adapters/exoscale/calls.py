"""The nine API operations exoscaler uses, as values: what is sent, and what it is about.

The names are those of the API's OpenAPI description, which are also the names an IAM role allows or denies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from exoscaler.errors import Rejected

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


class OperationId(StrEnum):
    """API operations."""

    LIST_SKS_CLUSTERS = "list-sks-clusters"
    GET_INSTANCE = "get-instance"
    GET_INSTANCE_POOL = "get-instance-pool"
    GET_QUOTA = "get-quota"
    GET_OPERATION = "get-operation"
    SCALE_SKS_NODEPOOL = "scale-sks-nodepool"
    EVICT_SKS_NODEPOOL_MEMBERS = "evict-sks-nodepool-members"
    SCALE_INSTANCE_POOL = "scale-instance-pool"
    EVICT_INSTANCE_POOL_MEMBERS = "evict-instance-pool-members"

    @property
    def grows(self) -> bool:
        """Whether it may ask for more instances, and so may be refused for want of quota."""
        return self in (OperationId.SCALE_SKS_NODEPOOL, OperationId.SCALE_INSTANCE_POOL)


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        operation: which.
        path: below the endpoint, ready to be sent.
        target: the id of the object it is about; empty for a list.
        body: the JSON to send; None makes it a GET.
    """

    operation: OperationId
    path: str
    target: str = ""
    body: bytes | None = None

    @property
    def method(self) -> str:
        """``GET`` for a look, ``PUT`` for a change."""
        return "GET" if self.body is None else "PUT"

    @property
    def is_change(self) -> bool:
        """Whether it changes something, so that it must not be repeated without looking."""
        return self.body is not None


def is_id(text: str) -> bool:
    """Whether `text` is an id of the API: a UUID in lower case."""
    return _UUID.fullmatch(text) is not None


def list_sks_clusters() -> Call:
    """Every SKS cluster of the zone with its nodepools."""
    return Call(OperationId.LIST_SKS_CLUSTERS, "/sks-cluster")


def get_instance(instance_id: str) -> Call:
    """One instance; see the module for the ids it takes."""
    return _look(OperationId.GET_INSTANCE, "instance", instance_id)


def get_instance_pool(pool_id: str) -> Call:
    """One Instance Pool with the ids of its members."""
    return _look(OperationId.GET_INSTANCE_POOL, "instance-pool", pool_id)


def get_operation(operation_id: str) -> Call:
    """The progress of a change."""
    return _look(OperationId.GET_OPERATION, "operation", operation_id)


def get_quota(resource: str) -> Call:
    """The account's limit and usage of one resource, e.g. ``instance``.

    Raises:
        Rejected: the name cannot be a resource's.
    """
    if _NAME.fullmatch(resource) is None:
        raise Rejected(OperationId.GET_QUOTA, resource, detail="not the name of a resource; nothing was sent")
    return Call(OperationId.GET_QUOTA, f"/quota/{resource}", resource)


def scale_sks_nodepool(cluster_id: str, nodepool_id: str, size: int) -> Call:
    """Set a nodepool's absolute size."""
    return _nodepool(OperationId.SCALE_SKS_NODEPOOL, "scale", cluster_id, nodepool_id, {"size": size})


def evict_sks_nodepool_members(cluster_id: str, nodepool_id: str, instance_ids: Sequence[str]) -> Call:
    """Take instances out of a nodepool and delete them; its size sinks by their number."""
    operation = OperationId.EVICT_SKS_NODEPOOL_MEMBERS
    return _nodepool(operation, "evict", cluster_id, nodepool_id, _members(operation, instance_ids))


def scale_instance_pool(pool_id: str, size: int) -> Call:
    """Set an Instance Pool's absolute size."""
    return _pool(OperationId.SCALE_INSTANCE_POOL, "scale", pool_id, {"size": size})


def evict_instance_pool_members(pool_id: str, instance_ids: Sequence[str]) -> Call:
    """Take instances out of an Instance Pool and delete them; its size sinks by their number."""
    operation = OperationId.EVICT_INSTANCE_POOL_MEMBERS
    return _pool(operation, "evict", pool_id, _members(operation, instance_ids))


def _checked(operation: OperationId, identifier: str) -> str:
    # What is not an id would at best be answered "not found", which means "gone"; at worst it is another path.
    if not is_id(identifier):
        raise Rejected(operation, identifier, detail="not an id of this API; nothing was sent")
    return identifier


def _members(operation: OperationId, instance_ids: Sequence[str]) -> dict[str, object]:
    return {"instances": [_checked(operation, instance) for instance in instance_ids]}


def _look(operation: OperationId, collection: str, identifier: str) -> Call:
    return Call(operation, f"/{collection}/{_checked(operation, identifier)}", identifier)


def _pool(operation: OperationId, verb: str, pool_id: str, body: dict[str, object]) -> Call:
    path = f"/instance-pool/{_checked(operation, pool_id)}:{verb}"
    return Call(operation, path, pool_id, msgspec.json.encode(body))


def _nodepool(operation: OperationId, verb: str, cluster_id: str, nodepool_id: str, body: dict[str, object]) -> Call:
    cluster, nodepool = _checked(operation, cluster_id), _checked(operation, nodepool_id)
    return Call(operation, f"/sks-cluster/{cluster}/nodepool/{nodepool}:{verb}", nodepool_id, msgspec.json.encode(body))
