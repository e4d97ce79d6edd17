"""Counts the API calls that reached an operation, so that a demo can show them and a test can limit them."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import dataclass

from exoscaler.sandbox.exoscale.operation_ids import OperationId

MAX_RECORDS = 10_000


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One answered call. `status` is None when the connection was closed instead of an answer."""

    operation: OperationId
    path: str
    body: bytes
    status: int | None


class Calls:
    """Calls by operation: all that carried a valid signature, also those that were refused. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[OperationId] = Counter()
        self._records: deque[CallRecord] = deque(maxlen=MAX_RECORDS)

    def arrived(self, operation: OperationId) -> None:
        """Count a call; it may still be refused, or hang."""
        with self._lock:
            self._counts[operation] += 1

    def answered(self, record: CallRecord) -> None:
        """Remember how a call ended."""
        with self._lock:
            self._records.append(record)

    def counts(self) -> dict[OperationId, int]:
        """The number of calls by operation since the last reset, sorted; operations never called are left out."""
        with self._lock:
            return {operation: self._counts[operation] for operation in sorted(self._counts)}

    def total(self) -> int:
        """The number of calls of any operation since the last reset."""
        with self._lock:
            return self._counts.total()

    def records(self) -> tuple[CallRecord, ...]:
        """The answered calls since the last reset, oldest first; at most the last 10,000."""
        with self._lock:
            return tuple(self._records)

    def reset(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._counts.clear()
            self._records.clear()
