"""The storage class of claims that name none."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

_CLASSES = RESOURCES[("storage.k8s.io/v1", "storageclasses")]
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"


def assign_storage_class(storage: Storage, claim: JsonObject) -> None:
    """Give a new claim without a class the default class, the youngest if there are several."""
    spec = claim.setdefault("spec", {})
    if "storageClassName" in spec:
        return
    marked = [
        metadata(known)
        for known in storage.view(_CLASSES.key).objects.values()
        if (metadata(known).get("annotations") or {}).get(_IS_DEFAULT) == "true"
    ]
    if marked:
        spec["storageClassName"] = max(marked, key=lambda meta: (meta["creationTimestamp"], meta["name"]))["name"]
