"""A request decoded into what woke the function.

====================================== ================== =================================================
type                                   wakeup             what is read of it
====================================== ================== =================================================
(a POST that is no event)              TICK               nothing
dev.knative.sources.ping               TICK               nothing
dev.knative.apiserver.resource.*       POD, NODE,         the object: does it show anything to do?
                                       KUBERNETES_EVENT
dev.knative.apiserver.ref.*            the same           kind and name: everything may show something
dev.knative.apiserver.* of other kinds OTHER              kind and name
dev.exoscaler.operation.planned        OPERATION_PLANNED  operation, group, grow or shrink
any other                              OTHER              nothing
====================================== ================== =================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from exoscaler.adapters.events.encode import OPERATION_PLANNED_TYPE, PlannedOperation
from exoscaler.adapters.events.envelope import Event, PlainPost, check_text, open_request
from exoscaler.adapters.events.objects import ClusterEvent, Node, ObjectHead, Pod, Reference
from exoscaler.adapters.events.relevance import relevance_of_cluster_event, relevance_of_node, relevance_of_pod
from exoscaler.adapters.events.timestamps import parse_timestamp
from exoscaler.errors import EventError
from exoscaler.ports.events import ChangeKind, OperationKind, Relevance, Wakeup, WakeupKind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

PING_TYPE = "dev.knative.sources.ping"

_REFERENCE_TYPES = {
    "dev.knative.apiserver.ref.add": ChangeKind.ADDED,
    "dev.knative.apiserver.ref.update": ChangeKind.UPDATED,
    "dev.knative.apiserver.ref.delete": ChangeKind.DELETED,
}
_RESOURCE_TYPES = {
    "dev.knative.apiserver.resource.add": ChangeKind.ADDED,
    "dev.knative.apiserver.resource.update": ChangeKind.UPDATED,
    "dev.knative.apiserver.resource.delete": ChangeKind.DELETED,
}

_KINDS = {
    ("v1", "Pod"): WakeupKind.POD,
    ("v1", "Node"): WakeupKind.NODE,
    ("v1", "Event"): WakeupKind.KUBERNETES_EVENT,
    ("events.k8s.io/v1", "Event"): WakeupKind.KUBERNETES_EVENT,
}


def decode(method: str, headers: Mapping[str, str], body: bytes) -> Wakeup:
    """Decodes a request into a wakeup.

    Understands CloudEvents 1.0 in binary and structured mode, and takes a POST without any event, with an empty or a
    JSON body, as a tick. Header names may be in any letter case.

    Raises:
        EventError: not a POST (`MethodNotAllowed`), too large (`EventTooLarge`), or not an event that can be read.
            The message says what is wrong and quotes nothing of the request.
    """
    request = open_request(method, headers, body)
    if isinstance(request, PlainPost):
        return Wakeup(WakeupKind.TICK, trace_parent=request.trace_parent)
    occurred_at = _occurred_at(request)
    event_type = request.attributes["type"]
    if event_type == PING_TYPE:
        return _wakeup(request, WakeupKind.TICK, occurred_at)
    if event_type == OPERATION_PLANNED_TYPE:
        return _operation_planned(request, occurred_at)
    if event_type in _REFERENCE_TYPES:
        return _referenced(request, _REFERENCE_TYPES[event_type], occurred_at)
    if event_type in _RESOURCE_TYPES:
        return _enclosed(request, _RESOURCE_TYPES[event_type], occurred_at)
    return _wakeup(request, WakeupKind.OTHER, occurred_at)


def _occurred_at(event: Event) -> datetime | None:
    text = event.attributes.get("time")
    if text is None:
        return None
    try:
        return parse_timestamp(text)
    except ValueError as wrong:
        raise EventError(f"attribute time: {wrong}") from wrong


def _operation_planned(event: Event, occurred_at: datetime | None) -> Wakeup:
    planned = event.data_as(PlannedOperation)
    if not planned.operation_id or not planned.group_id:
        raise EventError("the event's data names no operation or no group")
    check_text(planned.operation_id, "the operation id")
    check_text(planned.group_id, "the group id")
    try:
        kind = OperationKind(planned.kind)
    except ValueError as wrong:
        raise EventError("the event's data has an unknown kind of operation: grow or shrink is known") from wrong
    return Wakeup(
        WakeupKind.OPERATION_PLANNED,
        id=event.attributes["id"],
        source=event.attributes["source"],
        occurred_at=occurred_at,
        operation_id=planned.operation_id,
        group_id=planned.group_id,
        operation_kind=kind,
        trace_parent=event.trace_parent,
    )


def _referenced(event: Event, change: ChangeKind, occurred_at: datetime | None) -> Wakeup:
    """Reference mode: the name alone. Only a deletion proves anything."""
    subject = event.data_as(Reference)
    kind = _object_kind(event, subject)
    return _wakeup(event, kind, occurred_at, change, subject, _relevance_of_deletion(kind, change))


def _enclosed(event: Event, change: ChangeKind, occurred_at: datetime | None) -> Wakeup:
    """Resource mode: the whole object, which often proves that there is nothing to do."""
    head = event.data_as(ObjectHead)
    subject = Reference(head.kind, head.api_version, head.metadata.namespace, head.metadata.name)
    kind = _object_kind(event, subject)
    relevance = _relevance_of_deletion(kind, change)
    if kind is WakeupKind.KUBERNETES_EVENT:
        cluster_event = event.data_as(ClusterEvent)
        if cluster_event.about.name:
            subject = cluster_event.about
            check_text(subject.name, "the name of what the Event is about")
            check_text(subject.namespace, "the namespace of what the Event is about")
        if change is not ChangeKind.DELETED:
            relevance = relevance_of_cluster_event(cluster_event)
    elif kind is WakeupKind.POD and change is not ChangeKind.DELETED:
        relevance = relevance_of_pod(event.data_as(Pod))
    elif kind is WakeupKind.NODE and change is ChangeKind.UPDATED:
        relevance = relevance_of_node(event.data_as(Node), occurred_at)
    return _wakeup(event, kind, occurred_at, change, subject, relevance)


def _object_kind(event: Event, subject: Reference) -> WakeupKind:
    """The kind of the object, which must be named and be the one that the attributes name, as far as they do."""
    if not subject.kind or not subject.name:
        raise EventError("the event's data names no object: kind and name are needed")
    check_text(subject.name, "the object's name")
    check_text(subject.namespace, "the object's namespace")
    told = {
        "kind": subject.kind,
        "apiversion": subject.api_version,
        "name": subject.name,
        "namespace": subject.namespace,
    }
    for attribute, value in told.items():
        if event.attributes.get(attribute, value) != value:
            raise EventError(f"the event's data and its attribute {attribute} name different objects")
    return _KINDS.get((subject.api_version, subject.kind), WakeupKind.OTHER)


def _relevance_of_deletion(kind: WakeupKind, change: ChangeKind) -> Relevance:
    """A deleted node may leave its group short, so only pods and Events can be shrugged off."""
    if change is ChangeKind.DELETED:
        if kind is WakeupKind.POD:
            return Relevance.POD_DELETED
        if kind is WakeupKind.KUBERNETES_EVENT:
            return Relevance.EVENT_EXPIRED
    return Relevance.RELEVANT


def _wakeup(
    event: Event,
    kind: WakeupKind,
    occurred_at: datetime | None,
    change: ChangeKind | None = None,
    subject: Reference | None = None,
    relevance: Relevance = Relevance.RELEVANT,
) -> Wakeup:
    return Wakeup(
        kind,
        id=event.attributes["id"],
        source=event.attributes["source"],
        occurred_at=occurred_at,
        subject_namespace=subject.namespace if subject else "",
        subject_name=subject.name if subject else "",
        change=change,
        relevance=relevance,
        trace_parent=event.trace_parent,
    )
