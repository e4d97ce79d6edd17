"""Pods, as far as a decision depends on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from exoscaler.core.model.frozen_map import FrozenMap
from exoscaler.core.model.labels import Requirement
from exoscaler.core.model.resources import Resources
from exoscaler.core.model.taints import Toleration

SAFE_TO_EVICT = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_TO_EVICT_LOCAL_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
DAEMONSET_POD = "cluster-autoscaler.kubernetes.io/daemonset-pod"
SCALE_UP_DELAY = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
ENABLE_DAEMONSET_EVICTION = "cluster-autoscaler.kubernetes.io/enable-ds-eviction"
MIRROR = "kubernetes.io/config.mirror"


class PodPhase(StrEnum):
    """``status.phase``."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"


class RestartPolicy(StrEnum):
    """``spec.restartPolicy``."""

    ALWAYS = "Always"
    ON_FAILURE = "OnFailure"
    NEVER = "Never"


class SchedulerVerdict(StrEnum):
    """What the scheduler said of the pod, from its condition ``PodScheduled``."""

    SCHEDULED = "Scheduled"
    UNSCHEDULABLE = "Unschedulable"
    GATED = "SchedulingGated"
    NOT_SEEN = "NotSeen"
    """No condition, or one with another reason: no scheduler has tried it."""


class VolumeKind(StrEnum):
    """What backs a volume, as far as it matters for moving the pod (R131-11) or placing it (R210)."""

    EMPTY_DIR = "emptyDir"
    EMPTY_DIR_MEMORY = "emptyDir in memory"
    HOST_PATH = "hostPath"
    CLAIM = "persistentVolumeClaim"
    EPHEMERAL_CLAIM = "ephemeral"
    PROJECTED = "projected"
    """configMap, secret, downwardAPI, projected, image: follows the pod anywhere."""
    OTHER = "other"
    """In-tree and CSI inline volumes."""


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume of a pod."""

    name: str
    kind: VolumeKind


class Constraint(StrEnum):
    """A scheduling constraint that the simulation does not model yet; such a pod is reported, not guessed."""

    POD_AFFINITY = "required pod affinity"
    POD_ANTI_AFFINITY = "required pod anti-affinity"
    TOPOLOGY_SPREAD = "topology spread (DoNotSchedule)"
    VOLUME = "a volume that ties it to a place"
    HOST_PORT = "a host port"
    RESOURCE_CLAIM = "a resource claim"
    UNREADABLE = "a part that this version does not understand"


@dataclass(frozen=True, slots=True)
class NodeSelectorTerm:
    """One alternative of a required node affinity: all expressions and all field conditions hold (R206)."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Owner:
    """The controller that would make the pod again."""

    kind: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What the pod asks for. Pods of one controller share an equal spec, and often the same object.

    Attributes:
        requests: effective requests by the scheduler's own rules (R201), the pod's overhead included.
        node_selector: all labels that the node must have.
        node_affinity: the alternatives of the required node affinity; None when there is none (an empty tuple is an
            affinity that no node meets).
        priority: None when the pod has none.
        grace_seconds: ``terminationGracePeriodSeconds``.
        unmodelled: constraints that this version does not simulate.
    """

    requests: Resources = field(default_factory=Resources)
    node_selector: FrozenMap[str] = field(default_factory=FrozenMap)
    node_affinity: tuple[NodeSelectorTerm, ...] | None = None
    tolerations: tuple[Toleration, ...] = ()
    volumes: tuple[Volume, ...] = ()
    priority: int | None = None
    scheduler_name: str = "default-scheduler"
    restart_policy: RestartPolicy = RestartPolicy.ALWAYS
    grace_seconds: int = 30
    unmodelled: tuple[Constraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Pod:
    """A pod as read from the API server. `owner` is its controller, None for a bare pod."""

    namespace: str
    name: str
    uid: str
    spec: PodSpec
    created_at: datetime
    labels: FrozenMap[str] = field(default_factory=FrozenMap)
    annotations: FrozenMap[str] = field(default_factory=FrozenMap)
    owner: Owner | None = None
    phase: PodPhase = PodPhase.PENDING
    node_name: str = ""
    nominated_node: str = ""
    verdict: SchedulerVerdict = SchedulerVerdict.NOT_SEEN
    deleted_at: datetime | None = None
    """``deletionTimestamp``: when the grace period ends, in the API's own reckoning."""

    @property
    def key(self) -> str:
        """``namespace/name``, as people write it."""
        return f"{self.namespace}/{self.name}"

    @property
    def is_bound(self) -> bool:
        """Whether it has a node."""
        return bool(self.node_name)

    @property
    def is_finished(self) -> bool:
        """Whether it has ended and holds nothing any more (R12)."""
        return self.phase in (PodPhase.SUCCEEDED, PodPhase.FAILED)

    @property
    def is_terminating(self) -> bool:
        """Whether its deletion was asked for."""
        return self.deleted_at is not None

    @property
    def is_mirror(self) -> bool:
        """Whether it mirrors a static pod of a kubelet, which nothing but that kubelet can move."""
        return MIRROR in self.annotations

    @property
    def is_daemonset(self) -> bool:
        """Whether every node gets one of these anyway (R27)."""
        by_owner = self.owner is not None and self.owner.kind == "DaemonSet"
        return by_owner or self.annotations.get(DAEMONSET_POD) == "true"
