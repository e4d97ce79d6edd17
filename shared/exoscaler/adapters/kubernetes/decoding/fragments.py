"""What is certain about an object that as a whole is not understood."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

UNKNOWN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands for a time that could not be read: long ago, so that nothing waits for it."""


@dataclass(frozen=True, slots=True)
class Fragments:
    """A JSON object to pick values from. What is absent or of the wrong type reads as None or empty.

    Attributes:
        name: the object's name, with its namespace if it has one; empty when there is none.
    """

    content: Mapping[str, object]

    @classmethod
    def of(cls, content: bytes) -> Fragments:
        """Of one object.

        Raises:
            ValueError: it is no JSON object.
        """
        return cls(msgspec.json.decode(content, type=dict[str, object]))

    @property
    def name(self) -> str:
        """``namespace/name``, or the name alone."""
        parts = (self.text("metadata", "namespace"), self.text("metadata", "name"))
        return "/".join(part for part in parts if part)

    def text(self, *path: str) -> str:
        """A text; empty when there is none."""
        found = self._at(path)
        return found if isinstance(found, str) else ""

    def certain_text(self, *path: str) -> str:
        """A text that must be there.

        Raises:
            ValueError: it is not.
        """
        found = self.text(*path)
        if not found:
            raise ValueError(f"an object of the list has no {'.'.join(path)}")
        return found

    def absent(self, *path: str) -> bool:
        """Whether there is nothing at all there, not even something of the wrong type."""
        return self._at(path) is None

    def texts(self, *path: str) -> dict[str, str]:
        """Those entries of a mapping whose value is a text."""
        found = self._at(path)
        if not isinstance(found, dict):
            return {}
        return {str(key): value for key, value in found.items() if isinstance(value, str)}

    def time(self, *path: str) -> datetime | None:
        """A time with a zone, None when there is none."""
        try:
            found = msgspec.convert(self._at(path), datetime)
        except msgspec.ValidationError:
            return None
        return found if found.tzinfo is not None else None

    def _at(self, path: tuple[str, ...]) -> object:
        found: object = self.content
        for part in path:
            found = found.get(part) if isinstance(found, dict) else None
        return found
