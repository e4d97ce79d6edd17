"""Defaults of everything that is neither a pod nor keeps pods."""

from __future__ import annotations

import base64

from exoscaler.sandbox.kubernetes.json_values import entries, metadata, section
from exoscaler.sandbox.objects import JsonObject


def default_namespace(obj: JsonObject) -> None:
    """Fill in a Namespace: the finalizer that its emptying removes, and its name as a label."""
    meta = metadata(obj)
    if "deletionTimestamp" not in meta:
        spec = obj.setdefault("spec", {})
        if not spec.get("finalizers"):
            spec["finalizers"] = ["kubernetes"]
    if meta.get("name"):
        labels = meta.get("labels") or {}
        meta["labels"] = {**labels, "kubernetes.io/metadata.name": meta["name"]}


def default_node(obj: JsonObject) -> None:
    """Fill in a Node: without its own figures, all of its capacity can be allocated."""
    obj.setdefault("spec", {})
    status = section(obj, "status")
    if status.get("capacity") and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])


def default_secret(obj: JsonObject) -> None:
    """Fill in a Secret; ``stringData`` moves into ``data``."""
    obj.setdefault("type", "Opaque")
    plain = obj.pop("stringData", None)
    if plain:
        data = obj.setdefault("data", {})
        data.update({name: base64.b64encode(str(value).encode()).decode() for name, value in plain.items()})


def default_service(obj: JsonObject) -> None:
    """Fill in a Service; its address is assigned on admission."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
        spec.setdefault("ipFamilies", ["IPv4"])
        spec.setdefault("ipFamilyPolicy", "SingleStack")
    for port in entries(spec, "ports"):
        port.setdefault("protocol", "TCP")
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port")


def default_endpoints(obj: JsonObject) -> None:
    """Fill in the ports of Endpoints."""
    for subset in entries(obj, "subsets"):
        for port in entries(subset, "ports"):
            port.setdefault("protocol", "TCP")


def default_volume(obj: JsonObject) -> None:
    """Fill in a PersistentVolume."""
    spec = obj.setdefault("spec", {})
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")


def default_volume_claim(obj: JsonObject) -> None:
    """Fill in a PersistentVolumeClaim."""
    obj.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")


def default_storage_class(obj: JsonObject) -> None:
    """Fill in a StorageClass."""
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def default_csi_driver(obj: JsonObject) -> None:
    """Fill in a CSIDriver."""
    spec = obj.setdefault("spec", {})
    for name, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("requiresRepublish", False),
        ("storageCapacity", False),
        ("seLinuxMount", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
    ):
        spec.setdefault(name, value)
    spec.setdefault("volumeLifecycleModes", ["Persistent"])


def default_priority_class(obj: JsonObject) -> None:
    """Fill in a PriorityClass."""
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def default_autoscaler(obj: JsonObject) -> None:
    """Fill in a HorizontalPodAutoscaler."""
    obj.setdefault("spec", {}).setdefault("minReplicas", 1)


def default_role_binding(obj: JsonObject) -> None:
    """Fill in the API groups of a role binding."""
    group = "rbac.authorization.k8s.io"
    if isinstance(obj.get("roleRef"), dict):
        obj["roleRef"].setdefault("apiGroup", group)
    for subject in entries(obj, "subjects"):
        if subject.get("kind") != "ServiceAccount":
            subject.setdefault("apiGroup", group)
