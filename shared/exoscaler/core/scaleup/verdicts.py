"""Why no group helps a pod: one verdict a group (R51, R53, R101)."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import NodeGroup, Pod
from exoscaler.core.plan import GroupVerdict, UnhelpedPod
from exoscaler.core.scaleup.equivalence import PodClass
from exoscaler.core.scaleup.orders import Orders
from exoscaler.core.scaleup.outlook import Outlook
from exoscaler.core.scaleup.pending import scheduling_rank
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import why_not


def unhelped(classes: Iterable[PodClass], scene: Scene, outlook: Outlook, orders: Orders) -> tuple[UnhelpedPod, ...]:
    """The pods of the classes in scheduling order, each with every group's verdict after all that was ordered."""
    found: list[UnhelpedPod] = []
    for alike in classes:
        verdicts = tuple(_verdict(group, alike.exemplar, outlook, orders) for group in scene.groups)
        found.extend(UnhelpedPod(pod, verdicts) for pod in alike.pods)
    return tuple(sorted(found, key=lambda entry: scheduling_rank(entry.pod)))


def _verdict(group: NodeGroup, pod: Pod, outlook: Outlook, orders: Orders) -> GroupVerdict:
    """That the pod fits no node of the group comes first: lifting a limit would not help it."""
    template = outlook.templates[group.id]
    rejections = why_not(pod, template.empty) if template is not None else ()
    if rejections:
        return GroupVerdict(group.id, group.name, rejections=rejections)
    return GroupVerdict(group.id, group.name, skip=orders.cap_for_pods(group).reason)
