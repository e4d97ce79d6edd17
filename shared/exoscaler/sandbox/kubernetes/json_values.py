"""Small reads and copies of JSON values, for code that works on Kubernetes objects as the wire has them."""

from __future__ import annotations

from typing import TypeVar, cast

from exoscaler.sandbox.objects import JsonObject

Value = TypeVar("Value")


def clone(value: Value) -> Value:
    """A deep copy of a JSON value; scalars are shared, since they cannot change."""
    if isinstance(value, dict):
        return cast("Value", {key: clone(item) for key, item in value.items()})
    if isinstance(value, list):
        return cast("Value", [clone(item) for item in value])
    return value


def without_nulls(value: Value) -> Value:
    """A deep copy without null fields: on the wire, a field that is null is a field that is not there."""
    if isinstance(value, dict):
        return cast("Value", {key: without_nulls(item) for key, item in value.items() if item is not None})
    if isinstance(value, list):
        return cast("Value", [without_nulls(item) for item in value])
    return value


def section(obj: JsonObject, name: str) -> JsonObject:
    """The object under `name`, or an empty one that is not attached to `obj`."""
    found = obj.get(name)
    return found if isinstance(found, dict) else {}


def entries(obj: JsonObject, name: str) -> list[JsonObject]:
    """The objects in the list under `name`; empty when there is no such list."""
    found = obj.get(name)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def text(obj: JsonObject, path: str) -> str:
    """The string at a dotted path, empty when it is absent; other scalars as JSON writes them."""
    value: object = obj
    for step in path.split("."):
        if not isinstance(value, dict):
            return ""
        value = value.get(step)
    if value is None or isinstance(value, dict | list):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def number(obj: JsonObject, name: str, default: int = 0) -> int:
    """The integer under `name`, or `default` when there is none."""
    found = obj.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) else default


def metadata(obj: JsonObject) -> JsonObject:
    """The object's metadata, attached to it."""
    found = obj.get("metadata")
    if not isinstance(found, dict):
        found = {}
        obj["metadata"] = found
    return found
