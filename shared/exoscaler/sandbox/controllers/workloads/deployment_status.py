"""What a Deployment's status says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.conditions import condition, with_condition
from exoscaler.sandbox.controllers.stamps import parse_stamp, stamp
from exoscaler.sandbox.controllers.workloads.replicas import share, wanted
from exoscaler.sandbox.objects import JsonObject

PROGRESS_DEADLINE = 600
_COUNTS = ("updatedReplicas", "readyReplicas", "availableReplicas", "replicas")


def deployment_status(
    deployment: JsonObject, members: Sequence[JsonObject], newest: JsonObject | None, clock: SandboxClock
) -> JsonObject:
    """The whole status; equal to the present one when nothing is new."""
    total = _sum(members, "replicas")
    ready = _sum(members, "availableReplicas")
    status: JsonObject = {
        "replicas": total,
        "updatedReplicas": _sum([newest], "replicas") if newest else 0,
        "readyReplicas": _sum(members, "readyReplicas"),
        "availableReplicas": ready,
        "unavailableReplicas": max(0, max(total, wanted(deployment)) - ready),
        "observedGeneration": deployment["metadata"].get("generation"),
    }
    now = stamp(clock.now())
    with_availability = {
        "status": {"conditions": with_condition(deployment, _availability(deployment, ready, now), now)}
    }
    progress = _progress(deployment, status, newest, clock)
    status["conditions"] = with_condition(with_availability, progress, now)
    return status


def _availability(deployment: JsonObject, available: int, now: str) -> JsonObject:
    rolling = (deployment["spec"].get("strategy") or {}).get("rollingUpdate") or {}
    goal = wanted(deployment)
    recreate = (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"
    missing = 0 if recreate else share(rolling.get("maxUnavailable"), goal, default="25%", round_up=False)
    enough = available >= goal - missing
    entry = {
        "type": "Available",
        "status": "True" if enough else "False",
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    }
    return _dated(deployment, entry, now)


def _progress(deployment: JsonObject, status: JsonObject, newest: JsonObject | None, clock: SandboxClock) -> JsonObject:
    now = stamp(clock.now())
    name = newest["metadata"]["name"] if newest else ""
    known = condition(deployment, "Progressing")
    if is_rolled_out(deployment, status):
        entry = _progressing("True", "NewReplicaSetAvailable", f'ReplicaSet "{name}" has successfully progressed.')
        return _dated(deployment, entry, now)
    before = deployment.get("status") or {}
    moved = any((before.get(count) or 0) != status[count] for count in _COUNTS)
    entry = _progressing("True", "ReplicaSetUpdated", f'ReplicaSet "{name}" is progressing.')
    if moved or known is None or known.get("reason") == "NewReplicaSetAvailable":
        return {**entry, "lastUpdateTime": now}
    deadline = deployment["spec"].get("progressDeadlineSeconds") or PROGRESS_DEADLINE
    waited = clock.now() - parse_stamp(known.get("lastUpdateTime") or now)
    if waited > timedelta(seconds=deadline / clock.speed):
        text = f'ReplicaSet "{name}" has timed out progressing.'
        return _dated(deployment, _progressing("False", "ProgressDeadlineExceeded", text), known["lastUpdateTime"])
    return {**entry, "lastUpdateTime": known.get("lastUpdateTime") or now}


def is_rolled_out(deployment: JsonObject, status: JsonObject) -> bool:
    """Whether all pods are of the present template, and available."""
    goal = wanted(deployment)
    return all(status[count] == goal for count in ("updatedReplicas", "replicas", "availableReplicas"))


def _progressing(status: str, reason: str, message: str) -> JsonObject:
    return {"type": "Progressing", "status": status, "reason": reason, "message": message}


def _dated(deployment: JsonObject, entry: JsonObject, now: str) -> JsonObject:
    """The condition with the time of its last update: the old one unless its reason changed."""
    known = condition(deployment, entry["type"])
    same = known is not None and known.get("reason") == entry["reason"]
    return {**entry, "lastUpdateTime": known.get("lastUpdateTime") or now if known and same else now}


def _sum(replica_sets: Sequence[JsonObject], count: str) -> int:
    return sum(int((item.get("status") or {}).get(count) or 0) for item in replica_sets)
