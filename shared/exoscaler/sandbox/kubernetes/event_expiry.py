"""Events live for an hour, as on a real cluster, so that a long run does not drown in them."""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.sandbox.kubernetes.json_values import metadata, text
from exoscaler.sandbox.kubernetes.object_metadata import parse_time
from exoscaler.sandbox.kubernetes.resources import EVENTS
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

LIFETIME = timedelta(hours=1)


def expire_events(storage: Storage, now: datetime) -> None:
    """Remove the oldest events whose last occurrence is longer ago than their lifetime, under the lock."""
    old = []
    for key, event in storage.view(EVENTS.key).objects.items():
        if now - _last_seen(event, now) <= LIFETIME:
            break
        old.append(key)
    for key in old:
        storage.remove(EVENTS.key, key)


def _last_seen(event: JsonObject, now: datetime) -> datetime:
    created = parse_time(metadata(event)["creationTimestamp"]) or now
    stamps = (text(event, path) for path in ("lastTimestamp", "series.lastObservedTime", "eventTime"))
    return max([created, *(moment for moment in map(parse_time, stamps) if moment is not None)])
