"""Binding a pod to a node: how the scheduler's decision reaches the API."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.conditions import set_condition
from exoscaler.sandbox.kubernetes.failures import conflict
from exoscaler.sandbox.kubernetes.json_values import clone, metadata, section, text
from exoscaler.sandbox.kubernetes.object_metadata import rfc3339
from exoscaler.sandbox.kubernetes.resources import PODS
from exoscaler.sandbox.kubernetes.store import ObjectStore


def bind_pod(store: ObjectStore, namespace: str, name: str, node: str, *, dry_run: bool = False) -> None:
    """Set the pod's node and its condition PodScheduled. The node need not exist, as on a real API server.

    Raises:
        ApiFailure: 404 no such pod, 409 it is bound, being deleted or gated.
    """
    with store.storage.lock:
        pod = store.current(PODS, name, namespace=namespace)
        bound_to = text(pod, "spec.nodeName")
        if "deletionTimestamp" in metadata(pod):
            raise conflict(PODS, name, f"pod {name} is being deleted, cannot be assigned to a host")
        if bound_to:
            raise conflict(PODS, name, f'pod {name} is already assigned to node "{bound_to}"')
        if section(pod, "spec").get("schedulingGates"):
            raise conflict(PODS, name, f"pod {name} has non-empty .spec.schedulingGates")
        bound = clone(pod)
        bound["spec"]["nodeName"] = node
        now = rfc3339(store.clock.now())
        set_condition(bound["status"], {"type": "PodScheduled", "status": "True"}, now)
        if not dry_run:
            store.storage.write(PODS.key, (namespace, name), bound)
