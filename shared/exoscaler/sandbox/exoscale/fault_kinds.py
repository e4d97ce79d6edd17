"""The kinds of trouble that the simulated cloud can be asked to make.

Every fault says where it strikes (an operation, a pool, or anything), how often, and for how long. Written in JSON
it is one object with a ``kind``: ``{"kind": "status", "status": 429, "retry-after": 5, "count": 2}``.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self, TypeAlias

from pydantic import Field, TypeAdapter, model_validator

from exoscaler.sandbox.exoscale.kebab import KebabModel
from exoscaler.sandbox.exoscale.operation_ids import CHANGES, SCALES, OperationId
from exoscaler.sandbox.exoscale.operations import OperationReason
from exoscaler.sandbox.exoscale.scenario import QuotaSurface, Uuid
from exoscaler.sandbox.machines.view import MachineState

Seconds = Annotated[float, Field(ge=0, le=86_400)]

_MESSAGES = {
    400: "Request validation failed",
    401: "Unauthorized",
    403: "Forbidden by role policy",
    404: "Not found",
    409: "The nodepool is already being updated.",
    429: "Too many requests",
    500: "Internal server error",
    502: "Bad gateway",
    503: "Service unavailable",
    504: "Gateway timeout",
}


class _Fault(KebabModel):
    """Where, how often and how long a fault strikes.

    `operation` None means any; `pool` is an Instance Pool's or SKS Nodepool's id and restricts the fault to requests
    that name that pool in their path, or to the pool's own changes and members. The first `skip` matches pass
    unharmed, then `count` are struck (None: all). `duration` is in seconds of simulated time from the moment the
    fault is added (None: until it is removed).
    """

    strikes: ClassVar[frozenset[OperationId]] = frozenset(OperationId)

    operation: OperationId | None = None
    pool: Uuid | None = None
    skip: int = Field(default=0, ge=0)
    count: int | None = Field(default=None, ge=1)
    duration: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _can_strike(self) -> Self:
        if self.operation is not None and self.operation not in self.strikes:
            able = ", ".join(sorted(self.strikes))
            message = f"this kind of fault cannot strike {self.operation}, only {able}"
            raise ValueError(message)
        return self

    def matches(self, operation: OperationId | None, pool_keys: frozenset[str]) -> bool:
        """Whether it strikes here. `operation` is None for what the cloud does without being asked over the API."""
        return (self.operation is None or self.operation == operation) and (self.pool is None or self.pool in pool_keys)


class StatusFault(_Fault):
    """The request is answered with an error and has no effect. `retry_after` becomes the header, in seconds."""

    kind: Literal["status"] = "status"
    status: int = Field(ge=400, le=599)
    retry_after: int | None = Field(default=None, ge=0)
    message: str = ""

    @property
    def text(self) -> str:
        """The message of the answer."""
        return self.message or _MESSAGES.get(self.status, f"Error {self.status}")


class HangFault(_Fault):
    """The request lies for `seconds` before anything happens, then takes effect even if the client has gone.

    These seconds are the wall's: what they have to outlast is the client's time-out, which no simulation speeds up.
    """

    kind: Literal["hang"] = "hang"
    seconds: Seconds


class DropFault(_Fault):
    """The connection is closed without an answer and without an effect."""

    kind: Literal["drop"] = "drop"


class LostResponseFault(_Fault):
    """The request takes effect, but its answer is lost: the connection is closed, or `status` is answered."""

    kind: Literal["lost-response"] = "lost-response"
    status: int | None = Field(default=None, ge=500, le=599)


class MalformedFault(_Fault):
    """The request takes effect and is answered with 200 and a `body` that is not the promised JSON."""

    kind: Literal["malformed"] = "malformed"
    body: str = '{"id": "5f0c'


class QuotaFault(_Fault):
    """A growing pool finds no room left, whatever the quota says; `surface` None takes the account's way to say so.

    What ``get-quota`` answers does not change: set the quota itself for that.
    """

    strikes: ClassVar[frozenset[OperationId]] = SCALES
    kind: Literal["quota-exhausted"] = "quota-exhausted"
    surface: QuotaSurface | None = None


class OperationFailsFault(_Fault):
    """A change is accepted and its operation fails; with `takes_effect` the change happens all the same."""

    strikes: ClassVar[frozenset[OperationId]] = CHANGES
    kind: Literal["operation-fails"] = "operation-fails"
    reason: OperationReason = OperationReason.UNAVAILABLE
    message: str = "The operation could not be completed"
    takes_effect: bool = False


class OperationTimesOutFault(_Fault):
    """A change is accepted and its operation ends as ``timeout``; without `takes_effect` nothing changes."""

    strikes: ClassVar[frozenset[OperationId]] = CHANGES
    kind: Literal["operation-times-out"] = "operation-times-out"
    takes_effect: bool = True


class OperationStaysPendingFault(_Fault):
    """A change's operation stays ``pending`` for `for_seconds` longer, or for good when that is None.

    The change itself goes on as usual; with `holds_pool` it waits too, and the pool stays busy. Removing the fault
    does not release a change that it holds already.
    """

    strikes: ClassVar[frozenset[OperationId]] = CHANGES
    kind: Literal["operation-stays-pending"] = "operation-stays-pending"
    for_seconds: Seconds | None = None
    holds_pool: bool = False


class NeverBootsFault(_Fault):
    """A new instance stays ``starting``, or ends in ``error`` after its boot time."""

    strikes: ClassVar[frozenset[OperationId]] = SCALES
    kind: Literal["never-boots"] = "never-boots"
    state: Literal[MachineState.STARTING, MachineState.ERROR] = MachineState.STARTING


class NeverRegistersFault(_Fault):
    """A new instance boots, but its kubelet never registers a node."""

    strikes: ClassVar[frozenset[OperationId]] = SCALES
    kind: Literal["never-registers"] = "never-registers"


AnswerFault: TypeAlias = StatusFault | DropFault | LostResponseFault | MalformedFault
"""Faults of a request's answer."""

OperationFault: TypeAlias = OperationFailsFault | OperationTimesOutFault | OperationStaysPendingFault
"""Faults of an accepted change."""

Fault: TypeAlias = Annotated[
    AnswerFault | HangFault | QuotaFault | OperationFault | NeverBootsFault | NeverRegistersFault,
    Field(discriminator="kind"),
]
"""Any fault."""

_FAULTS: TypeAdapter[Fault] = TypeAdapter(Fault)


def fault_from_json(body: bytes) -> Fault:
    """Read one fault; pydantic's ValidationError when it is none."""
    return _FAULTS.validate_json(body)
