"""Which pods have to leave a node, in what way, and whether they take too long."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from exoscaler.core.model import Pod
from exoscaler.core.model.pods import ENABLE_DAEMONSET_EVICTION
from exoscaler.core.operations.effects import EvictPod
from exoscaler.core.policy import ShrinkPolicy

OVERDUE_AFTER = timedelta(seconds=30)
"""How long after its grace period a pod may linger before it counts as stuck (R131-2, R147)."""


def is_stuck(pod: Pod, now: datetime) -> bool:
    """Whether the pod should have been gone for a while (R131-2).

    ``deletionTimestamp`` is the end of the grace period already, so the grace period is not added a second time.
    """
    return pod.deleted_at is not None and pod.deleted_at + OVERDUE_AFTER < now


def pods_to_move(pods: Iterable[Pod], now: datetime) -> tuple[Pod, ...]:
    """The pods that must find another place before the node goes, sorted by key.

    Left out: finished ones, mirrors of static pods, DaemonSet pods, and those stuck in termination (R130, R144).
    """
    leaving = [p for p in pods if not (p.is_finished or p.is_mirror or p.is_daemonset or is_stuck(p, now))]
    return tuple(sorted(leaving, key=lambda pod: pod.key))


def daemonset_pods_to_evict(pods: Iterable[Pod], policy: ShrinkPolicy, *, drained: bool) -> tuple[Pod, ...]:
    """DaemonSet pods that are asked to leave for their own good, sorted by key (R149).

    The pod's annotation decides; without it the flag for drained or for empty nodes.
    """
    flag = policy.daemonset_eviction_for_occupied_nodes if drained else policy.daemonset_eviction_for_empty_nodes

    def asked(pod: Pod) -> bool:
        annotation = pod.annotations.get(ENABLE_DAEMONSET_EVICTION)
        return flag if annotation is None else annotation == "true"

    chosen = [p for p in pods if p.is_daemonset and not p.is_mirror and not p.is_terminating and not p.is_finished]
    return tuple(sorted((pod for pod in chosen if asked(pod)), key=lambda pod: pod.key))


def eviction_of(pod: Pod, policy: ShrinkPolicy, *, best_effort: bool = False) -> EvictPod:
    """The eviction, with the pod's grace period bounded by ``max-graceful-termination-sec`` (R146; 0 is no bound)."""
    limit = int(policy.max_graceful_termination.total_seconds())
    grace = min(pod.spec.grace_seconds, limit) if limit else pod.spec.grace_seconds
    return EvictPod(pod.namespace, pod.name, pod.uid, grace, best_effort=best_effort)


def drain_deadline(started_at: datetime, policy: ShrinkPolicy, pods: Iterable[Pod]) -> datetime:
    """When a drain has taken too long although every pod agreed to leave (R147)."""
    limit = policy.max_graceful_termination
    if not limit:
        limit = timedelta(seconds=max((pod.spec.grace_seconds for pod in pods), default=0))
    return started_at + policy.max_pod_eviction_time + limit + OVERDUE_AFTER
