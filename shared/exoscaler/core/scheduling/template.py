"""Template nodes: what a new node of a group would look like (R60-R65)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from exoscaler.core.model import FrozenMap, GroupKind, Node, NodeGroup, Pod, Resources, Taint
from exoscaler.core.model.nodes import HOSTNAME
from exoscaler.core.model.taints import DELETION_CANDIDATE, TO_BE_DELETED, UNINITIALIZED
from exoscaler.core.policy import StartupTaints
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling.node_affinity import wants_node_labelled
from exoscaler.core.scheduling.place import Origin, Place
from exoscaler.core.scheduling.readiness import has_known_shape, is_example, is_young
from exoscaler.core.scheduling.taints import untolerated

NODEPOOL_LABEL = "node.exoscale.net/nodepool-id"

_PASSING_TAINTS = frozenset(
    {
        TO_BE_DELETED,
        DELETION_CANDIDATE,
        UNINITIALIZED,
        "node.cloudprovider.kubernetes.io/shutdown",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/unschedulable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/pid-pressure",
    }
)
"""Taints that say how one node fares at the moment, not what its group is like (R64)."""

_LABELS_OF_A_TYPE = frozenset(
    {
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "beta.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "topology.csi.exoscale.com/zone",
    }
)
"""Labels that all nodes of one instance type in one zone share, whatever their group."""


class TemplateSource(StrEnum):
    """Where a template's size comes from, best first."""

    HEALTHY_NODE = "a healthy node of the group"
    SAME_INSTANCE_TYPE = "a healthy node of another group with the same instance type"
    UNWELL_NODE = "a node of the group that is not well now, or has not settled yet"


@dataclass(frozen=True, slots=True)
class Template:
    """A node of the group as it will be once it is ready, with what every such node runs.

    Attributes:
        empty: the template itself as a place, named so that it can be no node's name.
        source, learnt_from: the kind and the name of the node that showed the size.
    """

    group_id: str
    empty: Place
    source: TemplateSource
    learnt_from: str

    @property
    def node(self) -> Node:
        """What a new node looks like."""
        return self.empty.node

    def place(self, name: str, origin: Origin) -> Place:
        """A new node of this name. Nodes from one template share the pod objects that every node runs."""
        labels = self.node.labels.with_entry(HOSTNAME, name)
        node = replace(self.node, name=name, uid=name, labels=labels)
        return replace(self.empty, node=node, origin=origin)

    def stand_in(self, node: Node, pods: Iterable[Pod]) -> Place:
        """The template in the place of a registered node that is still starting (R38), with the pods already on it."""
        own = tuple(pods)
        there = {_kind_of_system_pod(pod) for pod in own}
        still_to_come = tuple(pod for pod in self.empty.pods if _kind_of_system_pod(pod) not in there)
        labels = FrozenMap({**self.node.labels, **node.labels})
        shape = replace(self.node, name=node.name, uid=node.uid, labels=labels, created_at=node.created_at)
        return Place.of(shape, (*own, *still_to_come), origin=Origin.UPCOMING, group_id=self.group_id)


def template_for(group: NodeGroup, scene: Scene) -> Template | None:
    """The group's template; None when nothing shows how large a new node would be.

    A healthy node of the group is the example, one past its start-up before a younger one, then by name. The group's
    own description wins where the cloud has one: an SKS nodepool says which labels and taints its nodes get, so a node
    that was tainted by hand, or before the nodepool changed, misleads nobody. Without such a node the size comes from
    another group with the same instance type, and as a last resort from a node of the group that is past its start
    but unwell now, or ready but not settled: a group whose only node failed, or is new, must still be able to grow.
    """
    nodes = scene.membership.nodes_by_group.get(group.id, ())
    healthy = [node for node in nodes if is_example(node, scene.policy, scene.now)]
    if healthy:
        example = _best(healthy, scene)
        labels = {**_shared_labels(example, healthy), **group.description.labels}
        taints = _shared_taints(example, healthy)
        return _built(group, scene, example, labels, taints, TemplateSource.HEALTHY_NODE)
    if donor := _donor(group, scene):
        return _from_donor(group, donor, scene)
    known = [node for node in nodes if has_known_shape(node, scene.policy, scene.now)]
    if not known:
        return None
    example = _best(known, scene)
    labels = {**_shared_labels(example, known), **group.description.labels}
    return _built(group, scene, example, labels, _shared_taints(example, known), TemplateSource.UNWELL_NODE)


def templates_for(scene: Scene) -> Mapping[str, Template | None]:
    """Every group's template by group id."""
    return {group.id: template_for(group, scene) for group in scene.groups}


def _best(nodes: Iterable[Node], scene: Scene) -> Node:
    return min(nodes, key=lambda node: (is_young(node, scene.policy, scene.now), node.name))


def _built(
    group: NodeGroup,
    scene: Scene,
    example: Node,
    labels: Mapping[str, str],
    taints: Iterable[Taint],
    source: TemplateSource,
) -> Template:
    told = group.kind is GroupKind.SKS_NODEPOOL
    node = _sanitised(group, example, labels, group.description.taints if told else taints, scene.policy.taints)
    pods = tuple(pod for pod in _pods_of_every_node(example, scene) if _would_land(pod, node))
    return Template(group.id, Place.of(node, pods, group_id=group.id), source, example.name)


def _sanitised(
    group: NodeGroup, example: Node, labels: Mapping[str, str], taints: Iterable[Taint], startup: StartupTaints
) -> Node:
    """The example without what is its own: name, hostname, cordon, passing taints, conditions, annotations (R64)."""
    name = f"{group.id}/template"
    return Node(
        name=name,
        uid=name,
        created_at=example.created_at,
        labels=FrozenMap({**labels, HOSTNAME: name}),
        taints=tuple(taint for taint in taints if not _passes(taint, startup)),
        capacity=example.capacity,
        allocatable=example.allocatable,
    )


def _passes(taint: Taint, startup: StartupTaints) -> bool:
    return taint.key in _PASSING_TAINTS or startup.is_startup(taint.key) or startup.is_status(taint.key)


def _shared_labels(example: Node, nodes: Sequence[Node]) -> dict[str, str]:
    """The labels that all the nodes carry: what only some carry was put there by hand and comes with no new node."""
    shared = set(example.labels.items())
    for node in nodes:
        shared.intersection_update(node.labels.items())
    return {key: value for key, value in example.labels.items() if (key, value) in shared}


def _shared_taints(example: Node, nodes: Sequence[Node]) -> tuple[Taint, ...]:
    shared = set(example.taints)
    for node in nodes:
        shared.intersection_update(node.taints)
    return tuple(taint for taint in example.taints if taint in shared)


def _pods_of_every_node(example: Node, scene: Scene) -> Iterable[Pod]:
    """The example's pods that a new node would get too (R65)."""
    pods = sorted(scene.snapshot.pods_on(example.name), key=lambda pod: pod.key)
    return (pod for pod in pods if not pod.is_terminating and (pod.is_mirror or pod.is_daemonset))


def _kind_of_system_pod(pod: Pod) -> str:
    """The DaemonSet that a pod belongs to; the static pods of a kubelet, which come all together, are one kind."""
    if pod.is_mirror:
        return "mirror"
    return pod.key if pod.owner is None else pod.owner.uid


def _would_land(pod: Pod, node: Node) -> bool:
    if pod.is_mirror:
        return True
    return untolerated(pod.spec, node.taints) is None and wants_node_labelled(pod.spec, node.labels)


# A size learnt from another group


@dataclass(frozen=True, slots=True)
class _Donor:
    group: NodeGroup
    node: Node


def _donor(group: NodeGroup, scene: Scene) -> _Donor | None:
    wanted = group.description.instance_type_id
    if not wanted:
        return None
    alike = [other for other in scene.groups if other.description.instance_type_id == wanted and other.id != group.id]
    # The same kind of group has the same kubelet settings, and the same disk the same ephemeral storage.
    alike.sort(key=lambda o: (o.kind != group.kind, o.description.disk_gib != group.description.disk_gib))
    for other in alike:
        nodes = [n for n in scene.membership.nodes_by_group[other.id] if is_example(n, scene.policy, scene.now)]
        if nodes:
            return _Donor(other, _best(nodes, scene))
    return None


def _from_donor(group: NodeGroup, donor: _Donor, scene: Scene) -> Template:
    labels = {key: value for key, value in donor.node.labels.items() if key in _LABELS_OF_A_TYPE}
    if group.nodepool_id:
        labels[NODEPOOL_LABEL] = group.nodepool_id
    labels.update(group.description.labels)
    size = replace(
        donor.node,
        capacity=_resized(donor.node.capacity, group, donor.group),
        allocatable=_resized(donor.node.allocatable, group, donor.group),
    )
    return _built(group, scene, size, labels, group.description.taints, TemplateSource.SAME_INSTANCE_TYPE)


def _resized(amount: Resources, group: NodeGroup, donor: NodeGroup) -> Resources:
    """The donor's resources with the group's own disk and limit of pods; a larger disk is not counted on."""
    storage = amount.ephemeral_storage
    have, known = group.description.disk_gib, donor.description.disk_gib
    if have is not None and known:
        storage = min(storage, storage * have // known)
    pods = group.description.max_pods if group.description.max_pods is not None else amount.pods
    return replace(amount, ephemeral_storage=storage, pods=pods)
