"""From a workload's pod template to a pod."""

from __future__ import annotations

import copy
import hashlib
import json

from exoscaler.sandbox.controllers.resources import KINDS, Resource
from exoscaler.sandbox.objects import JsonObject

_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
"""The letters that Kubernetes builds names of: without vowels, so that no words appear."""
HASH_LENGTH = 10


def owner_reference(resource: Resource, owner: JsonObject) -> JsonObject:
    """The reference by which an object says who controls it."""
    return {
        "apiVersion": resource.group,
        "kind": KINDS[resource],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def template_hash(template: JsonObject) -> str:
    """A short name for a pod template: equal templates have equal names."""
    digest = hashlib.sha256(json.dumps(template, sort_keys=True).encode()).digest()
    number = int.from_bytes(digest[:8], "big")
    letters = []
    for _ in range(HASH_LENGTH):
        number, index = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[index])
    return "".join(letters)


def new_pod(resource: Resource, owner: JsonObject, *, labels: dict[str, str] | None = None) -> JsonObject:
    """A pod from the owner's template, with a name to be generated, in the owner's namespace.

    The caller may change it: it shares nothing with the template.
    """
    template = copy.deepcopy(owner["spec"]["template"])
    metadata: JsonObject = template.get("metadata") or {}
    metadata["labels"] = {**(metadata.get("labels") or {}), **(labels or {})}
    metadata["generateName"] = owner["metadata"]["name"] + "-"
    metadata["namespace"] = owner["metadata"]["namespace"]
    metadata["ownerReferences"] = [owner_reference(resource, owner)]
    metadata.pop("name", None)
    metadata.pop("creationTimestamp", None)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
