"""What admission adds to a pod: account, token, tolerations, priority, service class."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import forbidden
from exoscaler.sandbox.kubernetes.json_values import entries, metadata, section
from exoscaler.sandbox.kubernetes.object_metadata import random_suffix
from exoscaler.sandbox.kubernetes.quantities import parse_quantity
from exoscaler.sandbox.kubernetes.resources import PRIORITY_CLASSES, Resource
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

_MIRROR = "kubernetes.io/config.mirror"
_TOKEN_PATH = "/var/run/secrets/kubernetes.io/serviceaccount"  # noqa: S105 -- a path, not a token
_TOLERATED_SECONDS = 300
_BROKEN_NODE_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_QOS_RESOURCES = ("cpu", "memory")


def complete_pod(storage: Storage, resource: Resource, pod: JsonObject) -> None:
    """Complete a new pod.

    Raises:
        ApiFailure: 403, its priority class does not exist or contradicts its priority.
    """
    spec = pod["spec"]
    if _MIRROR not in (metadata(pod).get("annotations") or {}):
        account = spec.get("serviceAccountName") or "default"
        spec["serviceAccountName"] = spec["serviceAccount"] = account
        _mount_token(spec)
    _tolerate_broken_nodes(spec)
    _set_priority(storage, resource, pod)
    pod["status"]["qosClass"] = _qos_class(spec)


def _mount_token(spec: JsonObject) -> None:
    if spec.get("automountServiceAccountToken") is False:
        return
    containers = [*entries(spec, "initContainers"), *entries(spec, "containers")]
    bare = [
        one
        for one in containers
        if all(mount.get("mountPath") != _TOKEN_PATH for mount in entries(one, "volumeMounts"))
    ]
    if not bare:
        return
    name = f"kube-api-access-{random_suffix()}"
    field = {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}
    certificate = {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    sources = [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": certificate},
        {"downwardAPI": {"items": [field]}},
    ]
    spec["volumes"] = [
        *entries(spec, "volumes"),
        {"name": name, "projected": {"sources": sources, "defaultMode": 0o644}},
    ]
    for container in bare:
        mount = {"name": name, "readOnly": True, "mountPath": _TOKEN_PATH}
        container["volumeMounts"] = [*entries(container, "volumeMounts"), mount]


def _tolerate_broken_nodes(spec: JsonObject) -> None:
    tolerations = entries(spec, "tolerations")
    for key in _BROKEN_NODE_TAINTS:
        if not any(_tolerates(toleration, key) for toleration in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _TOLERATED_SECONDS}
            )
    spec["tolerations"] = tolerations


def _tolerates(toleration: JsonObject, key: str) -> bool:
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


def _set_priority(storage: Storage, resource: Resource, pod: JsonObject) -> None:
    spec = pod["spec"]
    name = spec.get("priorityClassName") or ""
    if name:
        found = storage.read(PRIORITY_CLASSES.key, ("", name))
        if found is None:
            raise forbidden(resource, metadata(pod).get("name", ""), f"no PriorityClass with name {name} was found")
    else:
        found = _global_default(storage)
        if found is not None:
            spec["priorityClassName"] = metadata(found)["name"]
    priority = found.get("value", 0) if found is not None else 0
    if spec.get("priority", priority) != priority:
        why = f"spec.priority is {spec['priority']}, but the PriorityClass gives {priority}: leave spec.priority out"
        raise forbidden(resource, metadata(pod).get("name", ""), why)
    spec["priority"] = priority
    policy = found.get("preemptionPolicy") if found is not None else None
    spec.setdefault("preemptionPolicy", policy or "PreemptLowerPriority")


def _global_default(storage: Storage) -> JsonObject | None:
    marked = [obj for obj in storage.view(PRIORITY_CLASSES.key).objects.values() if obj.get("globalDefault")]
    return min(marked, key=lambda obj: int(obj.get("value", 0)), default=None)


def _qos_class(spec: JsonObject) -> str:
    containers = [*entries(spec, "initContainers"), *entries(spec, "containers")]
    budgets = [section(container, "resources") for container in containers]
    if not any(
        budget.get(kind, {}).get(name)
        for budget in budgets
        for kind in ("requests", "limits")
        for name in _QOS_RESOURCES
    ):
        return "BestEffort"
    return "Guaranteed" if all(_is_fixed(budget) for budget in budgets) else "Burstable"


def _is_fixed(budget: JsonObject) -> bool:
    requests, limits = section(budget, "requests"), section(budget, "limits")
    return all(
        name in limits and parse_quantity(requests.get(name, limits[name])) == parse_quantity(limits[name])
        for name in _QOS_RESOURCES
    )
