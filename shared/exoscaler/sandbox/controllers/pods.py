"""What a controller asks of a pod."""

from __future__ import annotations

from exoscaler.sandbox.controllers.conditions import condition, is_true
from exoscaler.sandbox.objects import JsonObject

TERMINAL_PHASES = frozenset({"Succeeded", "Failed"})


def phase(pod: JsonObject) -> str:
    """The pod's phase; Pending when nobody has reported one."""
    text: str = pod.get("status", {}).get("phase") or "Pending"
    return text


def is_terminal(pod: JsonObject) -> bool:
    """Whether the pod has ended, well or badly, and will not run again."""
    return phase(pod) in TERMINAL_PHASES


def is_terminating(pod: JsonObject) -> bool:
    """Whether the pod's deletion has begun."""
    return bool(pod["metadata"].get("deletionTimestamp"))


def is_active(pod: JsonObject) -> bool:
    """Whether the pod counts as one of its controller's replicas."""
    return not is_terminal(pod) and not is_terminating(pod)


def is_ready(pod: JsonObject) -> bool:
    """Whether the pod passes its readiness check."""
    return is_true(pod, "Ready")


def ready_since(pod: JsonObject) -> str:
    """The time stamp since when the pod is ready; empty when it is not."""
    entry = condition(pod, "Ready")
    return (entry.get("lastTransitionTime") or "") if entry and entry["status"] == "True" else ""


def key(item: JsonObject) -> str:
    """``namespace/name`` of an object, or its name when it is cluster-scoped."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
