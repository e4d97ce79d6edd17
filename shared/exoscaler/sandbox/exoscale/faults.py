"""Which faults are set, which of them strikes now, and how often each has struck."""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass
from typing import TypeVar

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale.fault_kinds import Fault
from exoscaler.sandbox.exoscale.operation_ids import OperationId

KindT = TypeVar("KindT")


@dataclass(slots=True)
class _Rule:
    fault: Fault
    ends: float | None
    skipped: int = 0
    strikes: int = 0

    def active(self, now: float) -> bool:
        expired = self.ends is not None and now >= self.ends
        used_up = self.fault.count is not None and self.strikes >= self.fault.count
        return not expired and not used_up

    def strike(self) -> bool:
        """Count a match; False while it is one of those to skip."""
        if self.skipped < self.fault.skip:
            self.skipped += 1
            return False
        self.strikes += 1
        return True


@dataclass(frozen=True, slots=True)
class FaultStatus:
    """A fault that is set: its id, how often it has struck, and whether it still can."""

    id: str
    fault: Fault
    strikes: int
    active: bool


class Faults:
    """The faults that are set. Thread-safe. Where several match, the one that was added first strikes."""

    def __init__(self, clock: SandboxClock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rules: dict[str, _Rule] = {}
        self._numbers = itertools.count(1)

    def add(self, fault: Fault) -> str:
        """Set a fault; returns its id."""
        with self._lock:
            fault_id = f"fault-{next(self._numbers)}"
            ends = None if fault.duration is None else self._clock.monotonic() + fault.duration
            self._rules[fault_id] = _Rule(fault, ends)
            return fault_id

    def remove(self, fault_id: str) -> bool:
        """Remove one fault; False when there is none with this id."""
        with self._lock:
            return self._rules.pop(fault_id, None) is not None

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._rules.clear()

    def status(self) -> tuple[FaultStatus, ...]:
        """The faults that are set, used-up and expired ones included, in the order they were added."""
        with self._lock:
            now = self._clock.monotonic()
            return tuple(
                FaultStatus(fault_id, rule.fault, rule.strikes, rule.active(now))
                for fault_id, rule in self._rules.items()
            )

    def take(
        self,
        kinds: tuple[type[KindT], ...],
        operation: OperationId | None,
        pool_keys: frozenset[str] = frozenset(),
    ) -> KindT | None:
        """The fault of one of these kinds that strikes here and now, if any; taking it uses up one of its count."""
        with self._lock:
            now = self._clock.monotonic()
            for rule in self._rules.values():
                fault = rule.fault
                if not isinstance(fault, kinds):
                    continue
                if rule.active(now) and fault.matches(operation, pool_keys) and rule.strike():
                    return fault
            return None
