"""The fields that a real server always sends, even when nobody has set them.

Typed clients rely on them: a node's ``nodeInfo`` without its strings, or a budget's status without its counts, is an
object that they cannot read.
"""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.wire.schema import FieldType, json_fields, schema
from exoscaler.sandbox.objects import JsonObject

_ZEROS: dict[str, object] = {"string": "", "int": 0, "double": 0.0, "bool": False, "Quantity": "0"}


def fill_zero_values(obj: JsonObject, group_version: str, kind: str) -> None:
    """Give an object of that kind, in place, the fields that are always there. A complete one stays as it is."""
    found = schema().of_kind(group_version, kind)
    if found is not None:
        _fill(obj, found.name)


def _fill(obj: JsonObject, type_name: str) -> None:
    for name, field in json_fields(type_name).items():
        if name in obj:
            _descend(obj[name], field)
        elif field.is_always_sent:
            obj[name] = _zero(field.form)


def _zero(form: str) -> object:
    if form in _ZEROS:
        return _ZEROS[form]
    empty: JsonObject = {}
    _fill(empty, form)
    return empty


def _descend(value: object, field: FieldType) -> None:
    if field.form not in schema().types:
        return
    if field.is_list and isinstance(value, list):
        nested = value
    elif field.is_map and isinstance(value, dict):
        nested = list(value.values())
    else:
        nested = [value]
    for item in nested:
        if isinstance(item, dict):
            _fill(item, field.form)
