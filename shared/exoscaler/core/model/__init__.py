"""The field's nouns as frozen values: pods, nodes, node groups, quantities in integers."""

from exoscaler.core.model.frozen_map import FrozenMap
from exoscaler.core.model.groups import (
    GroupDescription,
    GroupKind,
    NodeBounds,
    NodeGroup,
    Pool,
    PoolState,
    Quota,
)
from exoscaler.core.model.labels import LabelSelector, Operator, Requirement
from exoscaler.core.model.nodes import ConditionStatus, Node, NodeCondition
from exoscaler.core.model.pods import (
    Constraint,
    NodeSelectorTerm,
    Owner,
    Pod,
    PodPhase,
    PodSpec,
    RestartPolicy,
    SchedulerVerdict,
    Volume,
    VolumeKind,
)
from exoscaler.core.model.reading import CloudReading, GroupReading
from exoscaler.core.model.resources import Resources
from exoscaler.core.model.snapshot import ClusterSnapshot, DaemonSet, DisruptionBudget, PodView
from exoscaler.core.model.taints import Taint, TaintEffect, Toleration, TolerationOperator
from exoscaler.core.model.troubles import Trouble, TroubleKind

__all__ = [
    "CloudReading",
    "ClusterSnapshot",
    "ConditionStatus",
    "Constraint",
    "DaemonSet",
    "DisruptionBudget",
    "FrozenMap",
    "GroupDescription",
    "GroupKind",
    "GroupReading",
    "LabelSelector",
    "Node",
    "NodeBounds",
    "NodeCondition",
    "NodeGroup",
    "NodeSelectorTerm",
    "Operator",
    "Owner",
    "Pod",
    "PodPhase",
    "PodSpec",
    "PodView",
    "Pool",
    "PoolState",
    "Quota",
    "Requirement",
    "Resources",
    "RestartPolicy",
    "SchedulerVerdict",
    "Taint",
    "TaintEffect",
    "Toleration",
    "TolerationOperator",
    "Trouble",
    "TroubleKind",
    "Volume",
    "VolumeKind",
]
