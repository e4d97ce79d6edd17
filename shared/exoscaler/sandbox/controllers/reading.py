"""What the controllers of one round see of the cluster: every resource listed once, at its first use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from exoscaler.sandbox.controllers.resources import Resource
from exoscaler.sandbox.objects import JsonObject, ObjectClient


class Reader:
    """Lists through an `ObjectClient` and keeps the answers until `forget`.

    The objects are shared by all controllers of the round: they are read, never changed. A controller that
    acts on an answer that has aged meets a conflict and finds the truth in the next round.
    """

    def __init__(self, client: ObjectClient) -> None:
        self._client = client
        self._lists: dict[Resource, list[JsonObject]] = {}
        self._children: dict[Resource, dict[str, list[JsonObject]]] = {}
        self._uids: dict[Resource, dict[str, JsonObject]] = {}

    def forget(self) -> None:
        """Start a new round."""
        self._lists.clear()
        self._children.clear()
        self._uids.clear()

    def all(self, resource: Resource) -> Sequence[JsonObject]:
        """All objects of a resource in all namespaces. Raises `ObjectError`."""
        found = self._lists.get(resource)
        if found is None:
            found = self._lists[resource] = self._client.list(*resource)
        return found

    def children(self, resource: Resource, owner: JsonObject) -> Sequence[JsonObject]:
        """The objects whose controller is `owner`."""
        index = self._children.get(resource)
        if index is None:
            index = self._children[resource] = defaultdict(list)
            for item in self.all(resource):
                uid = controller_uid(item)
                if uid:
                    index[uid].append(item)
        return index.get(owner["metadata"]["uid"], ())

    def by_uid(self, resource: Resource) -> dict[str, JsonObject]:
        """All objects of a resource by their uid."""
        index = self._uids.get(resource)
        if index is None:
            index = self._uids[resource] = {item["metadata"]["uid"]: item for item in self.all(resource)}
        return index


def controller_uid(item: JsonObject) -> str:
    """The uid of the object's controller; empty when it has none."""
    reference = controller_reference(item)
    return reference["uid"] if reference else ""


def controller_reference(item: JsonObject) -> JsonObject | None:
    """The owner reference that is marked as the controller."""
    references: list[JsonObject] = item["metadata"].get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)
