"""The node groups as just read from the cloud, before the user's bounds are applied."""

from __future__ import annotations

from dataclasses import dataclass, field

from exoscaler.core.model.groups import GroupDescription, GroupKind, Pool, Quota
from exoscaler.core.model.troubles import Trouble


@dataclass(frozen=True, slots=True)
class GroupReading:
    """A group as just read from the cloud, before the user's bounds are applied."""

    id: str
    kind: GroupKind
    name: str
    pool: Pool
    nodepool_id: str = ""
    cluster_id: str = ""
    cluster_name: str = ""
    description: GroupDescription = field(default_factory=GroupDescription)
    min_available: int = 0
    anti_affinity_limit: int | None = None


@dataclass(frozen=True, slots=True)
class CloudReading:
    """The groups behind a cluster, as far as they could be read.

    Attributes:
        groups: every group that was read.
        unread: ids of known groups that could not be read this time: their last description stays, marked stale.
        gone: ids of known groups that the cloud says do not exist any more.
        quota: the account's quota of instances, None when it could not be read.
        unmanaged: instance ids found to belong to no pool; they need not be asked for again.
    """

    groups: tuple[GroupReading, ...]
    unread: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    quota: Quota | None = None
    unmanaged: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()
