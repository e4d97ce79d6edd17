"""A description of the API in OpenAPI 3, as far as clients need one to write.

It names every resource's paths and query options and treats objects as free-form: kubectl learns from it that the
server takes ``fieldValidation``, and merges with the schemas it has built in.
"""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.patches import APPLY, JSON_PATCH, MERGE
from exoscaler.sandbox.kubernetes.resources import RESOURCES, Resource
from exoscaler.sandbox.kubernetes.serving.discovery import group_versions
from exoscaler.sandbox.objects import JsonObject

_WRITE_OPTIONS = ("dryRun", "fieldManager", "fieldValidation")
_OBJECT_SCHEMA: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
# Strategic merge is left out: a client that finds it here would look for merge keys in the schemas.
_PATCH_FORMATS = (APPLY, JSON_PATCH, MERGE)


def index() -> JsonObject:
    """The answer to ``/openapi/v3``: where the description of each group is."""
    return {"paths": {_root(known): {"serverRelativeURL": f"/openapi/v3/{_root(known)}"} for known in group_versions()}}


def document(root: str) -> JsonObject | None:
    """The description of the group whose paths start with `root`, such as ``apis/apps/v1``; None if there is none."""
    resources = [resource for resource in RESOURCES.values() if _root(resource.group_version) == root]
    if not resources:
        return None
    paths: JsonObject = {}
    for resource in resources:
        scope = "/namespaces/{namespace}" if resource.namespaced else ""
        collection = f"/{root}{scope}/{resource.plural}"
        paths[collection] = {"post": _operation(resource, "create")}
        if "patch" in resource.verbs:
            paths[f"{collection}/{{name}}"] = {
                "get": _operation(resource, "get"),
                "put": _operation(resource, "update"),
                "patch": _operation(resource, "patch"),
            }
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes API of the exoscaler sandbox", "version": "v1"},
        "paths": paths,
        "components": {"schemas": {"Object": _OBJECT_SCHEMA}},
    }


def _root(group_version: str) -> str:
    return f"apis/{group_version}" if "/" in group_version else f"api/{group_version}"


def _operation(resource: Resource, verb: str) -> JsonObject:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    reference = {"schema": {"$ref": "#/components/schemas/Object"}}
    operation: JsonObject = {
        "operationId": f"{verb}{resource.kind}",
        "responses": {"200": {"description": "OK", "content": {"application/json": reference}}},
        "x-kubernetes-group-version-kind": kind,
    }
    if verb != "get":
        formats = _PATCH_FORMATS if verb == "patch" else ("application/json", "application/yaml")
        operation["requestBody"] = {"content": dict.fromkeys(formats, reference)}
        operation["parameters"] = [
            {"name": name, "in": "query", "schema": {"type": "string"}} for name in _WRITE_OPTIONS
        ]
    return operation
