"""What the cluster's users are told: Kubernetes events, with the reasons that they know from upstream."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from exoscaler import logs
from exoscaler.app.invocation import Invocation
from exoscaler.core.model import NodeGroup, Pod
from exoscaler.core.operations.model import GrowOperation, GrowPhase, ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.plan import Plan, UnhelpedPod
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.state import State
from exoscaler.errors import RemoteError
from exoscaler.ports.cluster import ClusterEvent, EventType, SubjectKind

STATUS_CONFIG_MAP = "cluster-autoscaler-status"
MOST_POD_EVENTS = 50
"""How many pods are told about one evaluation: enough to find the reason, few enough not to flood the API server."""

log = logs.get("exoscaler.app.telling")


def publish_all(invocation: Invocation, events: Iterable[ClusterEvent]) -> None:
    """Write the events. A failure costs only the event: it is logged, and nothing depends on it.

    What is left when the invocation's time is up is logged instead: whoever called waits for an answer.
    """
    for event in events:
        if invocation.time_left() <= timedelta(0):
            log.warning("no time was left for a Kubernetes event", reason=event.reason, detail=event.message)
            continue
        try:
            invocation.ports.cluster.publish(event)
        except RemoteError as error:
            log.warning("a Kubernetes event was not written", reason=event.reason, detail=str(error))


def cluster_wide(reason: str, message: str, kind: EventType = EventType.NORMAL) -> ClusterEvent:
    """An event about no single object; it is attached to the status ConfigMap, as users know it."""
    return ClusterEvent(SubjectKind.CONFIG_MAP, STATUS_CONFIG_MAP, reason, message, kind)


def _about_pod(pod: Pod, reason: str, message: str) -> ClusterEvent:
    return ClusterEvent(
        SubjectKind.POD, pod.name, reason, message, subject_namespace=pod.namespace, subject_uid=pod.uid
    )


def about_node(
    operation: ShrinkOperation, reason: str, message: str, kind: EventType = EventType.NORMAL
) -> ClusterEvent:
    """An event about the node that an operation removes."""
    return ClusterEvent(SubjectKind.NODE, operation.node_name, reason, message, kind, subject_uid=operation.node_uid)


def of_plan(plan: Plan, before: State) -> tuple[ClusterEvent, ...]:
    """What an evaluation tells: growth by group, and to pods what was, or was not, done for them.

    A pod that waits is told again only when the reasons change, so that a tick costs no event (R101).
    """
    groups = plan.state.node_groups.groups
    events = [_of_growth(operation, groups[operation.group_id]) for operation in plan.growth.operations]
    sizes = {op.group_id: f"{op.group_name} {op.base_size}->{op.target_size}" for op in plan.growth.operations}
    for helped in plan.growth.helped[:MOST_POD_EVENTS]:
        change = sizes.get(helped.group_id)
        if change is not None:
            maximum = groups[helped.group_id].max_size
            message = f"pod triggered scale-up: [{{{change} (max: {maximum})}}]"
            events.append(_about_pod(helped.pod, "TriggeredScaleUp", message))
    told = {pod.name: pod.reasons for pod in before.observations.waiting}
    for unhelped in plan.growth.unhelped[:MOST_POD_EVENTS]:
        reasons = {verdict.group_name: verdict.text for verdict in unhelped.verdicts}
        if told.get(unhelped.pod.key) != reasons:
            events.append(_about_pod(unhelped.pod, "NotTriggerScaleUp", _why_not(unhelped)))
    return tuple(events)


def _of_growth(operation: GrowOperation, group: NodeGroup) -> ClusterEvent:
    message = (
        f"Scale-up: setting group {group.name} size to {operation.target_size} instead of {operation.base_size}"
        f" (max: {group.max_size})"
    )
    return cluster_wide("ScaledUpGroup", message)


def _why_not(unhelped: UnhelpedPod) -> str:
    """``pod didn't trigger scale-up: 2 Insufficient cpu, 1 max node group size reached``; one count a group (R101)."""
    counts: dict[str, int] = {}
    for verdict in unhelped.verdicts:
        counts[verdict.text] = counts.get(verdict.text, 0) + 1
    listed = ", ".join(f"{count} {text}" for text, count in sorted(counts.items()))
    return f"pod didn't trigger scale-up: {listed}" if listed else "pod didn't trigger scale-up"


def of_growth_end(operation: GrowOperation) -> tuple[ClusterEvent, ...]:
    """How a growth ended, when it ended badly. A plan that no longer held is no failure: the next one follows."""
    if operation.failure in (None, GrowFailure.SUPERSEDED):
        return ()
    reason = "ScaleUpTimedOut" if operation.phase is GrowPhase.TIMED_OUT else "FailedToScaleUpGroup"
    message = (
        f"Scale-up of group {operation.group_name} to {operation.target_size} failed: {operation.failure.value}"
        f"{': ' + operation.detail if operation.detail else ''}; {operation.failure.remedy}"
    )
    return (cluster_wide(reason, message, EventType.WARNING),)


def of_removal(before: ShrinkOperation, after: ShrinkOperation) -> tuple[ClusterEvent, ...]:
    """What a step of a removal tells about the node; nothing while its phase stays the same."""
    if before.phase is after.phase:
        return ()
    match after.phase:
        case ShrinkPhase.TAINTED:
            return (about_node(after, "ScaleDown", "marked the node as toBeDeleted/unschedulable"),)
        case ShrinkPhase.REMOVED:
            return _removed(after)
        case ShrinkPhase.ROLLED_BACK:
            return _stays(after)
        case _:
            return ()


def _stays(operation: ShrinkOperation) -> tuple[ClusterEvent, ...]:
    """A removal that was undone; nothing when it was dropped before anything was done."""
    why = f"{operation.rollback.value if operation.rollback else ''} {operation.detail}".rstrip()
    if operation.taint_value:
        return (about_node(operation, "ScaleDownFailed", f"the node stays: {why}", EventType.WARNING),)
    if operation.mode is ShrinkMode.NEVER_REGISTERED and operation.evict_sent_at is not None:
        message = f"instance {operation.instance_id} of {operation.group_name}, which never became a node, stays: {why}"
        return (cluster_wide("ScaleDownFailed", message, EventType.WARNING),)
    return ()


def _removed(operation: ShrinkOperation) -> tuple[ClusterEvent, ...]:
    if operation.mode is ShrinkMode.NEVER_REGISTERED:
        message = f"removed instance {operation.instance_id} of {operation.group_name}: it never became a node"
        return (cluster_wide("DeleteUnregistered", message),)
    how = ("ScaleDownEmpty", "removed") if operation.mode is ShrinkMode.EMPTY else ("ScaleDown", "removed with drain")
    return (cluster_wide(how[0], f"Scale-down: node {operation.node_name} of {operation.group_name} {how[1]}"),)
