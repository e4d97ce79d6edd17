"""JSON merge patch (RFC 7396)."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import clone
from exoscaler.sandbox.objects import JsonObject


def apply_merge_patch(target: JsonObject, patch: JsonObject) -> JsonObject:
    """`target` with `patch` merged in: null removes, an object merges, anything else replaces. Neither is modified."""
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            existing = result.get(name)
            result[name] = apply_merge_patch(existing if isinstance(existing, dict) else {}, value)
        else:
            result[name] = clone(value)
    return result
