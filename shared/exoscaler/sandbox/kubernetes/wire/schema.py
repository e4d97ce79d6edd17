"""The types of the API: their fields with JSON names, protobuf numbers and forms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TypeAlias

_PACKAGE = "exoscaler.sandbox.kubernetes.wire"
_LIST, _MAP, _POINTER, _ALWAYS = "[]", "{}", "*", "!"


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field. `form` is the name of a type or a basic form; `inline` ones merge into their parent in JSON."""

    number: int
    name: str
    form: str
    is_list: bool
    is_map: bool
    is_optional: bool
    is_always_sent: bool

    @property
    def inline(self) -> bool:
        """True for a field whose own fields belong to the parent in JSON."""
        return self.name == "."


@dataclass(frozen=True, slots=True)
class ObjectType:
    """One type of object."""

    name: str
    fields: tuple[FieldType, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """All types, and which kind is which."""

    types: dict[str, ObjectType]
    kinds: dict[tuple[str, str], str]

    def of_kind(self, group_version: str, kind: str) -> ObjectType | None:
        """The type of a kind; options of deletions have every group's version."""
        if kind == "DeleteOptions":
            return self.types[kind]
        name = self.kinds.get((group_version, kind))
        return self.types[name] if name else None


JsonFields: TypeAlias = dict[str, FieldType]


@cache
def schema() -> Schema:
    """The schema, read once."""
    types: dict[str, ObjectType] = {}
    kinds: dict[tuple[str, str], str] = {}
    for line in resources.files(_PACKAGE).joinpath("types.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if " = " in line:
            head, _, name = line.partition(" = ")
            group_version, _, kind = head.partition(" ")
            kinds[group_version, kind] = name
        else:
            name, _, fields = line.partition(": ")
            types[name] = ObjectType(name, tuple(_field(source) for source in fields.split()))
    return Schema(types, kinds)


@cache
def json_fields(type_name: str) -> JsonFields:
    """The fields of a type by their JSON names, those of inline fields among them."""
    found: JsonFields = {}
    for field in schema().types[type_name].fields:
        if field.inline:
            found.update(json_fields(field.form))
        else:
            found[field.name] = field
    return found


def _field(source: str) -> FieldType:
    number, name, form = source.split(":")
    is_optional, is_always_sent = form.startswith(_POINTER), form.startswith(_ALWAYS)
    form = form.removeprefix(_POINTER).removeprefix(_ALWAYS)
    is_list, is_map = form.startswith(_LIST), form.startswith(_MAP)
    bare = form.removeprefix(_LIST).removeprefix(_MAP)
    return FieldType(int(number), name, bare, is_list, is_map, is_optional, is_always_sent)
