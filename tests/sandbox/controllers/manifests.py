"""Manifests that make objects readable: name what matters to the test, the rest is ordinary."""

from __future__ import annotations

from typing import Any

from exoscaler.sandbox.objects import JsonObject

NAMESPACE = "default"


def metadata(name: str, **extra: Any) -> JsonObject:
    return {"name": name, "namespace": NAMESPACE, **extra}


def pod_spec(
    *, cpu: str = "100m", memory: str = "64Mi", requests: dict[str, str] | None = None, **extra: Any
) -> JsonObject:
    asked = {"cpu": cpu, "memory": memory, **(requests or {})}
    return {
        "containers": [{"name": "app", "image": "registry.example/app:1", "resources": {"requests": asked}}],
        **extra,
    }


def pod(
    name: str,
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    finalizers: list[str] | None = None,
    **spec: Any,
) -> JsonObject:
    meta = metadata(name, labels=labels or {}, annotations=annotations or {})
    meta |= {"finalizers": finalizers} if finalizers else {}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": pod_spec(**spec)}


def template(app: str, *, annotations: dict[str, str] | None = None, **spec: Any) -> JsonObject:
    return {"metadata": {"labels": {"app": app}, "annotations": annotations or {}}, "spec": pod_spec(**spec)}


def _workload(group: str, kind: str, name: str, spec: JsonObject) -> JsonObject:
    return {"apiVersion": group, "kind": kind, "metadata": metadata(name), "spec": spec}


def _selected(name: str, more: JsonObject, pods: JsonObject) -> JsonObject:
    return {"selector": {"matchLabels": {"app": name}}, "template": template(name, **pods), **more}


def deployment(name: str, *, replicas: int = 1, spec: JsonObject | None = None, **pods: Any) -> JsonObject:
    more = {"replicas": replicas, **(spec or {})}
    return _workload("apps/v1", "Deployment", name, _selected(name, more, pods))


def stateful_set(name: str, *, replicas: int = 1, spec: JsonObject | None = None, **pods: Any) -> JsonObject:
    more = {"replicas": replicas, "serviceName": name, **(spec or {})}
    return _workload("apps/v1", "StatefulSet", name, _selected(name, more, pods))


def daemon_set(name: str, *, spec: JsonObject | None = None, **pods: Any) -> JsonObject:
    return _workload("apps/v1", "DaemonSet", name, _selected(name, spec or {}, pods))


def job(name: str, *, spec: JsonObject | None = None, **pods: Any) -> JsonObject:
    pods = {"restartPolicy": "Never", **pods}
    return _workload("batch/v1", "Job", name, {"template": template(name, **pods), **(spec or {})})


def budget(name: str, *, app: str, **spec: Any) -> JsonObject:
    body = {"selector": {"matchLabels": {"app": app}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata(name), "spec": body}
