"""Ticks and the cluster's events, sent as Knative's sources send them: real CloudEvents over HTTP."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

import httpx
from cloudevents.conversion import to_binary, to_structured
from cloudevents.http import CloudEvent

PING_TYPE = "dev.knative.sources.ping"
RESOURCE_TYPES = {
    "ADDED": "dev.knative.apiserver.resource.add",
    "MODIFIED": "dev.knative.apiserver.resource.update",
    "DELETED": "dev.knative.apiserver.resource.delete",
}
RETRIES = 5
RETRY_PAUSE_SECONDS = 0.2


@dataclass(slots=True)
class Deliveries:
    """How many events were sent and what became of them."""

    sent: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, answer: str) -> None:
        """Note one answer: a status, or why there was none."""
        with self._lock:
            self.sent += 1
            self.answers[answer] = self.answers.get(answer, 0) + 1


class Sender:
    """Posts events, and repeats them as the sources do: after 503 and after a connection that failed."""

    def __init__(self, stop: threading.Event, deliveries: Deliveries) -> None:
        self._stop = stop
        self._deliveries = deliveries
        self._client = httpx.Client(timeout=httpx.Timeout(60, connect=2))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(self, url: str, event: CloudEvent, *, structured: bool = False) -> None:
        """Send one event in binary or structured mode."""
        headers, body = to_structured(event) if structured else to_binary(event)
        for attempt in range(1 + RETRIES):
            try:
                answer = self._client.post(url, headers=headers, content=body)
            except httpx.TransportError:
                self._deliveries.count("no answer")
            else:
                self._deliveries.count(str(answer.status_code))
                if answer.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    return
            if self._stop.wait(RETRY_PAUSE_SECONDS * 2**attempt):
                return


def ping(name: str) -> CloudEvent:
    """A tick, as a PingSource sends it."""
    return CloudEvent(_attributes(PING_TYPE, f"/apis/v1/namespaces/exoscaler/pingsources/{name}"), None)


def change(kind: str, plural: str, verb: str, thing: Mapping[str, object]) -> CloudEvent:
    """A changed object, as an ApiServerSource in Resource mode sends it."""
    metadata = thing["metadata"]
    assert isinstance(metadata, dict)  # noqa: S101 - every object of the API has metadata
    namespace, name = str(metadata.get("namespace", "")), str(metadata["name"])
    attributes = {
        **_attributes(RESOURCE_TYPES[verb], "https://kubernetes.default.svc"),
        "subject": f"/apis/v1/namespaces/{namespace}/{plural}/{name}",
        "kind": kind,
        "apiversion": "v1",
        "name": name,
        "datacontenttype": "application/json",
    }
    if namespace:
        attributes["namespace"] = namespace
    return CloudEvent(attributes, dict(thing))


def _attributes(event_type: str, source: str) -> dict[str, str]:
    time = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {"type": event_type, "source": source, "id": uuid.uuid4().hex, "specversion": "1.0", "time": time}


class EventSources:
    """A cron source for each function, and a source that forwards what happens to pods and nodes.

    Without the address of the cluster's API (`kubernetes` is empty) there are ticks only.
    """

    def __init__(self, urls: Mapping[str, str], kubernetes: str, *, tick_seconds: float) -> None:
        self.deliveries = Deliveries()
        self._urls = dict(urls)
        self._kubernetes = kubernetes
        self._tick_seconds = tick_seconds
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._tick, args=(name,), daemon=True) for name in self._urls]
        if kubernetes:
            self._threads += [threading.Thread(target=self._forward, args=w, daemon=True) for w in _WATCHED]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()

    def _tick(self, name: str) -> None:
        sender = Sender(self._stop, self.deliveries)
        while not self._stop.wait(self._tick_seconds):
            sender.send(self._urls[name], ping(name))
        sender.close()

    def _forward(self, kind: str, plural: str, functions: tuple[str, ...]) -> None:
        sender = Sender(self._stop, self.deliveries)
        count = 0
        while not self._stop.is_set():
            for verb, thing in _changes(self._kubernetes, plural, self._stop):
                count += 1
                for function in functions:
                    # Every other one in structured mode: senders differ, and both must be understood.
                    sender.send(self._urls[function], change(kind, plural, verb, thing), structured=count % 2 == 0)
        sender.close()


_WATCHED = (
    ("Pod", "pods", ("evaluate",)),
    ("Node", "nodes", ("evaluate", "scale-up", "scale-down")),
)


def _changes(kubernetes: str, plural: str, stop: threading.Event) -> Iterator[tuple[str, dict[str, object]]]:
    """What changes from now on; ends when the watch does, and whatever happens until the next one is lost."""
    parameters = {"watch": "true", "resourceVersion": "0", "timeoutSeconds": "30"}
    try:
        parameters["resourceVersion"] = _current_version(kubernetes, plural)
        with httpx.stream("GET", f"{kubernetes}/api/v1/{plural}", params=parameters, timeout=60) as answer:
            for line in answer.iter_lines():
                if stop.is_set():
                    return
                entry = json.loads(line)
                if entry["type"] in RESOURCE_TYPES:
                    yield entry["type"], entry["object"]
    except (httpx.HTTPError, json.JSONDecodeError):
        stop.wait(RETRY_PAUSE_SECONDS)


def _current_version(kubernetes: str, plural: str) -> str:
    answer = httpx.get(f"{kubernetes}/api/v1/{plural}", params={"limit": "1"}, timeout=10)
    return str(answer.raise_for_status().json()["metadata"]["resourceVersion"])
