"""The records of an account: clusters, nodepools, pools and instances as the control plane keeps them.

A nodepool and its pool share one `Pool`; a standalone pool is a `Pool` that no nodepool manages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from exoscaler.sandbox.exoscale.instance_types import InstanceType
from exoscaler.sandbox.machines.view import MachineState, MachineTaint


class PoolState(StrEnum):
    """The states of an Instance Pool that the sandbox produces."""

    RUNNING = "running"
    SCALING_UP = "scaling-up"
    SCALING_DOWN = "scaling-down"


class NodepoolState(StrEnum):
    """The states of an SKS Nodepool that the sandbox produces."""

    RUNNING = "running"
    SCALING = "scaling"
    DEGRADED = "degraded"
    """Idle with fewer members than its size."""


@dataclass(frozen=True, slots=True)
class Launch:
    """What an instance is started with. `boot_seconds` is None for the account's usual time."""

    instance_type: InstanceType
    disk_gib: int
    node_labels: dict[str, str] = field(default_factory=dict)
    node_taints: tuple[MachineTaint, ...] = ()
    max_pods: int | None = None
    boot_seconds: float | None = None


@dataclass(slots=True, eq=False)
class Instance:
    """One instance. `pool_id` is empty when no pool manages it; `leaving` once its removal is accepted."""

    id: str
    name: str
    state: MachineState
    pool_id: str
    launch: Launch
    created_at: datetime
    appeared: float
    """On the simulated clock."""
    address: str
    mac: str
    labels: dict[str, str]
    registers: bool = True
    leaving: bool = False


@dataclass(slots=True, eq=False)
class Pool:
    """An Instance Pool. `size` is the target; `member_ids` are its instances, oldest first, leaving ones too."""

    id: str
    name: str
    prefix: str
    launch: Launch
    size: int
    description: str
    labels: dict[str, str]
    anti_affinity_groups: tuple[str, ...]
    """Ids."""
    min_available: int
    nodepool_id: str = ""
    state: PoolState = PoolState.RUNNING
    member_ids: list[str] = field(default_factory=list)
    coming: int = 0
    """Members that are accepted but do not exist yet."""
    heal_wanted: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """The ids it is known by."""
        return frozenset({self.id, self.nodepool_id} - {""})

    @property
    def busy(self) -> bool:
        """True while a change is under way."""
        return self.state is not PoolState.RUNNING


@dataclass(slots=True, eq=False)
class Nodepool:
    """An SKS Nodepool: what it adds to its pool. `labels` and `taints` are as the API shows them."""

    id: str
    name: str
    cluster_id: str
    pool: Pool
    labels: dict[str, str]
    taints: tuple[MachineTaint, ...]
    max_pods: int | None
    addons: tuple[str, ...]
    version: str
    created_at: datetime


@dataclass(slots=True, eq=False)
class Cluster:
    """An SKS cluster."""

    id: str
    name: str
    version: str
    level: str
    cni: str
    addons: tuple[str, ...]
    created_at: datetime
    nodepools: list[Nodepool] = field(default_factory=list)
