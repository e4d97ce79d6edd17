"""Node groups: what scales. One group is one Instance Pool, with or without an SKS Nodepool above it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from exoscaler.core.model.frozen_map import FrozenMap
from exoscaler.core.model.taints import Taint

UNLIMITED = -1
"""How the account quota spells "no limit"."""


class GroupKind(StrEnum):
    """Which API manages the pool."""

    SKS_NODEPOOL = "sks-nodepool"
    INSTANCE_POOL = "instance-pool"


class PoolState(StrEnum):
    """The pool's state, nodepool and instance pool taken together."""

    RUNNING = "running"
    SCALING_UP = "scaling-up"
    SCALING_DOWN = "scaling-down"
    BUSY = "busy"
    """Creating, updating, renewing its token, scaling in an unsaid direction: it will be free again by itself."""
    DEGRADED = "degraded"
    """Running with trouble; it still accepts changes."""
    BLOCKED = "blocked"
    """Suspended or in error: a person must act."""
    GOING = "going"
    """Being deleted."""
    UNKNOWN = "unknown"
    """A state this version has not heard of: treated like busy, and reported."""

    @property
    def accepts_changes(self) -> bool:
        """Whether a change may be submitted now."""
        return self in (PoolState.RUNNING, PoolState.DEGRADED)


@dataclass(frozen=True, slots=True)
class NodeBounds:
    """The user's limits for one group, from ``--nodes``; `name` is a name or an id (R1)."""

    min_size: int
    max_size: int
    name: str


@dataclass(frozen=True, slots=True)
class Quota:
    """The account's limit on instances and what it uses of it."""

    limit: int
    usage: int

    @property
    def headroom(self) -> int | None:
        """How many more instances the account may have; None when unlimited."""
        return None if self.limit == UNLIMITED else max(0, self.limit - self.usage)


@dataclass(frozen=True, slots=True)
class Pool:
    """What the cloud says of a group's pool at one moment.

    Attributes:
        size: the target.
        members: ids of the instances that exist, lower-case, sorted.
        state: see `PoolState`; `state_text` is the cloud's own word.
    """

    size: int
    members: tuple[str, ...]
    state: PoolState
    state_text: str = ""


@dataclass(frozen=True, slots=True)
class GroupDescription:
    """What a new node of the group is made from, as the cloud describes it.

    Attributes:
        labels, taints: what the kubelet registers the node with; empty for a standalone pool.
        instance_type_id: the type of new members.
        disk_gib: disk of a new member, None when not told.
        max_pods: the kubelet's limit, None for its default.
    """

    labels: FrozenMap[str] = field(default_factory=FrozenMap)
    taints: tuple[Taint, ...] = ()
    instance_type_id: str = ""
    disk_gib: int | None = None
    max_pods: int | None = None


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """A node group as the cache knows it.

    Attributes:
        id: the Instance Pool's id.
        nodepool_id, cluster_id: of an SKS group; empty for a standalone one.
        min_size, max_size: the effective bounds: the user's, narrowed by the pool's own.
        min_available: the pool's own minimum, 0 when it has none.
        anti_affinity_limit: the most members that the pool's anti-affinity groups allow, None when it has none.
        read_at: when the cloud was last read successfully for this group.
        stale: why the last reading failed; empty when it succeeded.
    """

    id: str
    kind: GroupKind
    name: str
    pool: Pool
    min_size: int
    max_size: int
    read_at: datetime
    nodepool_id: str = ""
    cluster_id: str = ""
    cluster_name: str = ""
    description: GroupDescription = field(default_factory=GroupDescription)
    min_available: int = 0
    anti_affinity_limit: int | None = None
    stale: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether the group's description is older than the last attempt to read it."""
        return bool(self.stale)
