"""What a deletion does to an object: nothing yet, mark it, or remove it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler.sandbox.kubernetes.failures import conflict
from exoscaler.sandbox.kubernetes.json_values import clone, metadata, section, text
from exoscaler.sandbox.kubernetes.object_metadata import mark_deleted, parse_time, rfc3339
from exoscaler.sandbox.kubernetes.resources import NAMESPACES, PODS, Resource
from exoscaler.sandbox.objects import JsonObject

FOREGROUND = "foregroundDeletion"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a deletion, as the API's `DeleteOptions`; `propagation` is empty for the resource's default."""

    grace_seconds: int | None = None
    uid: str = ""
    version: str = ""
    propagation: str = ""
    dry_run: bool = False


def check_preconditions(resource: Resource, obj: JsonObject, options: DeleteOptions) -> None:
    """Check that the object is the one that is meant.

    Raises:
        ApiFailure: 409, uid or resourceVersion differ.
    """
    meta = metadata(obj)
    for name, wanted, actual in (
        ("UID", options.uid, meta["uid"]),
        ("ResourceVersion", options.version, meta["resourceVersion"]),
    ):
        if wanted and wanted != actual:
            why = f"Precondition failed: {name} in precondition: {wanted}, {name} in object meta: {actual}"
            raise conflict(resource, meta["name"], why)


def marked(resource: Resource, obj: JsonObject, options: DeleteOptions, now: datetime) -> JsonObject:
    """The object as the deletion leaves it: a copy with deletion marks, grace and finalizers.

    A pod that is bound and not ended gets its grace, every other object none. A second deletion can only shorten the
    grace. Whether the object can go now is for `is_finished`.
    """
    result = clone(obj)
    meta = metadata(result)
    if "deletionTimestamp" not in meta:
        _add_propagation(meta, options.propagation)
        grace = _grace_of_pod(obj, options.grace_seconds) if resource is PODS else 0
        mark_deleted(result, now, grace)
        if resource is NAMESPACES:
            result["status"] = {**section(result, "status"), "phase": "Terminating"}
        return result
    remaining = meta.get("deletionGracePeriodSeconds") or 0
    if options.grace_seconds is not None and options.grace_seconds < remaining:
        ends = parse_time(meta["deletionTimestamp"]) or now
        meta["deletionTimestamp"] = rfc3339(ends + timedelta(seconds=options.grace_seconds - remaining))
        meta["deletionGracePeriodSeconds"] = options.grace_seconds
    return result


def is_finished(obj: JsonObject) -> bool:
    """True when an object is marked for deletion and nothing holds it any more: no grace, no finalizer."""
    meta = section(obj, "metadata")
    if "deletionTimestamp" not in meta or meta.get("finalizers") or meta.get("deletionGracePeriodSeconds"):
        return False
    return obj.get("kind") != "Namespace" or not section(obj, "spec").get("finalizers")


def _add_propagation(meta: JsonObject, propagation: str) -> None:
    if propagation == "Foreground":
        meta["finalizers"] = [*(meta.get("finalizers") or []), FOREGROUND]


def _grace_of_pod(pod: JsonObject, asked: int | None) -> int:
    if not text(pod, "spec.nodeName") or text(pod, "status.phase") in ("Succeeded", "Failed"):
        return 0
    grace = asked if asked is not None else section(pod, "spec").get("terminationGracePeriodSeconds", 0)
    return int(grace) if grace >= 0 else 1
