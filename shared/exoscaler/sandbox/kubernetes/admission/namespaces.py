"""Objects are created in namespaces that exist, and some namespaces cannot be deleted."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import forbidden, not_found
from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.resources import NAMESPACES, Resource
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

_IMMORTAL = ("default", "kube-public", "kube-system")


def check_namespace(storage: Storage, resource: Resource, obj: JsonObject) -> None:
    """Check that a new object's namespace takes new objects.

    Raises:
        ApiFailure: 404 it does not exist, 403 it is being deleted.
    """
    if not resource.namespaced:
        return
    meta = metadata(obj)
    namespace = meta.get("namespace", "")
    found = storage.read(NAMESPACES.key, ("", namespace))
    if found is None:
        raise not_found(NAMESPACES, namespace)
    if "deletionTimestamp" in metadata(found):
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        failure = forbidden(resource, meta.get("name", ""), why)
        causes = [{"reason": "NamespaceTerminating", "message": f"namespace {namespace} is being terminated"}]
        failure.details = {**(failure.details or {}), "causes": [{**causes[0], "field": "metadata.namespace"}]}
        raise failure


def check_deletion(resource: Resource, name: str) -> None:
    """Check that an object may be deleted at all; 403 for the namespaces that every cluster has."""
    if resource is NAMESPACES and name in _IMMORTAL:
        raise forbidden(resource, name, "this namespace may not be deleted")
