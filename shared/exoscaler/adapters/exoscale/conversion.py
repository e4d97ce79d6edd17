"""From the API's answers to the core's nouns. Pure functions; ids come out in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from exoscaler.adapters.exoscale import wire
from exoscaler.adapters.exoscale.calls import OperationId
from exoscaler.adapters.exoscale.clusters import ListedNodepool
from exoscaler.adapters.exoscale.failures import speaks_of_quota
from exoscaler.core.model import (
    FrozenMap,
    GroupDescription,
    GroupKind,
    Pool,
    PoolState,
    Quota,
    Taint,
    TaintEffect,
    Trouble,
    TroubleKind,
)
from exoscaler.core.model.groups import UNLIMITED
from exoscaler.core.operations.model import CloudOperation, CloudOperationState
from exoscaler.errors import MAX_REMOTE_TEXT, Unavailable
from exoscaler.ports.cloud import GroupReading

NODEPOOL_LABEL = "node.exoscale.net/nodepool-id"
"""The label by which every node of an SKS nodepool names it."""

ANTI_AFFINITY_LIMIT = 8
"""How many instances an anti-affinity group holds; a limit of the platform."""

INSTANCE_POOL = "instance-pool"
SKS_NODEPOOL = "sks-nodepool"

_POOL_STATES: Mapping[str, PoolState] = {
    "creating": PoolState.BUSY,
    "degraded": PoolState.DEGRADED,
    "destroying": PoolState.GOING,
    "running": PoolState.RUNNING,
    "scaling-down": PoolState.SCALING_DOWN,
    "scaling-up": PoolState.SCALING_UP,
    "suspended": PoolState.BLOCKED,
    "updating": PoolState.BUSY,
}
_NODEPOOL_STATES: Mapping[str, PoolState] = {
    "creating": PoolState.BUSY,
    "degraded": PoolState.DEGRADED,
    "deleting": PoolState.GOING,
    "error": PoolState.BLOCKED,
    "renewing-token": PoolState.BUSY,
    "running": PoolState.RUNNING,
    "scaling": PoolState.BUSY,
    "updating": PoolState.BUSY,
}
_WORSE = (
    PoolState.RUNNING,
    PoolState.DEGRADED,
    PoolState.BUSY,
    PoolState.SCALING_DOWN,
    PoolState.SCALING_UP,
    PoolState.UNKNOWN,
    PoolState.BLOCKED,
    PoolState.GOING,
)
"""Of two states the later one here counts. A direction of scaling says more than merely busy."""

_OPERATION_STATES: Mapping[str, CloudOperationState] = {
    "failure": CloudOperationState.FAILURE,
    "pending": CloudOperationState.PENDING,
    "success": CloudOperationState.SUCCESS,
    "timeout": CloudOperationState.TIMEOUT,
}

_LEAVING = frozenset({"stopping", "destroying", "expunging", "destroyed"})
_BUSY_REASONS = frozenset({"busy", "conflict"})

_NAME = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_PREFIX = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
_LABEL_KEY = re.compile(rf"(?:(?P<prefix>{_PREFIX})/)?{_NAME}")
_LABEL_VALUE = re.compile(rf"(?:{_NAME})?")


def pool(found: wire.InstancePool, nodepool: wire.Nodepool | None = None) -> Pool:
    """A pool, with the nodepool above it taken into account: the worse state and the larger size count.

    The larger size, because while a change begins the two may differ, and a size below the target must never be sent.

    Raises:
        Unavailable: the target cannot be told.
    """
    states = [_POOL_STATES.get(found.state or "", PoolState.UNKNOWN)]
    text = found.state or "no state"
    if nodepool is not None:
        states.append(_NODEPOOL_STATES.get(nodepool.state or "", PoolState.UNKNOWN))
        if nodepool.state != found.state:
            text = f"nodepool {nodepool.state or 'without state'}, pool {found.state or 'without state'}"
    members = _members(found)
    return Pool(_size(found, nodepool, len(members)), members, max(states, key=_WORSE.index), text)


def _members(found: wire.InstancePool) -> tuple[str, ...]:
    ids = [(ref.id or "").lower() for ref in found.instances or ()]
    if not all(ids):
        raise _senseless(found, "a member has no id")
    return tuple(sorted(set(ids)))


def _size(found: wire.InstancePool, nodepool: wire.Nodepool | None, members: int) -> int:
    told = [size for size in (found.size, None if nodepool is None else nodepool.size) if size is not None]
    if any(size < 0 for size in told):
        raise _senseless(found, f"its size is {min(told)}")
    if not told and members:
        raise _senseless(found, f"it has {members} members and names no size")
    return max(told, default=0)


def _senseless(found: wire.InstancePool, what: str) -> Unavailable:
    detail = f"the answer is not understood: {what}"
    return Unavailable(OperationId.GET_INSTANCE_POOL, (found.id or "").lower(), status=200, detail=detail)


def sks_group(listed: ListedNodepool, found: wire.InstancePool) -> GroupReading:
    """The group of an SKS nodepool and its pool.

    Raises:
        Unavailable: see `pool`.
    """
    nodepool = listed.nodepool
    return GroupReading(
        id=listed.pool_id,
        kind=GroupKind.SKS_NODEPOOL,
        name=nodepool.name or found.name or listed.id,
        pool=pool(found, nodepool),
        nodepool_id=listed.id,
        cluster_id=listed.cluster_id,
        cluster_name=listed.cluster_name,
        description=GroupDescription(
            labels=node_labels({**(nodepool.labels or {}), NODEPOOL_LABEL: listed.id}),
            taints=tuple(_taints(nodepool)),
            instance_type_id=_ref(nodepool.instance_type) or _ref(found.instance_type),
            disk_gib=nodepool.disk_size or found.disk_size,
            max_pods=nodepool.kubelet_max_pods,
        ),
        min_available=max(found.min_available or 0, 0),
        anti_affinity_limit=_anti_affinity(nodepool.anti_affinity_groups, found.anti_affinity_groups),
    )


def standalone_group(found: wire.InstancePool) -> GroupReading:
    """The group of a pool that no nodepool manages. Its labels are the cloud's own, no node has them.

    Raises:
        Unavailable: see `pool`.
    """
    pool_id = (found.id or "").lower()
    return GroupReading(
        id=pool_id,
        kind=GroupKind.INSTANCE_POOL,
        name=found.name or pool_id,
        pool=pool(found),
        description=GroupDescription(instance_type_id=_ref(found.instance_type), disk_gib=found.disk_size),
        min_available=max(found.min_available or 0, 0),
        anti_affinity_limit=_anti_affinity(found.anti_affinity_groups),
    )


def oddities(group: GroupReading, found: wire.InstancePool, nodepool: wire.Nodepool | None = None) -> Iterator[Trouble]:
    """What of a group this version does not know: its state, the effect of a taint."""
    if found.state not in _POOL_STATES:
        yield _odd(group, f"its Instance Pool is in a state not known here, {found.state!r}")
    if nodepool is None:
        return
    if nodepool.state not in _NODEPOOL_STATES:
        yield _odd(group, f"the nodepool is in a state not known here, {nodepool.state!r}")
    for key, taint in sorted((nodepool.taints or {}).items()):
        if _effect(taint) is None:
            yield _odd(group, f"its taint {key} has an effect not known here, {taint.effect!r}, and is not counted")


def _odd(group: GroupReading, what: str) -> Trouble:
    return Trouble(TroubleKind.STATE_UNKNOWN, group.id, f"{group.name}: {what}")


def node_labels(labels: Mapping[str, str]) -> FrozenMap[str]:
    """Those of a nodepool's labels that a node can have; the API allows longer values and more characters."""
    return FrozenMap({key: value for key, value in sorted(labels.items()) if _fits_node(key, value)})


def _fits_node(key: str, value: str) -> bool:
    match = _LABEL_KEY.fullmatch(key)
    return match is not None and len(match["prefix"] or "") <= 253 and _LABEL_VALUE.fullmatch(value) is not None


def _taints(nodepool: wire.Nodepool) -> Iterator[Taint]:
    for key, taint in sorted((nodepool.taints or {}).items()):
        effect = _effect(taint)
        if effect is not None:
            yield Taint(key, effect, taint.value or "")


def _effect(taint: wire.NodepoolTaint) -> TaintEffect | None:
    return next((effect for effect in TaintEffect if effect == taint.effect), None)


def _ref(ref: wire.Ref | None) -> str:
    return "" if ref is None else (ref.id or "").lower()


def _anti_affinity(*groups: list[wire.Ref] | None) -> int | None:
    return ANTI_AFFINITY_LIMIT if any(groups) else None


def quota(found: wire.Quota) -> Quota:
    """The quota; any negative limit is none.

    Raises:
        Unavailable: limit or usage is missing.
    """
    if found.limit is None or found.usage is None:
        detail = "the answer is not understood: it names no limit or no usage"
        raise Unavailable(OperationId.GET_QUOTA, found.resource or "", status=200, detail=detail)
    return Quota(UNLIMITED if found.limit < 0 else found.limit, max(found.usage, 0))


def operation(found: wire.Operation) -> CloudOperation:
    """A change's progress. A state not known counts as pending: whoever waits for it has a time-out."""
    state = _OPERATION_STATES.get(found.state or "", CloudOperationState.PENDING)
    failed = state in (CloudOperationState.FAILURE, CloudOperationState.TIMEOUT)
    unknown = "" if found.state in _OPERATION_STATES else f"unknown state {found.state!r}"
    words = [unknown, found.reason or "" if failed else "", found.message or ""]
    return CloudOperation(
        id=(found.id or "").lower(),
        state=state,
        detail=": ".join(filter(None, words))[:MAX_REMOTE_TEXT],
        busy=failed and found.reason in _BUSY_REASONS,
        quota=failed and speaks_of_quota(found.message or ""),
    )


def pool_of(found: wire.Instance) -> str:
    """The id of the Instance Pool that an instance belongs to; empty for one that belongs to none."""
    manager = found.manager
    return (manager.id or "").lower() if manager is not None and manager.type == INSTANCE_POOL else ""


def is_of_nodepool(found: wire.InstancePool) -> bool:
    """Whether an SKS nodepool manages the pool."""
    return found.manager is not None and found.manager.type == SKS_NODEPOOL


def is_leaving(found: wire.Instance) -> bool:
    """Whether an instance that exists is on its way out."""
    return found.state in _LEAVING
