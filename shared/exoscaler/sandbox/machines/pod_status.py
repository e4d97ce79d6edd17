"""What a kubelet reports of a pod at each stage of its life."""

from __future__ import annotations

from collections.abc import Callable

from exoscaler.sandbox.objects import JsonObject

STARTED_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
_NOT_READY = frozenset({"Ready", "ContainersReady"})
TERMINATED_BY_SIGNAL = 143


def creating(pod: JsonObject, host: str, now: str) -> JsonObject:
    """The pod is accepted; its containers are being created."""
    waiting: JsonObject = {"waiting": {"reason": "ContainerCreating"}}
    names = ", ".join(container["name"] for container in pod["spec"]["containers"])
    missing = {
        "PodReadyToStartContainers": ("", ""),
        "Ready": ("ContainersNotReady", f"containers with unready status: [{names}]"),
        "ContainersReady": ("ContainersNotReady", f"containers with unready status: [{names}]"),
    }
    return {
        "phase": "Pending",
        **_addresses("host", host),
        "startTime": now,
        "conditions": _conditions(pod, now, missing),
        "containerStatuses": _containers(pod, "containers", lambda _: waiting),
        **_init_containers(pod, lambda _: {"waiting": {"reason": "PodInitializing"}}),
    }


def running(pod: JsonObject, address: str, now: str, *, restarts: int = 0) -> JsonObject:
    """All containers run and are ready."""
    state: JsonObject = {"running": {"startedAt": now}}
    return {
        "phase": "Running",
        **_addresses("pod", address),
        "conditions": _conditions(pod, now, {}),
        "containerStatuses": _containers(pod, "containers", lambda _: state, ready=True, restarts=restarts),
        **_init_containers(pod, lambda container: state if _is_sidecar(container) else _ended(now, 0), ready=True),
    }


def ended(pod: JsonObject, now: str, exit_code: int) -> JsonObject:
    """All containers have ended and none will be started again."""
    reason = "PodCompleted" if exit_code == 0 else "PodFailed"
    unready = dict.fromkeys(("PodReadyToStartContainers",), ("", "")) | dict.fromkeys(_NOT_READY, (reason, ""))
    return {
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "conditions": _conditions(pod, now, unready),
        "containerStatuses": _containers(pod, "containers", lambda _: _ended(now, exit_code)),
        **_init_containers(pod, lambda _: _ended(now, 0)),
    }


def _addresses(whose: str, address: str) -> JsonObject:
    return {f"{whose}IP": address, f"{whose}IPs": [{"ip": address}]} if address else {}


def _conditions(pod: JsonObject, now: str, false: dict[str, tuple[str, str]]) -> list[JsonObject]:
    known = {entry["type"]: entry for entry in (pod.get("status") or {}).get("conditions") or ()}
    result = []
    for kind in STARTED_CONDITIONS:
        status = "False" if kind in false else "True"
        old = known.pop(kind, None)
        since = old.get("lastTransitionTime") or now if old and old["status"] == status else now
        entry: JsonObject = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": since}
        reason, message = false.get(kind, ("", ""))
        entry |= {"reason": reason} if reason else {}
        entry |= {"message": message} if message else {}
        result.append(entry)
    return [*known.values(), *result]


def _containers(
    pod: JsonObject,
    kind: str,
    state: Callable[[JsonObject], JsonObject],
    *,
    ready: bool = False,
    restarts: int = 0,
) -> list[JsonObject]:
    result = []
    for container in pod["spec"].get(kind) or ():
        now, image = state(container), container.get("image") or ""
        exists = "waiting" not in now
        entry = {
            "name": container["name"],
            "image": image,
            "imageID": f"sandbox://{image}" if exists else "",
            "containerID": f"containerd://{pod['metadata']['uid']}-{container['name']}" if exists else "",
            "state": now,
            "lastState": {},
            "ready": ready,
            "started": "running" in now,
            "restartCount": restarts,
        }
        result.append(entry)
    return result


def _init_containers(pod: JsonObject, state: Callable[[JsonObject], JsonObject], *, ready: bool = False) -> JsonObject:
    if not pod["spec"].get("initContainers"):
        return {}
    return {"initContainerStatuses": _containers(pod, "initContainers", state, ready=ready)}


def _is_sidecar(container: JsonObject) -> bool:
    return container.get("restartPolicy") == "Always"


def _ended(now: str, exit_code: int) -> JsonObject:
    reason = "Completed" if exit_code == 0 else "Error"
    return {"terminated": {"exitCode": exit_code, "reason": reason, "startedAt": now, "finishedAt": now}}
