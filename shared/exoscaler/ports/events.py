"""What wakes a function, and what one function tells the next.

Events only save time: they may be lost, doubled, late or out of order, and nothing but latency depends on them.
That is why an event is reduced to a `Wakeup` here: a hint that something may be worth a look, and, where the event
proves it, the reason why a look would find nothing to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping


class FunctionName(StrEnum):
    """The functions that events wake."""

    REFRESH = "refresh"
    EVALUATE = "evaluate"
    SCALE_UP = "scale-up"
    SCALE_DOWN = "scale-down"


class WakeupKind(StrEnum):
    """What kind of thing woke the function."""

    TICK = "tick"
    """A cron source, or a plain POST: asks to look, says nothing."""
    POD = "pod"
    NODE = "node"
    KUBERNETES_EVENT = "kubernetes-event"
    """An Event object of the cluster, such as FailedScheduling."""
    OPERATION_PLANNED = "operation-planned"
    """`evaluate` recorded an operation."""
    OTHER = "other"
    """A valid event of another type or about another object: whoever sends it here wants a look taken, as by a tick."""


class ChangeKind(StrEnum):
    """What happened to the object."""

    ADDED = "added"
    UPDATED = "updated"
    DELETED = "deleted"


class OperationKind(StrEnum):
    """Which way an operation changes its group; decides which function carries it out."""

    GROW = "grow"
    SHRINK = "shrink"


class Relevance(StrEnum):
    """Whether an event shows something to do, or why it shows nothing.

    Every member but RELEVANT is a proof taken from the event itself. What an event does not say (in Knative's
    Reference mode: nearly all) counts as RELEVANT, since a needless look costs one read and a missed one a minute.
    """

    RELEVANT = "relevant"
    POD_ALREADY_BOUND = "pod-already-bound"
    """The pod has a node: it needs no capacity (R14)."""
    POD_FINISHED = "pod-finished"
    """The pod succeeded or failed: it needs no capacity, and what it frees the scheduler gives away (R12)."""
    POD_DELETED = "pod-deleted"
    """The pod is gone: less demand never needs a node, and idle nodes are the tick's business."""
    POD_BEING_DELETED = "pod-being-deleted"
    """The pod was deleted before it had a node (R14)."""
    POD_NOMINATED = "pod-nominated"
    """Preemption has set a node aside for the pod (R14, R16)."""
    POD_GATED = "pod-gated"
    """Scheduling gates hold the pod back; their removal is an update of its own (R211)."""
    POD_NOT_TRIED_YET = "pod-not-tried-yet"
    """The default scheduler has not judged the pod yet; its verdict is an update of its own (R14)."""
    POD_OF_DAEMON_SET = "pod-of-daemon-set"
    """A DaemonSet's pod belongs to one existing node: no new node helps it (R27)."""
    NODE_STEADY = "node-steady"
    """The node has been healthy for minutes: a heartbeat, a label, a taint. What follows for pods, the scheduler says
    of the pods; what follows for timers, the tick finds."""
    EVENT_NOT_ABOUT_SCHEDULING = "event-not-about-scheduling"
    """A cluster Event that is not the scheduler's failure to place a pod."""
    EVENT_EXPIRED = "event-expired"
    """A cluster Event was deleted, as the API server does after an hour."""
    NOT_FOR_THIS_FUNCTION = "not-for-this-function"
    """Another function's business, whatever it shows."""


_LOOKS = frozenset({WakeupKind.TICK, WakeupKind.OTHER})

_WAKES: Mapping[FunctionName, frozenset[WakeupKind]] = MappingProxyType(
    {
        FunctionName.REFRESH: _LOOKS,
        FunctionName.EVALUATE: _LOOKS | {WakeupKind.POD, WakeupKind.NODE, WakeupKind.KUBERNETES_EVENT},
        FunctionName.SCALE_UP: _LOOKS | {WakeupKind.OPERATION_PLANNED, WakeupKind.NODE},
        FunctionName.SCALE_DOWN: _LOOKS | {WakeupKind.OPERATION_PLANNED, WakeupKind.NODE, WakeupKind.POD},
    }
)

# What shows evaluate nothing may still be what an actuator waits for: a pod that ended or left (the drain goes on), a
# replacement that became ready elsewhere (its budget allows the next eviction), a steady node that lost its last
# startup taint or gained its GPUs (the scale-up is done).
_SHOWS_ACTUATORS_SOMETHING: Mapping[FunctionName, frozenset[Relevance]] = MappingProxyType(
    {
        FunctionName.SCALE_UP: frozenset({Relevance.NODE_STEADY}),
        FunctionName.SCALE_DOWN: frozenset(
            {Relevance.POD_ALREADY_BOUND, Relevance.POD_FINISHED, Relevance.POD_DELETED},
        ),
    }
)

_CARRIED_OUT_BY: Mapping[OperationKind, FunctionName] = MappingProxyType(
    {OperationKind.GROW: FunctionName.SCALE_UP, OperationKind.SHRINK: FunctionName.SCALE_DOWN}
)


@dataclass(frozen=True, slots=True)
class Wakeup:
    """What woke a function.

    Attributes:
        kind: what sort of event it was.
        id: the sender's id of the event; empty for a plain POST. Unique only together with `source`, and the same
            again when the sender repeats itself.
        source: who sent it; empty for a plain POST.
        occurred_at: when the sender says it happened, with time zone; None when it does not say.
        subject_namespace: the object's namespace; empty for nodes and for what is about no object.
        subject_name: the object's name. For a cluster Event it is the object the Event is about, or, when the sender
            left the body out (Reference mode), the Event object itself.
        change: what happened to the object, None when the event is about no object.
        relevance: what the event shows by itself; `relevance_to` says it for one function.
        operation_id: of the planned operation, for OPERATION_PLANNED.
        group_id: of the planned operation's group, for OPERATION_PLANNED.
        operation_kind: of the planned operation, for OPERATION_PLANNED.
        trace_parent: W3C trace context to go on with, None when there is none or it is not valid.
    """

    kind: WakeupKind
    id: str = ""
    source: str = ""
    occurred_at: datetime | None = None
    subject_namespace: str = ""
    subject_name: str = ""
    change: ChangeKind | None = None
    relevance: Relevance = Relevance.RELEVANT
    operation_id: str = ""
    group_id: str = ""
    operation_kind: OperationKind | None = None
    trace_parent: str | None = None

    def relevance_to(self, function: FunctionName) -> Relevance:
        """Says whether `function` could find something to do, or why it need not look.

        RELEVANT means: look. Any other answer means: answer the sender at once, without any call.
        """
        if self.kind not in _WAKES[function]:
            return Relevance.NOT_FOR_THIS_FUNCTION
        if self.operation_kind is not None and _CARRIED_OUT_BY[self.operation_kind] is not function:
            return Relevance.NOT_FOR_THIS_FUNCTION
        if self.relevance in _SHOWS_ACTUATORS_SOMETHING.get(function, frozenset()):
            return Relevance.RELEVANT
        return self.relevance


@dataclass(frozen=True, slots=True)
class OperationPlanned:
    """The news that an operation is in the state, waiting to be carried out.

    Attributes:
        operation_id: of the operation, as in the state.
        group_id: the group's Instance Pool id.
        group_name: the group's name, for people.
        kind: which way the group changes.
        decision_id: of the evaluation that decided it.
        planned_at: when it was decided, with time zone.
        trace_parent: W3C trace context of the evaluation, None when it has none.

    Raises:
        ValueError: on construction, when `operation_id` or `group_id` is empty or `planned_at` has no time zone.
    """

    operation_id: str
    group_id: str
    group_name: str
    kind: OperationKind
    decision_id: str
    planned_at: datetime
    trace_parent: str | None = None

    def __post_init__(self) -> None:
        if not self.operation_id or not self.group_id:
            raise ValueError("a planned operation needs an operation id and a group id")
        if self.planned_at.utcoffset() is None:
            raise ValueError("planned_at needs a time zone")


class EventSink(Protocol):
    """Where a function tells the next one that there is work."""

    def operation_planned(self, event: OperationPlanned) -> None:
        """Tells whoever carries out operations of this kind that one is in the state.

        Best effort and bounded to a few seconds: call it only after the state is saved. Returning means that the
        receiver has taken the event, or that no receiver is set up. Sending the same operation again is harmless:
        the event has the same id, and its receiver looks at the state.

        Raises:
            RemoteError: the event was not delivered, or nobody knows (`took_effect`). Nothing is lost but time: the
                next tick finds the operation in the state. Log it and go on.
        """
        ...
