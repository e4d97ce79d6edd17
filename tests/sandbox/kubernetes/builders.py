"""Objects for the tests of the sandbox's Kubernetes API, as short as the API allows."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.objects import JsonObject


def pod(
    name: str = "p", *, labels: dict[str, str] | None = None, namespace: str = "default", **spec: Any
) -> JsonObject:
    containers = spec.pop("containers", [{"name": "main", "image": "registry.local/app:1"}])
    metadata: JsonObject = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def node(name: str = "n", *, labels: dict[str, str] | None = None, **spec: Any) -> JsonObject:
    capacity = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    metadata: JsonObject = {"name": name}
    if labels:
        metadata["labels"] = labels
    status = {"capacity": capacity, "conditions": [ready], "nodeInfo": {"kubeletVersion": "v1.32.4"}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}


def config_map(name: str = "c", *, labels: dict[str, str] | None = None, **data: str) -> JsonObject:
    metadata: JsonObject = {"name": name, "namespace": "default"}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def workload(kind: str = "Deployment", name: str = "web", **spec: Any) -> JsonObject:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    if kind == "Job":
        template["spec"]["restartPolicy"] = "Never"
        body = {"template": template, **spec}
        return {"apiVersion": "batch/v1", "kind": kind, "metadata": {"name": name}, "spec": body}
    body = {"selector": {"matchLabels": labels}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": body}


def budget(name: str = "b", *, app: str = "web", **spec: Any) -> JsonObject:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": app}}, **(spec or {"minAvailable": 1})},
    }


def event(name: str = "e", **fields: Any) -> JsonObject:
    involved = {"kind": "Pod", "namespace": "default", "name": "p", "uid": "u", "apiVersion": "v1"}
    stamp = "2026-01-01T00:00:00Z"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": "default"},
        "involvedObject": involved,
        "reason": "FailedScheduling",
        "message": "0/1 nodes are available",
        "type": "Warning",
        "source": {"component": "default-scheduler"},
        "firstTimestamp": stamp,
        "lastTimestamp": stamp,
        "count": 1,
        **fields,
    }
