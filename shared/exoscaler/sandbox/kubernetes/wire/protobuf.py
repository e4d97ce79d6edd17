"""Reads objects in the protobuf form of Kubernetes, in which kubectl and other Go clients write built-in kinds.

The sandbox only reads it; its answers are JSON, which these clients accept as well.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from exoscaler.sandbox.kubernetes.failures import bad_request
from exoscaler.sandbox.kubernetes.object_metadata import rfc3339, rfc3339_micro
from exoscaler.sandbox.kubernetes.wire.schema import FieldType, ObjectType, schema
from exoscaler.sandbox.objects import JsonObject

PROTOBUF = "application/vnd.kubernetes.protobuf"

_MAGIC = b"k8s\0"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIGN = 1 << 63
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_ONE = -62_135_596_800


def decode_protobuf(content: bytes) -> JsonObject:
    """The object in an envelope of Kubernetes, as JSON has it, with its kind and version.

    Raises:
        ApiFailure: 400, the bytes are damaged or the kind is not one that the sandbox reads.
    """
    if not content.startswith(_MAGIC):
        raise bad_request("the object provided is unrecognized: it lacks the prefix of Kubernetes protobuf")
    try:
        envelope = dict(_fields(content[len(_MAGIC) :]))
        names = {number: bytes(value).decode() for number, value in _fields(_as_bytes(envelope.get(1, b"")))}
        group_version, kind = names.get(1, ""), names.get(2, "")
        found = schema().of_kind(group_version, kind)
        if found is None:
            raise bad_request(f'no kind "{kind}" is registered for version "{group_version}" in protobuf')
        obj = _object(found, _as_bytes(envelope.get(2, b"")))
    except (ValueError, IndexError, TypeError, struct.error) as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from error
    return {"apiVersion": group_version, "kind": kind, **obj}


def _object(of: ObjectType, content: bytes) -> JsonObject:
    fields = {field.number: field for field in of.fields}
    result: JsonObject = {}
    for number, raw in _fields(content):
        field = fields.get(number)
        if field is None:
            continue
        if field.is_map:
            key, value = _entry(field, _as_bytes(raw))
            result.setdefault(field.name, {})[key] = value
        elif field.is_list:
            result.setdefault(field.name, []).extend(_items(field, raw))
        elif field.inline:
            result.update(_object(schema().types[field.form], _as_bytes(raw)))
        else:
            value = _value(field.form, raw)
            # Only a field that can be absent is told from one that is zero.
            if field.is_optional or value not in ("", 0, False, None, {}):
                result[field.name] = value
    return {name: value for name, value in result.items() if value is not None}


def _entry(field: FieldType, content: bytes) -> tuple[str, object]:
    parts = dict(_fields(content))
    key = _as_bytes(parts.get(1, b"")).decode()
    return key, _value(field.form, parts.get(2, b"" if field.form != "int" else 0))


def _items(field: FieldType, raw: int | bytes) -> list[object]:
    if field.form == "int" and isinstance(raw, bytes):
        return [_signed(value) for value in _packed(raw)]
    return [_value(field.form, raw)]


def _value(form: str, raw: int | bytes) -> object:
    read = _READERS.get(form)
    return read(raw) if read is not None else _object(schema().types[form], _as_bytes(raw))


def _signed(raw: int | bytes) -> int:
    value = _as_int(raw)
    return value - (1 << 64) if value >= _SIGN else value


def _double(raw: int | bytes) -> float:
    return float(struct.unpack("<d", _as_int(raw).to_bytes(8, "little"))[0])


def _moment(raw: int | bytes) -> datetime | None:
    parts = dict(_fields(_as_bytes(raw)))
    seconds = _signed(parts.get(1, 0))
    if not parts or seconds == _YEAR_ONE:
        return None
    return _EPOCH + timedelta(seconds=seconds, microseconds=_signed(parts.get(2, 0)) // 1000)


def _time(raw: int | bytes) -> str | None:
    moment = _moment(raw)
    return rfc3339(moment) if moment else None


def _micro_time(raw: int | bytes) -> str | None:
    moment = _moment(raw)
    return rfc3339_micro(moment) if moment else None


def _int_or_string(raw: int | bytes) -> int | str:
    parts = dict(_fields(_as_bytes(raw)))
    return _as_bytes(parts.get(3, b"")).decode() if parts.get(1) else _signed(parts.get(2, 0))


def _quantity(raw: int | bytes) -> str:
    return _as_bytes(dict(_fields(_as_bytes(raw))).get(1, b"")).decode() or "0"


def _raw_json(raw: int | bytes) -> object:
    content = _as_bytes(dict(_fields(_as_bytes(raw))).get(1, b""))
    return msgspec.json.decode(content) if content else None


def _duration(raw: int | bytes) -> str:
    nanoseconds = _signed(dict(_fields(_as_bytes(raw))).get(1, 0))
    return f"{nanoseconds / 1_000_000_000:g}s"


_READERS: dict[str, Callable[[int | bytes], object]] = {
    "string": lambda raw: _as_bytes(raw).decode(),
    "int": _signed,
    "bool": lambda raw: bool(_as_int(raw)),
    "double": _double,
    "bytes": lambda raw: base64.b64encode(_as_bytes(raw)).decode(),
    "Time": _time,
    "MicroTime": _micro_time,
    "Duration": _duration,
    "Quantity": _quantity,
    "IntOrString": _int_or_string,
    "Raw": _raw_json,
}


def _as_bytes(raw: int | bytes) -> bytes:
    if isinstance(raw, int):
        raise TypeError("a number where bytes should be")
    return raw


def _as_int(raw: int | bytes) -> int:
    if isinstance(raw, bytes):
        raise TypeError("bytes where a number should be")
    return raw


def _fields(content: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order: number, and value as a number or as bytes."""
    at = 0
    while at < len(content):
        tag, at = _varint(content, at)
        wire_type = tag & 7
        if wire_type == _VARINT:
            value, at = _varint(content, at)
            yield tag >> 3, value
            continue
        if wire_type == _BYTES:
            size, at = _varint(content, at)
        elif wire_type in (_FIXED64, _FIXED32):
            size = 8 if wire_type == _FIXED64 else 4
        else:
            raise ValueError(f"unknown wire type {wire_type}")
        piece = content[at : at + size]
        if len(piece) < size:
            raise ValueError("the message ends within a field")
        at += size
        yield tag >> 3, piece if wire_type == _BYTES else int.from_bytes(piece, "little")


def _packed(content: bytes) -> Iterator[int]:
    at = 0
    while at < len(content):
        value, at = _varint(content, at)
        yield value


def _varint(content: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = content[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
