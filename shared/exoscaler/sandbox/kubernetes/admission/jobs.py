"""A job finds its pods by its own uid."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.objects import JsonObject

_PREFIX = "batch.kubernetes.io/"


def claim_pods_by_uid(job: JsonObject) -> None:
    """Give a new job its selector and its template's labels, unless it selects its pods by hand."""
    spec = job["spec"]
    template = spec.get("template")
    if spec.get("manualSelector") or not isinstance(template, dict):
        return
    meta = metadata(job)
    uid, name = meta["uid"], meta.get("name", "")
    labels = metadata(template).setdefault("labels", {})
    labels.update(
        {f"{_PREFIX}controller-uid": uid, f"{_PREFIX}job-name": name, "controller-uid": uid, "job-name": name}
    )
    selector = spec.setdefault("selector", {})
    selector.setdefault("matchLabels", {})[f"{_PREFIX}controller-uid"] = uid
    if not meta.get("labels"):
        meta["labels"] = dict(labels)
