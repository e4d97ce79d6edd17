"""An immutable, hashable mapping: labels, annotations, extended resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar, get_args

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

V = TypeVar("V", str, int)


class FrozenMap(Mapping[str, V], Generic[V]):
    """A mapping from strings that cannot change, so that values holding it can be compared, hashed and shared."""

    __slots__ = ("_entries", "_hash")

    def __init__(self, entries: Mapping[str, V] | None = None) -> None:
        self._entries: dict[str, V] = dict(entries or {})
        self._hash: int | None = None

    def __getitem__(self, key: str) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._entries.items()))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, FrozenMap):
            return self._entries == other._entries
        return self._entries == other

    def __repr__(self) -> str:
        return f"FrozenMap({self._entries!r})"

    def with_entry(self, key: str, value: V) -> FrozenMap[V]:
        """This mapping with one entry set."""
        return FrozenMap({**self._entries, key: value})

    def without(self, *keys: str) -> FrozenMap[V]:
        """This mapping less some keys."""
        return FrozenMap({k: v for k, v in self._entries.items() if k not in keys})

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        """In a state document a frozen map reads and writes as a plain JSON object."""
        values = handler.generate_schema(next(iter(get_args(source)), str))
        entries = core_schema.dict_schema(core_schema.str_schema(), values)
        return core_schema.no_info_after_validator_function(
            lambda value: value if isinstance(value, cls) else cls(value),
            core_schema.union_schema([core_schema.is_instance_schema(cls), entries]),
            serialization=core_schema.plain_serializer_function_ser_schema(dict),
        )
