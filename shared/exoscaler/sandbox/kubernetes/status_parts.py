"""Who may write what: the status belongs to the status subresource, everything else to the object itself."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import clone, metadata, section
from exoscaler.sandbox.kubernetes.resources import NODES, PODS, Resource, ResourceKey
from exoscaler.sandbox.objects import JsonObject

_FIRST_STATUS: dict[ResourceKey, JsonObject] = {
    ("v1", "pods"): {"phase": "Pending"},
    ("v1", "namespaces"): {"phase": "Active"},
    ("v1", "persistentvolumeclaims"): {"phase": "Pending"},
    ("v1", "persistentvolumes"): {"phase": "Pending"},
    ("v1", "services"): {"loadBalancer": {}},
}


def begin_status(resource: Resource, obj: JsonObject) -> None:
    """Give a new object the status it starts with. A node keeps what it registers with."""
    if "status" not in resource.subresources or resource is NODES:
        return
    obj["status"] = clone(_FIRST_STATUS.get(resource.key, {}))


def keep_other_part(resource: Resource, old: JsonObject, new: JsonObject, subresource: str) -> None:
    """Undo in `new` what a write through `subresource` (empty: the object itself) may not change."""
    if subresource == "status":
        for name in (old.keys() | new.keys()) - {"metadata", "status"}:
            _restore(old, new, name)
        _restore(metadata(old), metadata(new), "ownerReferences")
        if resource not in (PODS, NODES):
            _restore(metadata(old), metadata(new), "labels")
    elif subresource == "finalize":
        finalizers = section(new, "spec").get("finalizers")
        _restore(old, new, "spec")
        _restore(old, new, "status")
        new["spec"] = {**section(new, "spec"), "finalizers": finalizers}
    elif "status" in resource.subresources:
        _restore(old, new, "status")


def _restore(old: JsonObject, new: JsonObject, name: str) -> None:
    if name in old:
        new[name] = old[name]
    else:
        new.pop(name, None)
