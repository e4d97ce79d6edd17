"""Which pods without a node ask for capacity, and why the others do not (R14, R15, R22, R27, R28)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from exoscaler.core.model import Node, Pod, SchedulerVerdict
from exoscaler.core.operations.model import ShrinkOperation, ShrinkPhase
from exoscaler.core.plan import SkippedPod
from exoscaler.core.policy import GrowthPolicy
from exoscaler.core.reasons import PodSkip
from exoscaler.core.scene import Scene


@dataclass(frozen=True, slots=True)
class Pending:
    """Pods without a node, each list in scheduling order.

    Attributes:
        asking: those that want a place; how old they are is asked later, for young ones take room too.
        daemons: unschedulable pods of DaemonSets: they take room and never ask for a node.
        displaced: pods of nodes on their way out, which will need a place again.
        skipped: those that ask for nothing, each with the reason.
    """

    asking: tuple[Pod, ...]
    daemons: tuple[Pod, ...]
    displaced: tuple[Pod, ...]
    skipped: tuple[SkippedPod, ...]


def scheduling_order(pods: Iterable[Pod]) -> tuple[Pod, ...]:
    """Pods as a scheduler takes them: by priority, highest first, then by age, then by name (R23)."""
    return tuple(sorted(pods, key=scheduling_rank))


def scheduling_rank(pod: Pod) -> tuple[int, datetime, str]:
    """What `scheduling_order` sorts by."""
    return -(pod.spec.priority or 0), pod.created_at, pod.key


def pending_pods(scene: Scene) -> Pending:
    """Sort the scene's pods."""
    asking: list[Pod] = []
    daemons: list[Pod] = []
    skipped: list[SkippedPod] = []
    for pod in scheduling_order(pod for pod in scene.snapshot.pods if not pod.is_bound and not pod.is_finished):
        reason = _asks_for_nothing(pod, scene.policy.growth)
        if reason is not None:
            skipped.append(SkippedPod(pod, reason))
        elif pod.is_daemonset:
            daemons.append(pod)
        else:
            asking.append(pod)
    return Pending(tuple(asking), tuple(daemons), displaced_pods(scene), tuple(skipped))


def _asks_for_nothing(pod: Pod, policy: GrowthPolicy) -> PodSkip | None:
    if pod.is_terminating:
        return PodSkip.TERMINATING
    if is_expendable(pod, policy):
        return PodSkip.EXPENDABLE
    if pod.nominated_node:
        return PodSkip.NOMINATED
    if pod.verdict is SchedulerVerdict.GATED:
        return PodSkip.GATED
    if pod.verdict is not SchedulerVerdict.UNSCHEDULABLE:
        return PodSkip.NOT_UNSCHEDULABLE
    return None


def is_expendable(pod: Pod, policy: GrowthPolicy) -> bool:
    """Whether the pod's priority is so low that it neither asks for a node nor holds one (R15)."""
    return pod.spec.priority is not None and pod.spec.priority < policy.expendable_priority_cutoff


def leaving_nodes(scene: Scene) -> frozenset[str]:
    """Uids of the nodes that an operation in flight removes; one whose removal is being undone stays."""
    return frozenset(op.node_uid for op in scene.state.operations.shrinking if _removes(op))


def _removes(operation: ShrinkOperation) -> bool:
    return bool(operation.node_uid) and not operation.ended and operation.phase is not ShrinkPhase.ROLLING_BACK


def displaced_pods(scene: Scene) -> tuple[Pod, ...]:
    """The pods that leaving nodes still hold and that have to go on elsewhere (R22-3), in scheduling order.

    Room is kept for them, so that no pending pod gets the place on which the removal relies. They never make a group
    grow: when there is no room for them, it is the removal that is given up.
    """
    leaving = leaving_nodes(scene)
    nodes = [node for node in scene.snapshot.nodes if node.uid in leaving]
    return scheduling_order(pod for node in nodes for pod in moving_pods(node, scene))


def moving_pods(node: Node, scene: Scene) -> tuple[Pod, ...]:
    """The pods of a node that would have to go on elsewhere without it."""
    return tuple(
        pod
        for pod in scene.snapshot.pods_on(node.name)
        if not (pod.is_terminating or pod.is_mirror or pod.is_daemonset) and not is_expendable(pod, scene.policy.growth)
    )
