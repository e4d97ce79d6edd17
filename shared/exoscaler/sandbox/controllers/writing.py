"""How controllers write: one object's refusal never keeps them from the others."""

from __future__ import annotations

import logging

from exoscaler.sandbox.controllers.pods import key
from exoscaler.sandbox.controllers.resources import KINDS, PODS, Resource
from exoscaler.sandbox.objects import JsonObject, ObjectClient, ObjectError

_RACES = frozenset({404, 409})
_FORBIDDEN = 403
_ENDING_NAMESPACE = "because it is being terminated"

log = logging.getLogger(__name__)


class Writer:
    """Writes through an `ObjectClient`; every method tells whether the cluster took it.

    That an object vanished or changed meanwhile (404, 409), or that its namespace is on its way out, is the normal case
    of a level-triggered controller: the next round looks again. Any other refusal is logged as a warning, and tried
    again as well.
    """

    def __init__(self, client: ObjectClient) -> None:
        self._client = client

    def create(self, resource: Resource, body: JsonObject) -> JsonObject | None:
        """Create an object; None when it was refused."""
        metadata = body["metadata"]
        try:
            return self._client.create(*resource, body, namespace=metadata.get("namespace") or "")
        except ObjectError as error:
            _log("create", resource, metadata.get("name") or metadata.get("generateName") or "", error)
            return None

    def delete(self, resource: Resource, item: JsonObject, *, grace_seconds: int | None = None) -> bool:
        """Delete this very object, not one that has taken its name since."""
        metadata = item["metadata"]
        name, namespace, uid = metadata["name"], metadata.get("namespace") or "", metadata["uid"]
        try:
            self._client.delete(*resource, name, namespace=namespace, grace_seconds=grace_seconds, uid=uid)
        except ObjectError as error:
            _log("delete", resource, key(item), error)
            return False
        return True

    def patch(
        self, resource: Resource, item: JsonObject, body: JsonObject, *, subresource: str = "", guarded: bool = False
    ) -> bool:
        """Merge `body` into the object; `guarded`: only if nobody has changed it since it was read."""
        metadata = item["metadata"]
        if guarded:
            version = {"resourceVersion": metadata["resourceVersion"]}
            body = {**body, "metadata": {**body.get("metadata", {}), **version}}
        name, namespace = metadata["name"], metadata.get("namespace") or ""
        try:
            self._client.patch(*resource, name, body, namespace=namespace, subresource=subresource)
        except ObjectError as error:
            _log(f"patch {subresource or 'the object'} of", resource, key(item), error)
            return False
        return True

    def status(self, resource: Resource, item: JsonObject, status: JsonObject) -> bool:
        """Merge `status` into the object's status when something in it is new; guarded, since figures age."""
        if _holds(item.get("status"), status):
            return False
        return self.patch(resource, item, {"status": status}, subresource="status", guarded=True)

    def release(self, resource: Resource, item: JsonObject, finalizer: str) -> bool:
        """Take a finalizer off the object."""
        left = [name for name in item["metadata"]["finalizers"] if name != finalizer]
        return self.patch(resource, item, {"metadata": {"finalizers": left or None}}, guarded=True)

    def finalize(self, resource: Resource, body: JsonObject) -> bool:
        """Replace a cluster-scoped object's ``spec.finalizers`` by those in `body`."""
        try:
            self._client.update(*resource, body, subresource="finalize")
        except ObjectError as error:
            _log("finalize", resource, key(body), error)
            return False
        return True

    def bind(self, pod: JsonObject, node: str) -> bool:
        """Bind a pod to a node."""
        try:
            self._client.bind(pod["metadata"]["namespace"], pod["metadata"]["name"], node)
        except ObjectError as error:
            _log("bind", PODS, key(pod), error)
            return False
        return True


def is_race(error: ObjectError) -> bool:
    """Whether a refusal only says that the world has moved on since the controller looked."""
    return error.status in _RACES or (error.status == _FORBIDDEN and _ENDING_NAMESPACE in str(error))


def _holds(known: object, wanted: object) -> bool:
    """Whether merging `wanted` into `known` changes nothing. A server leaves out what is zero or empty."""
    if isinstance(wanted, dict):
        found = known if isinstance(known, dict) else {}
        return all(_holds(found.get(name), value) for name, value in wanted.items())
    return (known or None) == (wanted or None)


def _log(action: str, resource: Resource, name: str, error: ObjectError) -> None:
    level = logging.DEBUG if is_race(error) else logging.WARNING
    kind = KINDS.get(resource, resource.plural)
    log.log(level, "could not %s %s %s: %d %s: %s", action, kind, name, error.status, error.reason, error)
