"""An HTTP request taken apart into a CloudEvent's attributes and data (CloudEvents 1.0, HTTP binding and JSON format).

Written by hand, since the SDK that functions-framework allows (1.12) invents a missing id and time, leaves header
values percent-encoded, knows attributes in one letter case only and answers a batch with a crash.

Nothing that came with the request is ever part of an error's message.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

import msgspec

from exoscaler.errors import EventError

if TYPE_CHECKING:
    from collections.abc import Mapping

_T = TypeVar("_T")

MAX_BODY_BYTES = 2 * 1024 * 1024
"""The largest request body that is read: a whole Kubernetes object (etcd takes 1.5 MiB) and its envelope."""

MAX_ATTRIBUTE_CHARS = 2048
"""The longest attribute that is taken: several times what any name in Kubernetes needs, little enough to log."""

STRUCTURED_MEDIA_TYPE = "application/cloudevents+json"

_REQUIRED = ("specversion", "id", "source", "type")
_READ = frozenset({*_REQUIRED, "time", "datacontenttype", "kind", "apiversion", "name", "namespace", "traceparent"})

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_TRACE_PARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class MethodNotAllowed(EventError):
    """Only POST brings an event."""


class EventTooLarge(EventError):
    """The body is larger than `MAX_BODY_BYTES`."""


@dataclass(frozen=True, slots=True)
class PlainPost:
    """A POST that is no CloudEvent: a person, a CronJob with curl, a cloud's scheduler."""

    trace_parent: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A CloudEvent with its required attributes present and not empty.

    Attributes:
        attributes: the attributes exoscaler reads, by lower-case name; absent and empty ones are left out.
        data: the payload; empty when there is none.
        data_is_json: whether the payload is declared as JSON, or not declared at all.
        trace_parent: W3C trace context, None when there is none or it is not valid.
    """

    attributes: Mapping[str, str]
    data: bytes
    data_is_json: bool
    trace_parent: str | None = None

    def data_as(self, shape: type[_T]) -> _T:
        """Reads the payload, which must be a JSON object of this shape; fields the shape does not name are skipped.

        Raises:
            EventError: there is no payload, it is not JSON, or not of this shape.
        """
        if not self.data:
            raise EventError("the event's data is missing: events of this type carry a JSON object")
        if not self.data_is_json:
            raise EventError("the event's data must be JSON: send it with content type application/json")
        return read_json(self.data, shape, "the event's data")


def open_request(method: str, headers: Mapping[str, str], body: bytes) -> Event | PlainPost:
    """Takes a request apart: a CloudEvent in binary or structured mode, or a plain POST.

    The content type decides the mode, as the HTTP binding says; without one of CloudEvents', any ``ce-`` header makes
    it an event in binary mode, so that an event that lost a header on its way is refused rather than taken for a
    plain POST. A plain POST has an empty body or any JSON, whatever its content type; what the JSON says is not read.

    Raises:
        MethodNotAllowed: any method but POST.
        EventTooLarge: the body is larger than `MAX_BODY_BYTES`.
        EventError: not a well-formed event, or a plain POST with a body that is not JSON.
    """
    if method.upper() != "POST":
        raise MethodNotAllowed("only POST brings an event; other methods never start anything")
    if len(body) > MAX_BODY_BYTES:
        raise EventTooLarge(f"the body is larger than {MAX_BODY_BYTES} bytes, more than any Kubernetes object needs")
    known = _by_lower_case_name(headers)
    media_type, charset = _content_type(known.get("content-type", ""))
    trace_parent = known.get("traceparent", "")
    if media_type.startswith("application/cloudevents"):
        _check_format(media_type, charset)
        return _structured(body, trace_parent)
    if any(name.startswith("ce-") for name in known):
        return _binary(known, media_type, body, trace_parent)
    _check_plain_body(body)
    return PlainPost(_valid_trace_parent(trace_parent))


def read_json(text: bytes, shape: type[_T], what: str) -> _T:
    """Reads JSON of a shape.

    Raises:
        EventError: not UTF-8, not JSON, not of the shape, or nested too deeply; it names `what`, not the content.
    """
    try:
        text.decode()
        return msgspec.json.decode(text, type=shape)
    except msgspec.ValidationError as wrong:
        raise EventError(f"{what} is JSON, but not of the shape that is needed") from wrong
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as wrong:
        raise EventError(f"{what} is not JSON") from wrong


def check_text(value: str, what: str) -> None:
    """Makes sure that a text can go into a log line and a header.

    Raises:
        EventError: it is longer than `MAX_ATTRIBUTE_CHARS` or has control characters; it names `what`, not the text.
    """
    if len(value) > MAX_ATTRIBUTE_CHARS:
        raise EventError(f"{what} is longer than {MAX_ATTRIBUTE_CHARS} characters")
    if _CONTROL.search(value):
        raise EventError(f"{what} has control characters")


def _by_lower_case_name(headers: Mapping[str, str]) -> dict[str, str]:
    """Keeps what can belong to an event: its attributes, the content type, the trace."""
    known: dict[str, str] = {}
    for spelled, value in headers.items():
        name = spelled.lower()
        if not name.startswith("ce-") and name not in ("content-type", "traceparent"):
            continue
        if known.setdefault(name, value.strip()) != value.strip():
            raise EventError("a header of the event is given twice with different values")
    return known


def _content_type(value: str) -> tuple[str, str]:
    media_type, *parameters = (part.strip().lower() for part in value.split(";"))
    charsets = [p.removeprefix("charset=").strip('"') for p in parameters if p.startswith("charset=")]
    return media_type, charsets[0] if charsets else ""


def _check_format(media_type: str, charset: str) -> None:
    if media_type.startswith("application/cloudevents-batch"):
        raise EventError("a batch of events is not taken: send each event in a request of its own")
    if media_type != STRUCTURED_MEDIA_TYPE:
        raise EventError(f"of the structured formats only {STRUCTURED_MEDIA_TYPE} is read")
    if charset not in ("", "utf-8", "utf8", "us-ascii"):
        raise EventError("a structured event must be in UTF-8")


def _structured(body: bytes, header_trace: str) -> Event:
    fields = read_json(body, dict[str, msgspec.Raw], "the structured event")
    given = {name: _json_attribute(name, fields[name]) for name in _READ & fields.keys()}
    attributes = _checked(given)
    data = b"" if bytes(fields.get("data", b"null")) == b"null" else bytes(fields["data"])
    data_is_json = True
    if "data_base64" in fields:
        if "data" in fields:
            raise EventError("the structured event has both data and data_base64")
        data = _base64(fields["data_base64"])
        data_is_json = _is_json(_content_type(attributes.get("datacontenttype", ""))[0])
    return _event(attributes, data, header_trace, data_is_json=data_is_json)


def _json_attribute(name: str, raw: msgspec.Raw) -> str:
    value = read_json(bytes(raw), object, f"attribute {name}")
    if value is None:
        return ""
    if not isinstance(value, str):
        raise EventError(f"attribute {name} must be a string")
    return value


def _base64(raw: msgspec.Raw) -> bytes:
    try:
        return base64.b64decode(read_json(bytes(raw), str, "data_base64"), validate=True)
    except (binascii.Error, ValueError) as wrong:
        raise EventError("data_base64 is not base64") from wrong


def _binary(headers: Mapping[str, str], media_type: str, body: bytes, header_trace: str) -> Event:
    given = {name: _header_value(name, headers[f"ce-{name}"]) for name in _READ if f"ce-{name}" in headers}
    return _event(_checked(given), body, header_trace, data_is_json=_is_json(media_type))


def _header_value(name: str, value: str) -> str:
    """Undoes the HTTP binding's encoding: quotes around the value, then one round of percent-encoding."""
    if len(value) >= 2 and value[0] == value[-1] == '"':
        value = re.sub(r"\\(.)", r"\1", value[1:-1])
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError as wrong:
        raise EventError(f"attribute {name} is not percent-encoded UTF-8") from wrong


def _checked(given: Mapping[str, str]) -> dict[str, str]:
    for name, value in given.items():
        check_text(value, f"attribute {name}")
    # an empty header stands for "none" where Knative speaks of cluster-scoped objects (ce-namespace)
    attributes = {name: value for name, value in given.items() if value}
    missing = [name for name in _REQUIRED if name not in attributes]
    if missing:
        raise EventError(f"not a CloudEvent: {', '.join(missing)} missing or empty")
    if attributes["specversion"] != "1.0":
        raise EventError("only CloudEvents of specversion 1.0 are read")
    return attributes


def _event(attributes: Mapping[str, str], data: bytes, header_trace: str, *, data_is_json: bool) -> Event:
    # the event's own trace goes before that of the hop that brought it
    trace_parent = _valid_trace_parent(attributes.get("traceparent", "")) or _valid_trace_parent(header_trace)
    return Event(attributes, data, data_is_json, trace_parent)


def _valid_trace_parent(value: str) -> str | None:
    """A broken trace is no reason to refuse an event: W3C says to start a new one."""
    return value if _TRACE_PARENT.fullmatch(value) else None


def _is_json(media_type: str) -> bool:
    return media_type in ("", "application/json", "text/json") or media_type.endswith("+json")


def _check_plain_body(body: bytes) -> None:
    if not body.strip():
        return
    content = read_json(body, object, "the body of a request without an event")
    if isinstance(content, dict) and "specversion" in content:
        raise EventError(f"this looks like a structured CloudEvent: send it with content type {STRUCTURED_MEDIA_TYPE}")
