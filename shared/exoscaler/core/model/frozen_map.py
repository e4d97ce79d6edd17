"""An immutable, hashable mapping: labels, annotations, extended resources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

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
