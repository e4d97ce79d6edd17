"""Holds an object against its kind: fields of wrong types make it unreadable, unknown ones are dropped and told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from exoscaler.sandbox.kubernetes.failures import bad_request
from exoscaler.sandbox.kubernetes.object_metadata import parse_time
from exoscaler.sandbox.kubernetes.quantities import parse_quantity
from exoscaler.sandbox.kubernetes.wire.schema import FieldType, json_fields, schema
from exoscaler.sandbox.objects import JsonObject

_TYPE_FIELDS = ("apiVersion", "kind")


@dataclass(slots=True)
class Conformed:
    """An object with the fields of its kind only, and the paths of those that it does not have."""

    obj: JsonObject
    unknown: list[str] = field(default_factory=list)


def conform(obj: JsonObject, group_version: str, kind: str) -> Conformed:
    """The object as its kind reads it; nulls are dropped. A kind without a schema is taken as it is.

    Raises:
        ApiFailure: 400, a field holds a value of the wrong type.
    """
    found = schema().of_kind(group_version, kind)
    if found is None:
        return Conformed(obj)
    unknown: list[str] = []
    try:
        return Conformed(_conform_object(found.name, obj, "", unknown), unknown)
    except _WrongType as error:
        version = group_version.rpartition("/")[2]
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}') from error


class _WrongType(Exception):
    def __init__(self, path: str, value: object, form: str) -> None:
        super().__init__(f"json: cannot unmarshal {_json_type(value)} into field {path} of type {form}")


def _conform_object(type_name: str, obj: JsonObject, path: str, unknown: list[str]) -> JsonObject:
    fields = json_fields(type_name)
    result: JsonObject = {}
    for name, value in obj.items():
        place = f"{path}.{name}" if path else name
        field_type = fields.get(name)
        if field_type is None and name in _TYPE_FIELDS and "metadata" in fields:
            result[name] = value
        elif field_type is None:
            unknown.append(place)
        elif value is not None:
            result[name] = _conform_field(field_type, value, place, unknown)
    return result


def _conform_field(field_type: FieldType, value: object, path: str, unknown: list[str]) -> object:
    form = field_type.form
    if field_type.is_list:
        if not isinstance(value, list):
            raise _WrongType(path, value, f"[]{form}")
        return [_conform_value(form, item, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
    if field_type.is_map:
        if not isinstance(value, dict):
            raise _WrongType(path, value, f"map[string]{form}")
        return {
            key: _conform_value(form, item, f"{path}.{key}", unknown) for key, item in value.items() if item is not None
        }
    return _conform_value(form, value, path, unknown)


def _conform_value(form: str, value: object, path: str, unknown: list[str]) -> object:
    check = _CHECKS.get(form)
    if check is not None:
        if not check(value):
            raise _WrongType(path, value, form)
        return value
    if not isinstance(value, dict):
        raise _WrongType(path, value, form)
    return _conform_object(form, value, path, unknown)


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, str) and parse_time(value) is not None


_CHECKS: dict[str, Callable[[object], bool]] = {
    "string": _is_string,
    "bytes": _is_string,
    "Duration": _is_string,
    "int": _is_integer,
    "double": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "bool": lambda value: isinstance(value, bool),
    "Time": _is_time,
    "MicroTime": _is_time,
    "Quantity": lambda value: parse_quantity(value) is not None,
    "IntOrString": lambda value: _is_string(value) or _is_integer(value),
    "Raw": lambda _value: True,
}


def _json_type(value: object) -> str:
    names = ((bool, "bool"), (str, "string"), (dict, "object"), (list, "array"), (type(None), "null"))
    return next((name for kind, name in names if isinstance(value, kind)), "number")
