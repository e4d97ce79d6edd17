"""Asynchronous operations: what a change answers with, and how it ends."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from enum import StrEnum

from exoscaler.sandbox.exoscale.errors import NotFound

MAX_KEPT = 10_000
"""How many operations can still be asked for; the oldest are forgotten. The real retention is not documented."""


class OperationState(StrEnum):
    """``pending`` until one of the other three, which are final."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"


class OperationReason(StrEnum):
    """Why an operation did not succeed, in the API's words."""

    BUSY = "busy"
    CONFLICT = "conflict"
    FAULT = "fault"
    FORBIDDEN = "forbidden"
    INCORRECT = "incorrect"
    INTERRUPTED = "interrupted"
    NOT_FOUND = "not-found"
    PARTIAL = "partial"
    UNAVAILABLE = "unavailable"
    UNKNOWN = "unknown"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Reference:
    """What an operation is about: the object, its path with ``/v2``, and the operation that reads it."""

    id: str
    link: str
    command: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an operation ends. `reason` is None and `message` empty when it succeeds."""

    state: OperationState
    reason: OperationReason | None = None
    message: str = ""


SUCCEEDED = Outcome(OperationState.SUCCESS)


def failed(reason: OperationReason, message: str) -> Outcome:
    """The outcome of an operation that failed."""
    return Outcome(OperationState.FAILURE, reason, message)


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as it stands."""

    id: str
    reference: Reference
    state: OperationState = OperationState.PENDING
    reason: OperationReason | None = None
    message: str = ""


class Operations:
    """The operations that can still be asked for. Not thread-safe."""

    def __init__(self) -> None:
        self._operations: OrderedDict[str, Operation] = OrderedDict()

    def begin(self, operation_id: str, reference: Reference) -> Operation:
        """A new pending operation."""
        operation = Operation(operation_id, reference)
        self._operations[operation_id] = operation
        while len(self._operations) > MAX_KEPT:
            self._operations.popitem(last=False)
        return operation

    def end(self, operation_id: str, outcome: Outcome) -> None:
        """Let an operation end; nothing happens when it is forgotten already."""
        operation = self._operations.get(operation_id)
        if operation is not None:
            self._operations[operation_id] = replace(
                operation, state=outcome.state, reason=outcome.reason, message=outcome.message
            )

    def get(self, operation_id: str) -> Operation:
        """The operation as it stands; NotFound (404) when it is unknown."""
        operation = self._operations.get(operation_id)
        if operation is None:
            raise NotFound(f"Operation {operation_id} not found")
        return operation

    def all(self) -> tuple[Operation, ...]:
        """All that can still be asked for, oldest first."""
        return tuple(self._operations.values())
