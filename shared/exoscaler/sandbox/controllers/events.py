"""Kubernetes events: one object for one thing that happened, with a count when it happens again."""

from __future__ import annotations

import hashlib
import logging

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.pods import key
from exoscaler.sandbox.controllers.resources import EVENTS, KINDS, Resource
from exoscaler.sandbox.controllers.stamps import stamp
from exoscaler.sandbox.controllers.writing import is_race
from exoscaler.sandbox.objects import JsonObject, ObjectClient, ObjectError

REPEAT_SECONDS = 60.0
REMEMBERED = 20_000
MAX_NAME = 200

log = logging.getLogger(__name__)


class EventRecorder:
    """Writes core/v1 events for one component.

    The same fact about the same object is one event: its count grows at most once every `REPEAT_SECONDS` of
    simulated time. The event's name follows from the fact, so a restarted component finds its own events again.
    """

    def __init__(self, client: ObjectClient, clock: SandboxClock, component: str) -> None:
        self._client = client
        self._clock = clock
        self._component = component
        self._written: dict[tuple[str, str], float] = {}

    def record(self, resource: Resource, item: JsonObject, reason: str, message: str, *, warning: bool = False) -> None:
        """Record what happened to an object. A refusal is logged: events are never worth a failure."""
        name = _event_name(item, reason, message, self._component)
        namespace = item["metadata"].get("namespace") or "default"
        now = self._clock.monotonic()
        last = self._written.get((namespace, name))
        if last is not None and now - last < REPEAT_SECONDS:
            return
        if len(self._written) >= REMEMBERED:
            self._written.clear()
        self._written[namespace, name] = now
        fact = {
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": _reference(resource, item),
            "reason": reason,
            "message": message,
            "type": "Warning" if warning else "Normal",
        }
        try:
            self._write(fact)
        except ObjectError as error:
            level = logging.DEBUG if is_race(error) else logging.WARNING
            facts = (reason, key(item), error.status, error.reason, error)
            log.log(level, "could not record %s for %s: %d %s: %s", *facts)

    def _write(self, fact: JsonObject) -> None:
        name, namespace = fact["metadata"]["name"], fact["metadata"]["namespace"]
        moment = stamp(self._clock.now())
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            **fact,
            "count": 1,
            "firstTimestamp": moment,
            "lastTimestamp": moment,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "reportingInstance": "",
        }
        try:
            self._client.create(*EVENTS, body, namespace=namespace)
        except ObjectError as error:
            if error.reason != "AlreadyExists":
                raise
            known = self._client.get(*EVENTS, name, namespace=namespace)
            again = {"count": int(known.get("count") or 1) + 1, "lastTimestamp": moment}
            self._client.patch(*EVENTS, name, again, namespace=namespace)


def _reference(resource: Resource, item: JsonObject) -> JsonObject:
    metadata = item["metadata"]
    reference = {
        "apiVersion": resource.group,
        "kind": KINDS[resource],
        "name": metadata["name"],
        "uid": metadata.get("uid", ""),
    }
    if metadata.get("namespace"):
        reference["namespace"] = metadata["namespace"]
    return reference


def _event_name(item: JsonObject, reason: str, message: str, component: str) -> str:
    metadata = item["metadata"]
    fact = "\n".join((metadata.get("uid", ""), reason, message, component))
    digest = hashlib.sha256(fact.encode()).hexdigest()[:16]
    return f"{metadata['name'][:MAX_NAME]}.{digest}"
