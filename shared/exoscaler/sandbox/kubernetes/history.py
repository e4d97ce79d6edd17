"""What happened to the objects of one resource, in order, as far back as the sandbox remembers."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from exoscaler.sandbox.kubernetes.failures import expired
from exoscaler.sandbox.kubernetes.resources import ResourceKey
from exoscaler.sandbox.objects import JsonObject

ObjectKey: TypeAlias = tuple[str, str]
"""Namespace (empty for cluster-scoped objects) and name; sorts as the API server lists."""


class ChangeKind(StrEnum):
    """The event types of a watch."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `after` of a deletion is the last state, at the version of the deletion. Not to be modified."""

    version: int
    kind: ChangeKind
    resource: ResourceKey
    key: ObjectKey
    before: JsonObject | None
    after: JsonObject


class ChangeLog:
    """The latest changes of one resource, at most `capacity` of them. Not thread-safe by itself."""

    def __init__(self, capacity: int) -> None:
        self._changes: deque[Change] = deque()
        self._capacity = capacity
        self._oldest_known = 0

    def append(self, change: Change) -> None:
        """Remember a change; the oldest is forgotten when there is no room."""
        self._changes.append(change)
        if len(self._changes) > self._capacity:
            self._oldest_known = self._changes.popleft().version

    def forget(self, up_to: int) -> None:
        """Forget every change up to that version, as a compaction does."""
        while self._changes and self._changes[0].version <= up_to:
            self._changes.popleft()
        self._oldest_known = max(self._oldest_known, up_to)

    def since(self, version: int) -> list[Change]:
        """The changes after that version, oldest first.

        Raises:
            ApiFailure: 410 Expired, some of them are forgotten.
        """
        if version < self._oldest_known:
            raise expired(f"too old resource version: {version} ({self._oldest_known})")
        found: list[Change] = []
        for change in reversed(self._changes):
            if change.version <= version:
                break
            found.append(change)
        found.reverse()
        return found
