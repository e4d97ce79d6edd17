"""How the sandbox's controllers see a cluster: plain Kubernetes objects, read and written through one face.

Two implementations exist: one on the sandbox's own object store, in process, and one over HTTP, for any
cluster that a kubeconfig leads to. A controller cannot tell them apart.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""A Kubernetes object as JSON. The sandbox is about the wire, so it keeps the wire's shape."""


class ObjectError(Exception):
    """The cluster refused a request. `status` is the HTTP status, `reason` the Kubernetes reason."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        self.status = status
        self.reason = reason
        super().__init__(message)


class ObjectClient(Protocol):
    """Reads and writes objects of one cluster. Every method may raise `ObjectError`.

    `plural` is the resource name (``pods``); `group` is the API group with version as in ``apiVersion``
    (``v1``, ``apps/v1``, ``policy/v1``). `namespace` is empty for cluster-scoped objects and, in `list`,
    for all namespaces. Objects handed out are the caller's own copies.
    """

    def list(
        self, group: str, plural: str, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[JsonObject]:
        """All objects of the resource that match both selectors."""

    def get(self, group: str, plural: str, name: str, *, namespace: str = "") -> JsonObject:
        """One object; 404 when it does not exist."""

    def create(self, group: str, plural: str, body: JsonObject, *, namespace: str = "") -> JsonObject:
        """Create an object; 409 AlreadyExists when the name is taken."""

    def update(
        self, group: str, plural: str, body: JsonObject, *, namespace: str = "", subresource: str = ""
    ) -> JsonObject:
        """Replace an object (or its ``status``); 409 Conflict when its resourceVersion is not the current one."""

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

    def bind(self, namespace: str, pod: str, node: str) -> None:
        """Bind a pod to a node through its ``binding`` subresource; 409 when it is bound already."""
