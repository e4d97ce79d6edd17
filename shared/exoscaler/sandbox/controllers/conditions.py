"""The ``status.conditions`` of any object."""

from __future__ import annotations

from exoscaler.sandbox.objects import JsonObject


def condition(item: JsonObject, kind: str) -> JsonObject | None:
    """The condition of that type, if the object has it."""
    found: list[JsonObject] = item.get("status", {}).get("conditions") or []
    return next((entry for entry in found if entry["type"] == kind), None)


def is_true(item: JsonObject, kind: str) -> bool:
    """Whether the object has the condition with status True."""
    entry = condition(item, kind)
    return entry is not None and entry["status"] == "True"


def with_condition(item: JsonObject, new: JsonObject, now: str) -> list[JsonObject]:
    """The object's conditions with `new` in the place of the one of its type, or at the end.

    The transition time is `now` when the status changed, else the old one. Equal conditions give an equal list, so
    that a caller can compare before writing.
    """
    old = condition(item, new["type"])
    entry = dict(new)
    unchanged = old is not None and old["status"] == new["status"]
    entry["lastTransitionTime"] = old.get("lastTransitionTime", now) if old and unchanged else now
    existing: list[JsonObject] = item.get("status", {}).get("conditions") or []
    if old is None:
        return [*existing, entry]
    return [{**other, **entry} if other is old else other for other in existing]
