"""Conditions: the list of named facts in an object's status."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import entries
from exoscaler.sandbox.objects import JsonObject


def set_condition(status: JsonObject, condition: JsonObject, now: str) -> None:
    """Set the condition of that type; its transition time stays when its status stays."""
    known = entries(status, "conditions")
    before = next((item for item in known if item.get("type") == condition["type"]), None)
    since = now
    if before is not None and before.get("status") == condition["status"]:
        since = before.get("lastTransitionTime") or now
    complete = {**condition, "lastTransitionTime": since}
    if before is None:
        status["conditions"] = [*known, complete]
    else:
        status["conditions"] = [complete if item is before else item for item in known]


def find_condition(status: JsonObject, kind: str) -> JsonObject:
    """The condition of that type; empty when there is none."""
    return next((item for item in entries(status, "conditions") if item.get("type") == kind), {})
