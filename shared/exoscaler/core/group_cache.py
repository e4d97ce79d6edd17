"""Bringing the node-group cache up to date: a reading of the cloud, the user's bounds, the last cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from exoscaler.core.model import (
    CloudReading,
    GroupReading,
    NodeBounds,
    NodeGroup,
    Quota,
    Trouble,
    TroubleKind,
)
from exoscaler.core.model.groups import UNLIMITED
from exoscaler.core.policy import Policy
from exoscaler.core.state import NodeGroupsDocument

NO_MAXIMUM = 1_000_000
"""A group's maximum when neither the user nor the account sets one."""

SLOWEST_READING = timedelta(minutes=1)
"""A cache that is newer than a reading by more than this was stamped by a clock that has been set back since."""


def renewed(
    cache: NodeGroupsDocument, reading: CloudReading, policy: Policy, read_from: datetime
) -> NodeGroupsDocument:
    """The cache after a reading that began at `read_from`.

    A group that was read replaces its entry; one that could not be read keeps its last entry, marked stale with the
    reason; one that is gone leaves. A reading that began before the one in the cache changes nothing, so that a slow
    invocation cannot undo a quick one.
    """
    if cache.attempted_at is not None and read_from < cache.attempted_at <= read_from + SLOWEST_READING:
        return cache
    quota = reading.quota or cache.quota
    chosen, troubles = _bounds_of(reading.groups, policy.bounds)
    groups = {g.id: _bounded(g, chosen.get(g.id), cache, quota, policy, read_from) for g in reading.groups}
    doubts = {trouble.subject: trouble.detail for trouble in reading.troubles}
    for group_id in reading.unread:
        known = cache.groups.get(group_id)
        if known is not None:
            groups[group_id] = replace(known, stale=doubts.get(group_id, "the cloud could not be read"))
    all_troubles = (*reading.troubles, *troubles, *_unmatched(groups.values(), policy.bounds))
    return NodeGroupsDocument(
        groups=dict(sorted(groups.items())),
        quota=quota,
        unmanaged=tuple(sorted(reading.unmanaged)),
        troubles=all_troubles,
        refreshed_at=cache.refreshed_at if reading.unread else read_from,
        attempted_at=read_from,
    )


def new_troubles(before: NodeGroupsDocument, after: NodeGroupsDocument) -> tuple[Trouble, ...]:
    """The troubles that the last attempt did not have yet: each is told once, for as long as it lasts."""
    known = {(trouble.kind, trouble.subject) for trouble in before.troubles}
    return tuple(trouble for trouble in after.troubles if (trouble.kind, trouble.subject) not in known)


def _names(group: GroupReading | NodeGroup) -> tuple[str, ...]:
    """Everything by which ``--nodes`` may name a group."""
    return (group.name, group.id, group.nodepool_id)


def _bounds_of(
    groups: Sequence[GroupReading], bounds: Iterable[NodeBounds]
) -> tuple[dict[str, NodeBounds | None], tuple[Trouble, ...]]:
    """The user's bounds by group id; None for a group whose bounds are ambiguous and so cannot be known.

    An entry with an id counts before one with the name of the same group.
    """
    chosen: dict[str, NodeBounds | None] = {}
    by_id: dict[str, NodeBounds | None] = {}
    troubles: list[Trouble] = []
    for entry in bounds:
        if identified := [group for group in groups if entry.name in (group.id, group.nodepool_id)]:
            by_id.update({group.id: entry for group in identified})
            continue
        named = [group for group in groups if entry.name == group.name]
        if len(named) > 1:
            ids = ", ".join(sorted(group.nodepool_id or group.id for group in named))
            detail = f"--nodes names {entry.name!r}, which several groups are called; use one of the ids: {ids}"
            troubles.append(Trouble(TroubleKind.NAME_AMBIGUOUS, entry.name, detail))
        chosen.update({group.id: entry if len(named) == 1 else None for group in named})
    return {**chosen, **by_id}, tuple(troubles)


def _unmatched(groups: Iterable[NodeGroup], bounds: Iterable[NodeBounds]) -> tuple[Trouble, ...]:
    known = {name for group in groups for name in _names(group)}
    return tuple(
        Trouble(TroubleKind.NAME_UNMATCHED, entry.name, f"--nodes names {entry.name!r}, but no node group is called so")
        for entry in bounds
        if entry.name not in known
    )


_UNBOUNDED = NodeBounds(1, NO_MAXIMUM, "")
"""A group that nobody named keeps a node, even where others may be emptied."""


def _bounded(
    reading: GroupReading,
    bounds: NodeBounds | None,
    cache: NodeGroupsDocument,
    quota: Quota | None,
    policy: Policy,
    read_from: datetime,
) -> NodeGroup:
    stale = ""
    if bounds is None and any(entry.name == reading.name for entry in policy.bounds):
        # Guessing which limits were meant could cost machines, so the group is left as it is.
        stale = f"--nodes is ambiguous about {reading.name!r}"
    if bounds is None:
        known = cache.groups.get(reading.id)
        bounds = replace(_UNBOUNDED, max_size=_default_maximum(reading, known, quota))
    maximum = bounds.max_size
    if reading.anti_affinity_limit is not None:
        maximum = min(maximum, reading.anti_affinity_limit)
    minimum = max(bounds.min_size, reading.min_available, policy.smallest_group)
    return NodeGroup(
        id=reading.id,
        kind=reading.kind,
        name=reading.name,
        pool=reading.pool,
        min_size=min(minimum, maximum),
        max_size=maximum,
        read_at=read_from,
        nodepool_id=reading.nodepool_id,
        cluster_id=reading.cluster_id,
        cluster_name=reading.cluster_name,
        description=reading.description,
        min_available=reading.min_available,
        anti_affinity_limit=reading.anti_affinity_limit,
        stale=stale,
    )


def _default_maximum(reading: GroupReading, known: NodeGroup | None, quota: Quota | None) -> int:
    """The account's limit on instances; while that is unknown, what was known, or no growth."""
    if quota is not None:
        return NO_MAXIMUM if quota.limit == UNLIMITED else quota.limit
    return known.max_size if known is not None else reading.pool.size
