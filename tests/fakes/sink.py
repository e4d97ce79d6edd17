"""A sink that keeps the events it is sent."""

from __future__ import annotations

from exoscaler.errors import RemoteError
from exoscaler.ports.events import OperationPlanned


class FakeSink:
    """Implements `exoscaler.ports.events.EventSink`; `sent` holds what was delivered, in order."""

    def __init__(self) -> None:
        self.sent: list[OperationPlanned] = []
        self._failures: list[RemoteError] = []

    def fail(self, *errors: RemoteError) -> None:
        """Let the next calls fail with these errors, one each, with nothing delivered."""
        self._failures.extend(errors)

    def operation_planned(self, event: OperationPlanned) -> None:
        if self._failures:
            raise self._failures.pop(0)
        self.sent.append(event)
