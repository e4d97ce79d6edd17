"""How to decide: every setting that the core depends on, as one frozen value.

The names follow the flags (``scale-down-unneeded-time`` is `unneeded_time`); F and R numbers name the rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from exoscaler.core.model import NodeBounds

_GIB = 2**30


class ExpanderName(StrEnum):
    """How to choose between groups that could grow (F41)."""

    RANDOM = "random"
    MOST_PODS = "most-pods"
    LEAST_WASTE = "least-waste"
    LEAST_NODES = "least-nodes"


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Bounds on a cluster-wide total; `minimum` 0 means none (R2)."""

    minimum: int
    maximum: int


@dataclass(frozen=True, slots=True)
class StartupTaints:
    """Which taints say that a node is still starting (F37, F38), and which only report a status (F39); see R21."""

    keys: frozenset[str] = frozenset()
    prefixes: tuple[str, ...] = (
        "startup-taint.cluster-autoscaler.kubernetes.io/",
        "ignore-taint.cluster-autoscaler.kubernetes.io/",
    )
    status_keys: frozenset[str] = frozenset()
    status_prefixes: tuple[str, ...] = ("status-taint.cluster-autoscaler.kubernetes.io/",)

    def is_startup(self, key: str) -> bool:
        """Whether a taint of this key means "not started yet"."""
        return key in self.keys or key.startswith(self.prefixes)

    def is_status(self, key: str) -> bool:
        """Whether a taint of this key only reports a status."""
        return key in self.status_keys or key.startswith(self.status_prefixes)


@dataclass(frozen=True, slots=True)
class GrowthPolicy:
    """Scale-up."""

    max_nodes_total: int = 0
    """F26; 0 means no limit. Counts all nodes, unmanaged ones too."""
    cores: ResourceLimits = ResourceLimits(0, 320_000)
    """F27, in whole cores."""
    memory: ResourceLimits = ResourceLimits(0, 6_400_000 * _GIB)
    """F28, in bytes."""
    max_nodes_per_scaleup: int = 1000
    expanders: tuple[ExpanderName, ...] = (ExpanderName.LEAST_WASTE,)
    expendable_priority_cutoff: int = -10
    new_pod_delay: timedelta = timedelta(0)
    enforce_min_size: bool = True
    max_node_provision_time: timedelta = timedelta(minutes=15)
    max_node_startup_time: timedelta = timedelta(minutes=15)
    initial_backoff: timedelta = timedelta(minutes=5)
    max_backoff: timedelta = timedelta(minutes=30)
    backoff_reset: timedelta = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class ShrinkPolicy:
    """Scale-down."""

    enabled: bool = True
    unready_enabled: bool = True
    utilization_threshold: float = 0.5
    ignore_daemonsets_utilization: bool = False
    ignore_mirror_pods_utilization: bool = False
    unneeded_time: timedelta = timedelta(minutes=10)
    unready_time: timedelta = timedelta(minutes=20)
    delay_after_add: timedelta = timedelta(minutes=10)
    delay_after_delete: timedelta = timedelta(0)
    delay_after_failure: timedelta = timedelta(minutes=3)
    delay_is_local: bool = False
    """F80: whether the three delays hold for the group that changed only, or for all."""
    unremovable_recheck: timedelta = timedelta(minutes=5)
    skip_nodes_with_system_pods: bool = True
    blocking_system_pod_timeout: timedelta = timedelta(hours=1)
    skip_nodes_with_local_storage: bool = True
    skip_nodes_with_custom_controller_pods: bool = True
    max_parallelism: int = 10
    max_drain_parallelism: int = 1
    cordon: bool = True
    delay_after_taint: timedelta = timedelta(seconds=5)
    max_graceful_termination: timedelta = timedelta(seconds=600)
    max_pod_eviction_time: timedelta = timedelta(minutes=2)
    daemonset_eviction_for_empty_nodes: bool = False
    daemonset_eviction_for_occupied_nodes: bool = True
    node_deletion_delay_timeout: timedelta = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class HealthPolicy:
    """When the cluster is too unwell to change (R39), and when exoscaler itself is."""

    max_total_unready_percentage: float = 45
    ok_total_unready_count: int = 3
    longest_silence: timedelta = timedelta(minutes=10)
    """For how long there may be no evaluation before exoscaler no longer counts as at work (F3, F4)."""


@dataclass(frozen=True, slots=True)
class PacePolicy:
    """How invocations share the work over time."""

    min_evaluation_interval: timedelta = timedelta(seconds=5)
    evaluation_period: timedelta = timedelta(seconds=60)
    """How often an evaluation is expected; timers restart after a gap of more than three of these."""
    cache_ttl: timedelta = timedelta(minutes=1)
    decision_max_age: timedelta = timedelta(seconds=15)
    """A plan that changes something is made on a cloud view no older than this."""
    invocation_budget: timedelta = timedelta(seconds=25)
    claim_ttl: timedelta = timedelta(seconds=45)
    operation_poll_interval: timedelta = timedelta(seconds=10)
    operation_timeout: timedelta = timedelta(minutes=10)
    ended_operations_kept: int = 50


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything the core needs to know of the settings.

    Attributes:
        provider_id_prefix: what an instance id is preceded by in a node's provider id.
        bounds: the ``--nodes`` entries.
        scale_to_zero: whether a group may have no node at all.
    """

    provider_id_prefix: str = "exoscale://"
    bounds: tuple[NodeBounds, ...] = ()
    scale_to_zero: bool = False
    taints: StartupTaints = field(default_factory=StartupTaints)
    growth: GrowthPolicy = field(default_factory=GrowthPolicy)
    shrink: ShrinkPolicy = field(default_factory=ShrinkPolicy)
    health: HealthPolicy = field(default_factory=HealthPolicy)
    pace: PacePolicy = field(default_factory=PacePolicy)

    @property
    def smallest_group(self) -> int:
        """The least size that any group may have."""
        return 0 if self.scale_to_zero else 1
