"""The defaults of the API."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.resources import NAMESPACES, Resource
from exoscaler.sandbox.objects import JsonObject


def apply_defaults(resource: Resource, obj: JsonObject) -> None:
    """Fill in what the object leaves out; does nothing to a complete one."""
    if resource is NAMESPACES and "deletionTimestamp" not in obj["metadata"]:
        obj.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
