"""What a URL path asks for: resource, namespace, name, subresource."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote

from exoscaler.sandbox.kubernetes.resources import Resource, find_resource

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True)
class Target:
    """What one request is about. `verb` is the API's, not HTTP's."""

    verb: str
    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""


def parse_target(method: str, path: str, *, watch: bool) -> Target | None:
    """The target of a request to a resource; None when the path leads to none that the server knows.

    Args:
        method: the HTTP method.
        path: the decoded path, such as ``/apis/apps/v1/namespaces/a/deployments/b/scale``.
        watch: whether the query asks for a watch.
    """
    steps = [unquote(step) for step in path.strip("/").split("/")]
    if steps[0] == "api" and len(steps) > 2:
        group_version, rest = steps[1], steps[2:]
    elif steps[0] == "apis" and len(steps) > 3:
        group_version, rest = f"{steps[1]}/{steps[2]}", steps[3:]
    else:
        return None
    namespace, rest = _take_namespace(rest)
    if not 1 <= len(rest) <= 3:
        return None
    resource = find_resource(group_version, rest[0])
    if resource is None or (namespace and not resource.namespaced):
        return None
    name = rest[1] if len(rest) > 1 else ""
    subresource = rest[2] if len(rest) > 2 else ""
    if (subresource and subresource not in resource.subresources) or (name and resource.namespaced and not namespace):
        return None
    return Target(_verb(method, name, watch=watch), resource, namespace, name, subresource)


def _take_namespace(rest: list[str]) -> tuple[str, list[str]]:
    """Split ``namespaces/<name>/…`` off, unless the namespace itself is what the path is about."""
    if rest[0] != "namespaces" or len(rest) < 3 or (len(rest) == 3 and rest[2] in _NAMESPACE_SUBRESOURCES):
        return "", rest
    return rest[1], rest[2:]


def _verb(method: str, name: str, *, watch: bool) -> str:
    if method in ("GET", "HEAD"):
        if name:
            return "get"
        return "watch" if watch else "list"
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    return _VERBS.get(method, method.lower())
