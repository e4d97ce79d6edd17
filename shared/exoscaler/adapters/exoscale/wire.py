"""The API's answers as they come over the wire, as far as they are used.

Every field may be missing or null, unknown fields are ignored. Lists of clusters and nodepools keep their items as raw
JSON, so that one item of a shape not expected does not make the others unreadable.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from exoscaler.adapters.exoscale.calls import Call
from exoscaler.errors import Unavailable

T = TypeVar("T")


class Wire(msgspec.Struct, rename="kebab", frozen=True, kw_only=True):
    """Names on the wire are in kebab-case."""


class Identified(Wire, frozen=True):
    """What has an id; by itself the least that tells which object an unreadable one is."""

    id: str | None = None
    name: str | None = None


class Ref(Wire, frozen=True):
    """A reference to another object."""

    id: str | None = None


class Manager(Wire, frozen=True):
    """What made an instance or a pool: ``instance-pool`` or ``sks-nodepool``."""

    id: str | None = None
    type: str | None = None


class Instance(Identified, frozen=True):
    """``get-instance``."""

    state: str | None = None
    manager: Manager | None = None


class InstancePool(Identified, frozen=True):
    """``get-instance-pool``; `size` is the target, `instances` the members that exist."""

    state: str | None = None
    size: int | None = None
    min_available: int | None = None
    instances: list[Ref] | None = None
    manager: Manager | None = None
    anti_affinity_groups: list[Ref] | None = None
    instance_type: Ref | None = None
    disk_size: int | None = None


class NodepoolTaint(Wire, frozen=True):
    """The value and effect of a taint; its key is the map's."""

    value: str | None = None
    effect: str | None = None


class Nodepool(Identified, frozen=True):
    """An item of a cluster's ``nodepools``."""

    state: str | None = None
    size: int | None = None
    instance_pool: Ref | None = None
    instance_type: Ref | None = None
    disk_size: int | None = None
    kubelet_max_pods: int | None = None
    labels: dict[str, str] | None = None
    taints: dict[str, NodepoolTaint] | None = None
    anti_affinity_groups: list[Ref] | None = None


class Cluster(Identified, frozen=True):
    """An item of ``list-sks-clusters``."""

    nodepools: list[msgspec.Raw] | None = None


class ClusterList(Wire, frozen=True):
    """``list-sks-clusters``. An answer without the list is no answer: it would make every cluster look deleted."""

    sks_clusters: list[msgspec.Raw]


class Quota(Wire, frozen=True):
    """``get-quota``; a `limit` of -1 is no limit."""

    resource: str | None = None
    usage: int | None = None
    limit: int | None = None


class Operation(Wire, frozen=True):
    """``get-operation``, and the answer to every change."""

    id: str | None = None
    state: str | None = None
    reason: str | None = None
    message: str | None = None


class WrongShape(Exception):
    """JSON that is not what was expected; the text says where and why."""


def read(content: bytes | msgspec.Raw, shape: type[T]) -> T:
    """JSON as a value of `shape`.

    Raises:
        WrongShape: it is not JSON, or not of that shape.
    """
    try:
        return msgspec.json.decode(content, type=shape)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise WrongShape(str(error)) from error


def answer(call: Call, body: bytes, shape: type[T]) -> T:
    """The body of the answer to `call` as a value of `shape`.

    Raises:
        Unavailable: it is not that: something other than the API answered, or the API is not what it was.
    """
    try:
        return read(body, shape)
    except WrongShape as error:
        raise wrong(call, str(error)) from error


def wrong(call: Call, what: str) -> Unavailable:
    """The error for an accepted call whose answer makes no sense."""
    return Unavailable(call.operation, call.target, status=200, detail=f"the answer is not understood: {what}")
