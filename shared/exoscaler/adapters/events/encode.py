"""Our own CloudEvent: an operation was planned.

::

    type         dev.exoscaler.operation.planned
    source       /apis/exoscaler.dev/functions/evaluate
    id           <operation id>.planned             the same for every repeat, so a repeat is a duplicate
    subject      <group id>
    time         when it was planned
    operationkind  grow | shrink                    so that a trigger can route on it: triggers see attributes only
    traceparent  of the evaluation, when it has one
    data         {"operationId", "groupId", "groupName", "kind", "decisionId", "plannedAt"}
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from exoscaler.adapters.events.envelope import STRUCTURED_MEDIA_TYPE
from exoscaler.adapters.events.timestamps import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exoscaler.ports.events import OperationPlanned

OPERATION_PLANNED_TYPE = "dev.exoscaler.operation.planned"
OPERATION_PLANNED_SOURCE = "/apis/exoscaler.dev/functions/evaluate"

# what the HTTP binding leaves as it is: printable ASCII but for space, quote and percent
_HEADER_SAFE = "".join(set(string.punctuation) - {'"', "%"})


class ContentMode(StrEnum):
    """How a CloudEvent travels over HTTP."""

    BINARY = "binary"
    """Attributes in headers, data as the body: what proxies and logs can read."""
    STRUCTURED = "structured"
    """All of it as one JSON document."""


class PlannedOperation(msgspec.Struct, rename="camel", frozen=True):
    """The event's data on the wire."""

    operation_id: str
    group_id: str
    kind: str
    group_name: str = ""
    decision_id: str = ""
    planned_at: str = ""


@dataclass(frozen=True, slots=True)
class EncodedEvent:
    """A CloudEvent as an HTTP request's headers and body."""

    headers: Mapping[str, str]
    body: bytes


def encode(event: OperationPlanned, mode: ContentMode = ContentMode.BINARY) -> EncodedEvent:
    """Writes the event for HTTP, the same bytes every time."""
    planned_at = format_timestamp(event.planned_at)
    data = PlannedOperation(
        operation_id=event.operation_id,
        group_id=event.group_id,
        kind=event.kind.value,
        group_name=event.group_name,
        decision_id=event.decision_id,
        planned_at=planned_at,
    )
    attributes = {
        "specversion": "1.0",
        "id": f"{event.operation_id}.planned",
        "source": OPERATION_PLANNED_SOURCE,
        "type": OPERATION_PLANNED_TYPE,
        "subject": event.group_id,
        "time": planned_at,
        "operationkind": event.kind.value,
    }
    if event.trace_parent:
        attributes["traceparent"] = event.trace_parent
    if mode is ContentMode.STRUCTURED:
        document = {**attributes, "datacontenttype": "application/json", "data": data}
        return EncodedEvent({"Content-Type": f"{STRUCTURED_MEDIA_TYPE}; charset=utf-8"}, msgspec.json.encode(document))
    headers = {f"ce-{name}": quote(value, safe=_HEADER_SAFE) for name, value in attributes.items()}
    return EncodedEvent({**headers, "Content-Type": "application/json"}, msgspec.json.encode(data))
