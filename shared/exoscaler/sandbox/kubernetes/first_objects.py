"""What every cluster has from its first moment on: namespaces and the two priority classes of the system."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.resources import NAMESPACES, PRIORITY_CLASSES
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject

_FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")


def _system_class(name: str, value: int, description: str) -> JsonObject:
    return {
        "apiVersion": PRIORITY_CLASSES.group_version,
        "kind": PRIORITY_CLASSES.kind,
        "metadata": {"name": name},
        "value": value,
        "preemptionPolicy": "PreemptLowerPriority",
        "description": description,
    }


_SYSTEM_CLASSES = (
    _system_class("system-node-critical", 2_000_001_000, "for pods that a node cannot do without"),
    _system_class("system-cluster-critical", 2_000_000_000, "for pods that the cluster cannot do without"),
)


def create_first_objects(store: ObjectStore) -> None:
    """Create them in an empty store."""
    for name in _FIRST_NAMESPACES:
        store.create(NAMESPACES, {"metadata": {"name": name}})
    for priority_class in _SYSTEM_CLASSES:
        store.create(PRIORITY_CLASSES, priority_class)
