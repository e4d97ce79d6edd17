"""What an object in an event proves: something to do, or why there is nothing.

The rule of this module: when in doubt, RELEVANT. A reason is given only where the object itself proves it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from exoscaler.adapters.events.timestamps import parse_timestamp
from exoscaler.core.model.pods import DAEMONSET_POD
from exoscaler.ports.events import Relevance

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from exoscaler.adapters.events.objects import ClusterEvent, Node, Pod

STEADY_AFTER = timedelta(minutes=2)
"""How long a node's conditions must not have changed before an update of it counts as a heartbeat. Longer than clocks
of one cluster differ, shorter than the five minutes between two heartbeats of an unchanged node."""

_DEFAULT_SCHEDULER = ("", "default-scheduler")


def relevance_of_pod(pod: Pod) -> Relevance:
    """Classes a pod that was added or updated, in the order of R12, R14 and R27."""
    return next((reason for reason, is_proven in _PROOFS if is_proven(pod)), Relevance.RELEVANT)


def relevance_of_node(node: Node, occurred_at: datetime | None) -> Relevance:
    """Tells a heartbeat from a change: healthy, and every condition unchanged for `STEADY_AFTER` before the event.

    Taints and cordons do not count as changes: the scheduler draws the conclusion and speaks in events of the pods.
    """
    if occurred_at is None or node.metadata.deletion_timestamp:
        return Relevance.RELEVANT
    conditions = node.status.conditions or []
    if not any(condition.type == "Ready" for condition in conditions):
        return Relevance.RELEVANT
    for condition in conditions:
        healthy = "True" if condition.type == "Ready" else "False"
        if condition.status != healthy or not _unchanged(condition.last_transition_time, occurred_at):
            return Relevance.RELEVANT
    return Relevance.NODE_STEADY


def relevance_of_cluster_event(event: ClusterEvent) -> Relevance:
    """Only the scheduler's failure to place a pod asks for capacity; it is repeated for as long as it holds."""
    if event.reason == "FailedScheduling" and event.about.kind in ("Pod", ""):
        return Relevance.RELEVANT
    return Relevance.EVENT_NOT_ABOUT_SCHEDULING


def _is_of_daemon_set(pod: Pod) -> bool:
    owners = pod.metadata.owner_references or ()
    by_controller = any(owner.controller and owner.kind == "DaemonSet" for owner in owners)
    return by_controller or (pod.metadata.annotations or {}).get(DAEMONSET_POD) == "true"


def _awaits_the_default_scheduler(pod: Pod) -> bool:
    """Another scheduler may never write a verdict, so its pods are always worth a look."""
    if (pod.spec.scheduler_name or "") not in _DEFAULT_SCHEDULER:
        return False
    return not any(condition.type == "PodScheduled" for condition in pod.status.conditions or ())


def _unchanged(since: str | None, occurred_at: datetime) -> bool:
    try:
        return since is not None and occurred_at - parse_timestamp(since) >= STEADY_AFTER
    except ValueError:
        # a time nobody can read proves nothing
        return False


_PROOFS: tuple[tuple[Relevance, Callable[[Pod], bool]], ...] = (
    (Relevance.POD_FINISHED, lambda pod: pod.status.phase in ("Succeeded", "Failed")),
    (Relevance.POD_ALREADY_BOUND, lambda pod: bool(pod.spec.node_name)),
    (Relevance.POD_BEING_DELETED, lambda pod: pod.metadata.deletion_timestamp is not None),
    (Relevance.POD_NOMINATED, lambda pod: bool(pod.status.nominated_node_name)),
    (Relevance.POD_OF_DAEMON_SET, _is_of_daemon_set),
    (Relevance.POD_GATED, lambda pod: bool(pod.spec.scheduling_gates)),
    (Relevance.POD_NOT_TRIED_YET, _awaits_the_default_scheduler),
)
