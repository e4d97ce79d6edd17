"""Namespaces that are being deleted: their content goes first."""

from __future__ import annotations

from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.resources import (
    BUDGETS,
    CLAIMS,
    CONFIG_MAPS,
    DAEMON_SETS,
    DEPLOYMENTS,
    EVENTS,
    JOBS,
    LEASES,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFUL_SETS,
)
from exoscaler.sandbox.controllers.writing import Writer
from exoscaler.sandbox.objects import JsonObject, ObjectClient

_CONTENT = (
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    DAEMON_SETS,
    JOBS,
    PODS,
    BUDGETS,
    SERVICES,
    CONFIG_MAPS,
    SECRETS,
    SERVICE_ACCOUNTS,
    CLAIMS,
    LEASES,
    EVENTS,
)


class NamespaceCollector:
    """Empties a namespace that is being deleted and then finalizes it.

    The sandbox's own API server does this by itself; one without a namespace controller leaves it to this one.
    """

    name = "namespace-collector"

    def __init__(self, client: ObjectClient, reader: Reader) -> None:
        self._client = client
        self._writer = Writer(client)
        self._reader = reader

    def step(self) -> bool:
        """Look at every namespace once."""
        changed = False
        for namespace in self._reader.all(NAMESPACES):
            if namespace["metadata"].get("deletionTimestamp") and (namespace.get("spec") or {}).get("finalizers"):
                changed = self._empty(namespace) or changed
        return changed

    def _empty(self, namespace: JsonObject) -> bool:
        name = namespace["metadata"]["name"]
        left, changed = False, False
        for resource in _CONTENT:
            for item in self._client.list(*resource, namespace=name):
                left = True
                if not item["metadata"].get("deletionTimestamp"):
                    changed = self._writer.delete(resource, item) or changed
        if left:
            return changed
        body = {**namespace, "apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": []}}
        return self._writer.finalize(NAMESPACES, body)
