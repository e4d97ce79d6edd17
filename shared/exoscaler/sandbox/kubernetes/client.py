"""The sandbox's own cluster as its controllers see it, in process."""

from __future__ import annotations

from functools import partial

from exoscaler.sandbox.kubernetes.deletion import DeleteOptions
from exoscaler.sandbox.kubernetes.failures import no_such_path
from exoscaler.sandbox.kubernetes.json_values import clone
from exoscaler.sandbox.kubernetes.patches.merge import apply_merge_patch
from exoscaler.sandbox.kubernetes.pod_binding import bind_pod
from exoscaler.sandbox.kubernetes.resources import Resource, find_resource
from exoscaler.sandbox.kubernetes.selection import parse_selection
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject


class StoreClient:
    """An `ObjectClient` on the store: the same semantics as over HTTP, without the wire."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def list(
        self, group: str, plural: str, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[JsonObject]:
        """All objects of the resource that match both selectors."""
        resource = _resource(group, plural)
        selection = parse_selection(resource, namespace, labels, fields)
        return [clone(obj) for obj in self._store.list_objects(resource, selection).items]

    def get(self, group: str, plural: str, name: str, *, namespace: str = "") -> JsonObject:
        """One object; 404 when it does not exist."""
        return clone(self._store.get(_resource(group, plural), name, namespace=namespace))

    def create(self, group: str, plural: str, body: JsonObject, *, namespace: str = "") -> JsonObject:
        """Create an object; 409 AlreadyExists when the name is taken."""
        return clone(self._store.create(_resource(group, plural), body, namespace=namespace))

    def update(
        self, group: str, plural: str, body: JsonObject, *, namespace: str = "", subresource: str = ""
    ) -> JsonObject:
        """Replace an object (or its ``status``); 409 Conflict when its resourceVersion is not the current one."""
        resource = _resource(group, plural, subresource)
        stored, _ = self._store.update(resource, body, namespace=namespace, subresource=subresource)
        return clone(stored)

    def patch(
        self,
        group: str,
        plural: str,
        name: str,
        body: JsonObject,
        *,
        namespace: str = "",
        subresource: str = "",
    ) -> JsonObject:
        """Apply a JSON merge patch."""
        resource = _resource(group, plural, subresource)
        edit = partial(apply_merge_patch, patch=body)
        return clone(self._store.patch(resource, name, edit, namespace=namespace, subresource=subresource))

    def delete(
        self,
        group: str,
        plural: str,
        name: str,
        *,
        namespace: str = "",
        grace_seconds: int | None = None,
        uid: str = "",
    ) -> None:
        """Delete an object; for pods gracefully unless `grace_seconds` is 0; 409 when `uid` is not the object's."""
        options = DeleteOptions(grace_seconds=grace_seconds, uid=uid)
        self._store.delete(_resource(group, plural), name, options, namespace=namespace)

    def bind(self, namespace: str, pod: str, node: str) -> None:
        """Bind a pod to a node through its ``binding`` subresource; 409 when it is bound already."""
        bind_pod(self._store, namespace, pod, node)


def _resource(group: str, plural: str, subresource: str = "") -> Resource:
    resource = find_resource(group, plural)
    if resource is None or (subresource and subresource not in resource.subresources):
        raise no_such_path()
    return resource
