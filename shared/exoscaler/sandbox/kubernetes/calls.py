"""A record of the requests that the API server got, for tests and demonstrations that count them."""

from __future__ import annotations

import threading
from collections import Counter, deque
from dataclasses import asdict, dataclass

from exoscaler.sandbox.objects import JsonObject

KEPT_CALLS = 10_000


@dataclass(frozen=True, slots=True)
class Call:
    """One request. `verb` is the API's; `status` is 0 when the client got no answer; `at` is an RFC 3339 time stamp."""

    at: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    status: int
    user_agent: str

    @property
    def operation(self) -> str:
        """Verb and resource, such as ``create pods/eviction``."""
        return f"{self.verb} {self.resource}{'/' if self.subresource else ''}{self.subresource}"


class CallLog:
    """The latest calls, and how many there were of each operation. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: deque[Call] = deque(maxlen=KEPT_CALLS)
        self._counts: Counter[str] = Counter()

    def add(self, call: Call) -> None:
        """Record a call."""
        with self._lock:
            self._calls.append(call)
            self._counts[call.operation] += 1

    def calls(self) -> list[Call]:
        """The latest calls, oldest first."""
        with self._lock:
            return list(self._calls)

    def counts(self) -> Counter[str]:
        """How often each operation was called since the last `clear`."""
        with self._lock:
            return Counter(self._counts)

    def clear(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._calls.clear()
            self._counts.clear()

    def to_json(self) -> JsonObject:
        """Calls and counts as the control interface shows them."""
        return {"counts": dict(self.counts()), "calls": [asdict(call) for call in self.calls()]}
