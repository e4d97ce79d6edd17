"""Requests as event senders make them: recorded ones, and built ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exoscaler.adapters.events import decode
from exoscaler.ports.events import Wakeup

RECORDED = Path(__file__).parents[2] / "recorded" / "knative-events.jsonl"

STRUCTURED = "application/cloudevents+json"


@dataclass(frozen=True)
class Request:
    """A request of an event sender, as a server hands it over."""

    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    name: str = ""
    method: str = "POST"

    def decoded(self) -> Wakeup:
        return decode(self.method, self.headers, self.body)

    def without(self, *names: str) -> Request:
        kept = {name: value for name, value in self.headers.items() if name.lower() not in names}
        return Request(kept, self.body, self.name, self.method)

    def with_header(self, name: str, value: str) -> Request:
        return Request({**self.headers, name: value}, self.body, self.name, self.method)

    def with_body(self, body: bytes) -> Request:
        return Request(self.headers, body, self.name, self.method)

    def as_structured(self, content_type: str = STRUCTURED) -> Request:
        """The same event as one JSON document."""
        document: dict[str, object] = {
            name[3:].lower(): value for name, value in self.headers.items() if name.lower().startswith("ce-") and value
        }
        if self.body:
            document["datacontenttype"] = "application/json"
            document["data"] = json.loads(self.body)
        return Request({"Content-Type": content_type}, json.dumps(document).encode(), self.name)


def recorded() -> list[Request]:
    """What Knative's adapters really sent."""
    lines = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]
    return [Request(line["headers"], line["body"].encode(), line["name"]) for line in lines]


def event(type_: str = "dev.knative.sources.ping", data: object = None, **attributes: str) -> Request:
    """An event in binary mode; an attribute given as an empty string is sent as an empty header."""
    told = {"specversion": "1.0", "id": "e-1", "source": "/somewhere", "type": type_, **attributes}
    headers = {f"ce-{name}": value for name, value in told.items()}
    if data is None:
        return Request(headers)
    return Request({**headers, "content-type": "application/json"}, json.dumps(data).encode())


def structured(document: object, content_type: str = STRUCTURED) -> Request:
    """A structured request of any document, well-formed or not."""
    return Request({"content-type": content_type}, json.dumps(document).encode())


def enclosed(change: str, kind: str, *, api_version: str = "v1", time: str = "", **fields: Any) -> Request:
    """An object as Resource mode sends it."""
    metadata = {"name": "one", "namespace": "" if kind == "Node" else "default", **fields.pop("metadata", {})}
    body = {"kind": kind, "apiVersion": api_version, "metadata": metadata, **fields}
    return event(f"dev.knative.apiserver.resource.{change}", body, **({"time": time} if time else {}))


def referenced(change: str, kind: str, *, api_version: str = "v1", **fields: str) -> Request:
    """An object as Reference mode sends it."""
    body = {"kind": kind, "apiVersion": api_version, "name": "one", **fields}
    return event(f"dev.knative.apiserver.ref.{change}", body)
