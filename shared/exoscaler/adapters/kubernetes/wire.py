"""The objects of the API, as far as they are needed, in the shape in which they travel.

Unknown fields are skipped without being built, which is what makes reading long lists cheap. Everything the API may
leave out may also be null. Values whose set may grow (phases, operators, effects) are text here and understood when the
object becomes a record.
"""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeAlias, TypeVar

import msgspec

Amounts: TypeAlias = dict[str, str | int | float]
"""Quantities by resource. The API server writes text; a bare number is a quantity all the same."""


class _Wire(msgspec.Struct, rename="camel", gc=False):
    """No object here refers back to another, so the garbage collector need not look at them."""


class Present(_Wire):
    """An object of which only the presence matters."""


class OwnerReference(_Wire):
    """``metadata.ownerReferences[]``."""

    kind: str
    name: str
    uid: str
    controller: bool | None = None


class Metadata(_Wire):
    """``metadata``."""

    name: str
    namespace: str = ""
    uid: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    owner_references: list[OwnerReference] | None = None


class Requirement(_Wire):
    """A label requirement of any selector."""

    key: str
    operator: str
    values: list[str] | None = None


class LabelSelector(_Wire):
    """A label selector object."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[Requirement] | None = None


class Taint(_Wire):
    """``spec.taints[]`` of a node."""

    key: str
    effect: str
    value: str | None = None


class NodeSpec(_Wire):
    """``spec`` of a node."""

    provider_id: str | None = msgspec.field(default=None, name="providerID")
    taints: list[Taint] | None = None
    unschedulable: bool | None = None


class NodeCondition(_Wire):
    """``status.conditions[]`` of a node."""

    type: str
    status: str
    last_transition_time: datetime | None = None


class NodeInfo(_Wire):
    """``status.nodeInfo``."""

    system_uuid: str | None = msgspec.field(default=None, name="systemUUID")


class NodeStatus(_Wire):
    """``status`` of a node."""

    capacity: Amounts | None = None
    allocatable: Amounts | None = None
    conditions: list[NodeCondition] | None = None
    node_info: NodeInfo | None = None


class Node(_Wire):
    """A Node."""

    metadata: Metadata
    spec: NodeSpec | None = None
    status: NodeStatus | None = None


class ResourceNeeds(_Wire):
    """``resources`` of a container or pod; limits never matter (R201)."""

    requests: Amounts | None = None


class Port(_Wire):
    """``ports[]`` of a container."""

    host_port: int | None = None


class Container(_Wire):
    """A container or init container."""

    name: str
    resources: ResourceNeeds | None = None
    ports: list[Port] | None = None
    restart_policy: str | None = None


class EmptyDir(_Wire):
    """An ``emptyDir`` volume."""

    medium: str | None = None


class Volume(_Wire):
    """``spec.volumes[]``: exactly one kind is present."""

    name: str
    empty_dir: EmptyDir | None = None
    host_path: Present | None = None
    persistent_volume_claim: Present | None = None
    ephemeral: Present | None = None
    config_map: Present | None = None
    secret: Present | None = None
    downward_api: Present | None = msgspec.field(default=None, name="downwardAPI")
    projected: Present | None = None
    image: Present | None = None


class Toleration(_Wire):
    """``spec.tolerations[]``."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class NodeSelectorTerm(_Wire):
    """One alternative of a node selector."""

    match_expressions: list[Requirement] | None = None
    match_fields: list[Requirement] | None = None


class NodeSelector(_Wire):
    """The required part of a node affinity."""

    node_selector_terms: list[NodeSelectorTerm] | None = None


class NodeAffinity(_Wire):
    """``spec.affinity.nodeAffinity``."""

    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class PodAffinity(_Wire):
    """``spec.affinity.podAffinity`` and ``podAntiAffinity``."""

    required: list[Present] | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class Affinity(_Wire):
    """``spec.affinity``."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class SpreadConstraint(_Wire):
    """``spec.topologySpreadConstraints[]``."""

    when_unsatisfiable: str | None = None


class PodSpec(_Wire):
    """``spec`` of a pod."""

    containers: list[Container] | None = None
    init_containers: list[Container] | None = None
    node_name: str | None = None
    node_selector: dict[str, str] | None = None
    affinity: Affinity | None = None
    tolerations: list[Toleration] | None = None
    topology_spread_constraints: list[SpreadConstraint] | None = None
    volumes: list[Volume] | None = None
    overhead: Amounts | None = None
    resources: ResourceNeeds | None = None
    resource_claims: list[Present] | None = None
    priority: int | None = None
    scheduler_name: str | None = None
    restart_policy: str | None = None
    termination_grace_period_seconds: int | None = None


class PodCondition(_Wire):
    """``status.conditions[]`` of a pod."""

    type: str
    status: str
    reason: str | None = None


class ContainerStatus(_Wire):
    """``status.containerStatuses[]``: what the kubelet has set aside and what it has put into force."""

    name: str
    resources: ResourceNeeds | None = None
    allocated_resources: Amounts | None = None


class PodStatus(_Wire):
    """``status`` of a pod."""

    phase: str | None = None
    conditions: list[PodCondition] | None = None
    nominated_node_name: str | None = None
    container_statuses: list[ContainerStatus] | None = None
    init_container_statuses: list[ContainerStatus] | None = None
    resources: ResourceNeeds | None = None
    allocated_resources: Amounts | None = None


class Pod(_Wire):
    """A Pod."""

    metadata: Metadata
    spec: PodSpec | None = None
    status: PodStatus | None = None


class BudgetSpec(_Wire):
    """``spec`` of a PodDisruptionBudget."""

    selector: LabelSelector | None = None


class BudgetStatus(_Wire):
    """``status`` of a PodDisruptionBudget."""

    disruptions_allowed: int | None = None


class DisruptionBudget(_Wire):
    """A PodDisruptionBudget of policy/v1."""

    metadata: Metadata
    spec: BudgetSpec | None = None
    status: BudgetStatus | None = None


class DaemonSetStatus(_Wire):
    """``status`` of a DaemonSet."""

    number_ready: int | None = None


class DaemonSet(_Wire):
    """A DaemonSet."""

    metadata: Metadata
    status: DaemonSetStatus | None = None


class ListMetadata(_Wire):
    """``metadata`` of a list."""

    next: str | None = msgspec.field(default=None, name="continue")


Item = TypeVar("Item")


class Page(_Wire, Generic[Item]):
    """A list, or one page of it. All three must be there: anything else must not pass for a list of nothing."""

    kind: str
    metadata: ListMetadata
    items: list[Item] | None
