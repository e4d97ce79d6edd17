"""The table of pods: what state a pod is in, in one word."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from exoscaler.sandbox.kubernetes.conditions import find_condition
from exoscaler.sandbox.kubernetes.json_values import entries, metadata, number, section, text
from exoscaler.sandbox.kubernetes.tables.columns import AGE, NAME, NONE, Cell, Column, at, since
from exoscaler.sandbox.objects import JsonObject


def _is_sidecar(container: JsonObject) -> bool:
    return container.get("restartPolicy") == "Always"


def _ready(pod: JsonObject, _now: datetime) -> Cell:
    spec, status = section(pod, "spec"), section(pod, "status")
    sidecars = {one.get("name") for one in entries(spec, "initContainers") if _is_sidecar(one)}
    total = len(entries(spec, "containers")) + len(sidecars)
    running = [one for one in entries(status, "initContainerStatuses") if one.get("name") in sidecars]
    running += entries(status, "containerStatuses")
    ready = sum(1 for one in running if one.get("ready"))
    return f"{ready}/{total}"


def _restarts(pod: JsonObject, now: datetime) -> Cell:
    statuses = entries(section(pod, "status"), "containerStatuses")
    restarts = sum(number(one, "restartCount") for one in statuses)
    ends = [text(one, "lastState.terminated.finishedAt") for one in statuses]
    latest = max(ends, default="")
    return f"{restarts} ({since(latest, now)} ago)" if restarts and latest else str(restarts)


def _status(pod: JsonObject, _now: datetime) -> Cell:
    status = section(pod, "status")
    reason = str(status.get("reason") or status.get("phase") or "Unknown")
    if find_condition(status, "PodScheduled").get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    initializing = _init_reason(pod)
    reason = initializing or _container_reason(status, reason)
    if "deletionTimestamp" in metadata(pod):
        if status.get("reason") == "NodeLost":
            return "Unknown"
        if status.get("phase") not in ("Failed", "Succeeded"):
            return "Terminating"
    return reason


def _init_reason(pod: JsonObject) -> str:
    """What the first unfinished init container does; empty when all are through."""
    specs = {one.get("name"): one for one in entries(section(pod, "spec"), "initContainers")}
    statuses = entries(section(pod, "status"), "initContainerStatuses")
    for index, container in enumerate(statuses):
        state = section(container, "state")
        terminated = section(state, "terminated")
        if "terminated" in state and terminated.get("exitCode", 0) == 0:
            continue
        if _is_sidecar(specs.get(container.get("name"), {})) and container.get("started"):
            continue
        if "terminated" in state:
            return f"Init:{_exit_reason(terminated)}"
        waiting = str(section(state, "waiting").get("reason") or "")
        if waiting and waiting != "PodInitializing":
            return f"Init:{waiting}"
        return f"Init:{index}/{len(specs)}"
    return ""


def _container_reason(status: JsonObject, reason: str) -> str:
    """What the first troubled container says, else `reason`."""
    running = False
    for container in reversed(entries(status, "containerStatuses")):
        state = section(container, "state")
        waiting = section(state, "waiting").get("reason")
        if waiting:
            reason = str(waiting)
        elif "terminated" in state:
            reason = _exit_reason(section(state, "terminated"))
        elif container.get("ready") and "running" in state:
            running = True
    if reason == "Completed" and running:
        return "Running" if find_condition(status, "Ready").get("status") == "True" else "NotReady"
    return reason


def _exit_reason(terminated: JsonObject) -> str:
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _gates(pod: JsonObject, _now: datetime) -> Cell:
    gates = entries(section(pod, "spec"), "readinessGates")
    if not gates:
        return NONE
    status = section(pod, "status")
    met = [find_condition(status, str(gate.get("conditionType"))).get("status") == "True" for gate in gates]
    return f"{sum(met)}/{len(gates)}"


COLUMNS: Sequence[Column] = (
    NAME,
    Column("Ready", _ready),
    Column("Status", _status),
    Column("Restarts", _restarts),
    AGE,
    Column("IP", at("status.podIP", absent=NONE), wide=True),
    Column("Node", at("spec.nodeName", absent=NONE), wide=True),
    Column("Nominated Node", at("status.nominatedNodeName", absent=NONE), wide=True),
    Column("Readiness Gates", _gates, wide=True),
)
