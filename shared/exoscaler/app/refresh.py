"""Reading the node groups behind the cluster's nodes into the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from exoscaler import logs
from exoscaler.app.invocation import Invocation
from exoscaler.app.outcome import Outcome, done
from exoscaler.app.telling import cluster_wide, publish_all
from exoscaler.core.group_cache import new_troubles, renewed
from exoscaler.core.model import CloudReading, Node, Trouble, TroubleKind
from exoscaler.core.planner import NO_GROUPS
from exoscaler.core.state import NodeGroupsDocument, State
from exoscaler.errors import Denied
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from exoscaler.ports.cluster import EventType
from exoscaler.ports.state import LoadedState

log = logs.get("exoscaler.app.refresh")


def refresh(invocation: Invocation) -> Outcome:
    """Bring the node-group cache up to date.

    Raises:
        RemoteError: the cluster or the state could not be read or written; the cache is as it was.
    """
    state = refresh_groups(invocation, invocation.ports.store.load()).state
    groups = state.node_groups
    return done(
        groups=[{"name": g.name, "id": g.id, "size": g.pool.size, "stale": g.stale} for g in groups.groups.values()],
        troubles=[f"{trouble.kind.value}: {trouble.detail}" for trouble in groups.troubles],
    )


def refresh_groups(invocation: Invocation, loaded: LoadedState, nodes: Iterable[Node] | None = None) -> LoadedState:
    """Read the cloud and write the cache; what could not be read stays as it was, marked stale.

    `nodes` are the cluster's nodes, when they were read just before; None reads them.
    """
    ports, policy = invocation.ports, invocation.policy
    read_from = invocation.now
    present = ports.cluster.nodes() if nodes is None else tuple(nodes)
    identities = [identity_of(node, policy.provider_id_prefix, ports.cloud.nodepool_label) for node in present]
    before = loaded.state.node_groups
    reading = _read(invocation, identities, before)

    def change(state: State) -> State:
        cache = renewed(state.node_groups, reading, policy, read_from)
        return state if cache is state.node_groups else state.model_copy(update={"node_groups": cache})

    result = ports.store.update(change)
    _report(invocation, before, result.state)
    return result


def _read(invocation: Invocation, identities: list[NodeIdentity], before: NodeGroupsDocument) -> CloudReading:
    known = KnownCloud(tuple(before.groups.values()), before.unmanaged)
    try:
        return invocation.ports.cloud.read_groups(identities, known)
    except Denied as error:
        # Nothing at all can be read: every group keeps its last description, and nothing is removed meanwhile.
        log.error("the cloud refuses the credentials", detail=str(error))
        trouble = Trouble(TroubleKind.CLUSTERS_UNREADABLE, "", str(error))
        doubts = tuple(replace(trouble, kind=TroubleKind.GROUP_UNREADABLE, subject=group) for group in before.groups)
        return CloudReading((), unread=tuple(before.groups), unmanaged=before.unmanaged, troubles=(trouble, *doubts))


def identity_of(node: Node, provider_prefix: str, nodepool_label: str) -> NodeIdentity:
    """What the cloud needs to know of a node to find its group."""
    return NodeIdentity(
        node_name=node.name,
        instance_id=node.instance_id(provider_prefix),
        nodepool_id=node.labels.get(nodepool_label, ""),
        control_plane=node.is_control_plane,
    )


def _report(invocation: Invocation, before: NodeGroupsDocument, state: State) -> None:
    """Tell each trouble once, when it begins. That an instance which is being removed is gone is no trouble."""
    after = state.node_groups
    leaving = {operation.instance_id for operation in state.operations.shrinking}
    events = []
    for trouble in new_troubles(before, after):
        if trouble.kind is TroubleKind.INSTANCE_UNREADABLE and trouble.subject in leaving:
            continue
        log.warning("cloud trouble", kind=trouble.kind.value, subject=trouble.subject, detail=trouble.detail)
        if trouble.kind is not TroubleKind.CLUSTERS_DENIED:
            events.append(cluster_wide(_REASONS[trouble.kind], trouble.detail, EventType.WARNING))
    if not after.groups:
        log.warning(NO_GROUPS)
        if before.groups or before.attempted_at is None:
            events.append(cluster_wide("NoNodeGroups", NO_GROUPS, EventType.WARNING))
    publish_all(invocation, events)


_REASONS = {
    TroubleKind.GROUP_UNREADABLE: "NodeGroupUnreadable",
    TroubleKind.CLUSTERS_UNREADABLE: "ClustersUnreadable",
    TroubleKind.CLUSTERS_DENIED: "ClustersDenied",
    TroubleKind.QUOTA_UNREADABLE: "QuotaUnreadable",
    TroubleKind.INSTANCE_UNREADABLE: "InstanceUnreadable",
    TroubleKind.NODE_WITHOUT_INSTANCE: "NodeWithoutInstance",
    TroubleKind.NAME_AMBIGUOUS: "NodeGroupNameAmbiguous",
    TroubleKind.NAME_UNMATCHED: "NodeGroupNameUnmatched",
    TroubleKind.STATE_UNKNOWN: "NodeGroupStateUnknown",
}


def cache_is_old(state: State, now: datetime, max_age: timedelta) -> bool:
    """Whether the cache was last read longer than `max_age` ago, or never.

    One that was read as far in the future was stamped by a clock that has been set back since: its age is not known.
    """
    attempted = state.node_groups.attempted_at
    return attempted is None or abs(now - attempted) > max_age
