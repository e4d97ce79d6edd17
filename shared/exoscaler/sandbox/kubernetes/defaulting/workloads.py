"""Defaults of the kinds that keep pods."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.defaulting.pods import default_template
from exoscaler.sandbox.kubernetes.json_values import clone, entries, metadata, section
from exoscaler.sandbox.objects import JsonObject

_KEPT_REVISIONS = 10


def _fill(obj: JsonObject, defaults: JsonObject) -> JsonObject:
    spec: JsonObject = obj.setdefault("spec", {})
    for name, value in defaults.items():
        if name not in spec:
            spec[name] = clone(value)
    return spec


def default_deployment(obj: JsonObject) -> None:
    """Fill in a Deployment."""
    spec = _fill(obj, {"replicas": 1, "revisionHistoryLimit": _KEPT_REVISIONS, "progressDeadlineSeconds": 600})
    strategy = spec.setdefault("strategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    default_template(spec)


def default_replica_set(obj: JsonObject) -> None:
    """Fill in a ReplicaSet."""
    default_template(_fill(obj, {"replicas": 1}))


def default_replication_controller(obj: JsonObject) -> None:
    """Fill in a ReplicationController, whose selector and labels follow its template."""
    spec = _fill(obj, {"replicas": 1})
    labels = section(section(section(spec, "template"), "metadata"), "labels")
    if labels:
        if not spec.get("selector"):
            spec["selector"] = dict(labels)
        if not metadata(obj).get("labels"):
            metadata(obj)["labels"] = dict(labels)
    default_template(spec)


def default_daemon_set(obj: JsonObject) -> None:
    """Fill in a DaemonSet."""
    spec = _fill(obj, {"revisionHistoryLimit": _KEPT_REVISIONS})
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    default_template(spec)


def default_stateful_set(obj: JsonObject) -> None:
    """Fill in a StatefulSet."""
    spec = _fill(
        obj,
        {
            "replicas": 1,
            "podManagementPolicy": "OrderedReady",
            "revisionHistoryLimit": _KEPT_REVISIONS,
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
        },
    )
    strategy = spec.setdefault("updateStrategy", {})
    if strategy.setdefault("type", "RollingUpdate") == "RollingUpdate":
        strategy.setdefault("rollingUpdate", {}).setdefault("partition", 0)
    for claim in entries(spec, "volumeClaimTemplates"):
        claim.setdefault("apiVersion", "v1")
        claim.setdefault("kind", "PersistentVolumeClaim")
        claim.setdefault("spec", {}).setdefault("volumeMode", "Filesystem")
        claim.setdefault("status", {"phase": "Pending"})
    default_template(spec)


def default_job(obj: JsonObject) -> None:
    """Fill in a Job; one without completions and parallelism runs one pod."""
    spec: JsonObject = obj.setdefault("spec", {})
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    _fill(obj, {"backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False})
    failures = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", failures)
    labels = section(section(section(spec, "template"), "metadata"), "labels")
    if labels and not metadata(obj).get("labels"):
        metadata(obj)["labels"] = dict(labels)
    default_template(spec)


def default_cron_job(obj: JsonObject) -> None:
    """Fill in a CronJob."""
    spec = _fill(
        obj,
        {
            "concurrencyPolicy": "Allow",
            "suspend": False,
            "successfulJobsHistoryLimit": 3,
            "failedJobsHistoryLimit": 1,
        },
    )
    default_template(section(section(spec, "jobTemplate"), "spec"))
