"""The cluster as it will be once everything under way has happened: nodes that exist and nodes that are coming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from exoscaler.core.model import NodeGroup, Pod
from exoscaler.core.scaleup.pending import displaced_pods, is_expendable, leaving_nodes
from exoscaler.core.scaleup.upcoming import Upcoming, upcoming_for
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, Origin, Place, Template, can_take_pods, templates_for


@dataclass(frozen=True, slots=True)
class Outlook:
    """What new nodes look like and which are coming, by group id."""

    templates: Mapping[str, Template | None]
    upcoming: Mapping[str, Upcoming]


def look_ahead(scene: Scene) -> Outlook:
    """Templates and upcoming nodes of every group."""
    templates = templates_for(scene)
    return Outlook(templates, upcoming_for(scene, templates))


def ledger_for(scene: Scene, outlook: Outlook | None = None) -> Ledger:
    """The ledger with which an evaluation begins.

    Every node is in it with its pods, in order of name, then the nodes that are coming. Pods may be sent to nodes that
    are ready, not cordoned, and on which no removal is planned or marked; a node that exoscaler is emptying stays
    present without the pods that will move. A node that is still starting is entered as it will be (R38). Expendable
    pods hold nothing, nominated ones hold room on the node they were nominated for (R15, R16).
    """
    outlook = outlook or look_ahead(scene)
    ledger = Ledger()
    coming = _starting(scene, outlook)
    leaving = leaving_nodes(scene)
    displaced = {pod.uid for pod in displaced_pods(scene)}
    for node in sorted(scene.snapshot.nodes, key=lambda node: node.name):
        pods = _holding(scene.snapshot.pods_on(node.name), scene)
        if template := coming.get(node.name):
            ledger.add(template.stand_in(node, pods))
            continue
        if node.uid in leaving:
            pods = tuple(pod for pod in pods if pod.uid not in displaced)
        destination = can_take_pods(node) and node.uid not in leaving
        group_id = scene.membership.group_of(node.name) or ""
        ledger.add(Place.of(node, pods, group_id=group_id, destination=destination))
    for template, name in _arriving(scene, outlook):
        ledger.add(template.place(name, Origin.UPCOMING))
    for pod in scene.snapshot.pods:
        if _is_nominated(pod, scene) and pod.nominated_node in ledger:
            ledger.place(pod, pod.nominated_node)
    return ledger


def _holding(pods: tuple[Pod, ...], scene: Scene) -> tuple[Pod, ...]:
    policy = scene.policy.growth
    return tuple(pod for pod in pods if not is_expendable(pod, policy))


def _is_nominated(pod: Pod, scene: Scene) -> bool:
    waits = not (pod.is_bound or pod.is_finished or pod.is_terminating)
    return bool(pod.nominated_node) and waits and not is_expendable(pod, scene.policy.growth)


def promising(scene: Scene, outlook: Outlook) -> Iterator[tuple[NodeGroup, Template, Upcoming]]:
    """The groups on whose upcoming nodes room may be promised."""
    for group in scene.groups:
        template, upcoming = outlook.templates[group.id], outlook.upcoming[group.id]
        if template is not None and upcoming.counts:
            yield group, template, upcoming


def _starting(scene: Scene, outlook: Outlook) -> dict[str, Template]:
    return {node.name: template for _, template, upcoming in promising(scene, outlook) for node in upcoming.starting}


def _arriving(scene: Scene, outlook: Outlook) -> Iterator[tuple[Template, str]]:
    for group, template, upcoming in promising(scene, outlook):
        for name in blank_names(group, upcoming):
            yield template, name


def blank_names(group: NodeGroup, upcoming: Upcoming) -> tuple[str, ...]:
    """What the nodes that nothing but their order or their instance is known of are called in a ledger.

    No node can have such a name, for node names have no slash.
    """
    instances = tuple(f"{group.id}/{instance}" for instance in upcoming.unregistered)
    return (*instances, *(f"{group.id}/to-come-{number}" for number in range(upcoming.missing)))
