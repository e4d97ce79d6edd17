"""The scale subresource: a workload's number of replicas as an object of its own."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import FieldProblem, bad_request, invalid, modified_meanwhile
from exoscaler.sandbox.kubernetes.json_values import metadata, number, section, without_nulls
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.store import Edit, ObjectStore
from exoscaler.sandbox.kubernetes.tables.columns import NONE, selector_text
from exoscaler.sandbox.objects import JsonObject

_SCALE = ("autoscaling/v1", "Scale")
_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(obj: JsonObject) -> JsonObject:
    """The scale of a workload."""
    meta = metadata(obj)
    selector = selector_text(section(section(obj, "spec"), "selector"))
    status: JsonObject = {"replicas": number(section(obj, "status"), "replicas")}
    if selector != NONE:
        status["selector"] = selector
    return {
        "apiVersion": _SCALE[0],
        "kind": _SCALE[1],
        "metadata": {name: meta[name] for name in _SHOWN if name in meta},
        "spec": {"replicas": number(section(obj, "spec"), "replicas")},
        "status": status,
    }


def rescale(
    store: ObjectStore, resource: Resource, name: str, edit: Edit, *, namespace: str, dry_run: bool = False
) -> JsonObject:
    """Apply `edit` to the scale of a workload; returns the new scale.

    Raises:
        ApiFailure: 400 it is no scale, 404 no such workload, 409 it carries a stale resourceVersion, 422 negative.
    """
    with store.storage.lock:
        current = store.current(resource, name, namespace=namespace)
        scale = without_nulls(edit(scale_of(current)))
        if scale.get("kind") != _SCALE[1] or metadata(scale).get("name") != name:
            raise bad_request(f"the body must be the scale of {resource.qualified} {name}")
        version = metadata(scale).get("resourceVersion", "")
        if version not in ("", metadata(current)["resourceVersion"]):
            raise modified_meanwhile(resource, name)
        replicas = section(scale, "spec").get("replicas", 0)
        if not isinstance(replicas, int) or replicas < 0:
            note = "must be greater than or equal to 0"
            raise invalid(resource, name, [FieldProblem.invalid("spec.replicas", replicas, note)])
        changed = {**current, "metadata": dict(metadata(current)), "spec": {**current["spec"], "replicas": replicas}}
        return scale_of(store.replace(resource, current, changed, dry_run=dry_run))
