"""What hangs on an object: its dependents by owner reference, and what lives in a namespace."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import clone, entries, metadata, section
from exoscaler.sandbox.kubernetes.resources import NAMESPACES, RESOURCES
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject


def orphan_dependents(storage: Storage, owner: JsonObject) -> None:
    """Take the owner's references off everything that it owns, under the lock.

    A real cluster leaves this to the garbage collector and a finalizer; here it is one step of the deletion.
    """
    uid = metadata(owner)["uid"]
    for resource in RESOURCES.values():
        if resource.stored_as is not None:
            continue
        for key, obj in list(storage.view(resource.key).objects.items()):
            references = entries(section(obj, "metadata"), "ownerReferences")
            kept = [reference for reference in references if reference.get("uid") != uid]
            if len(kept) == len(references):
                continue
            freed = clone(obj)
            metadata(freed)["ownerReferences"] = kept
            storage.write(resource.key, key, freed)


def finish_namespace(storage: Storage, name: str) -> None:
    """Remove a namespace that is being deleted once nothing lives in it, under the lock."""
    namespace = storage.read(NAMESPACES.key, ("", name)) if name else None
    if namespace is None or "deletionTimestamp" not in metadata(namespace):
        return
    if storage.count_in(name) == 0 and not metadata(namespace).get("finalizers"):
        storage.remove(NAMESPACES.key, ("", name))
