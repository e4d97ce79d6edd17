"""Counting a workload's pods, and the order in which surplus ones go."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import timedelta

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.pods import is_ready, key, phase, ready_since
from exoscaler.sandbox.controllers.stamps import parse_stamp
from exoscaler.sandbox.objects import JsonObject

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"


def wanted(workload: JsonObject) -> int:
    """The replicas that a workload asks for; one when it does not say."""
    replicas = workload["spec"].get("replicas")
    return 1 if replicas is None else int(replicas)


def available(pods: Iterable[JsonObject], workload: JsonObject, clock: SandboxClock) -> int:
    """The pods that have been ready for the workload's ``minReadySeconds`` of simulated time."""
    needed = int(workload["spec"].get("minReadySeconds") or 0)
    return sum(1 for pod in pods if is_available(pod, needed, clock))


def is_available(pod: JsonObject, needed: int, clock: SandboxClock) -> bool:
    """Whether the pod has been ready for that many seconds of simulated time."""
    if not is_ready(pod):
        return False
    since = ready_since(pod)
    if not needed or not since:
        return True
    return clock.now() - parse_stamp(since) >= timedelta(seconds=needed / clock.speed)


def surplus_first(pods: Sequence[JsonObject]) -> list[JsonObject]:
    """The pods, the ones that are missed least first.

    Unbound, then pending, then unready; then by deletion cost, by how many siblings share the node, and youngest
    first, as the ReplicaSet controller ranks them.
    """
    crowd: dict[str, int] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName") or ""
        crowd[node] = crowd.get(node, 0) + 1

    def rank(pod: JsonObject) -> tuple[bool, bool, bool, int, int]:
        node = pod["spec"].get("nodeName") or ""
        return bool(node), phase(pod) == "Running", is_ready(pod), _cost(pod), -crowd[node]

    by_youth = sorted(pods, key=lambda pod: (pod["metadata"].get("creationTimestamp") or "", key(pod)), reverse=True)
    return sorted(by_youth, key=rank)


def share(amount: int | str | None, whole: int, *, default: int | str, round_up: bool) -> int:
    """An ``IntOrString`` of the API: a number, or a percentage of `whole`."""
    value = default if amount is None else amount
    if isinstance(value, int):
        return value
    portion = whole * int(value.removesuffix("%")) / 100
    return math.ceil(portion) if round_up else math.floor(portion)


def _cost(pod: JsonObject) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0
