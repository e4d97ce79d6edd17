"""Keeps a state that cannot be understood, before anything can overwrite it."""

from __future__ import annotations

import hashlib
import json

from exoscaler import logs
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.configmaps import ConfigMap, create_config_map
from exoscaler.adapters.kubernetes.event_writer import write_event
from exoscaler.core.state import Payload
from exoscaler.errors import Conflict, RemoteError
from exoscaler.ports.cluster import ClusterEvent, EventType, SubjectKind

REASON_ANNOTATION = "exoscaler.dev/unreadable-because"
SOURCE_ANNOTATION = "exoscaler.dev/copied-from"
EVENT_REASON = "StateUnreadable"
_REASON_LIMIT = 500
_CONFLICT = 409

_log = logs.get("exoscaler.adapters.kubernetes")


def put_aside(access: Access, namespace: str, name: str, found: ConfigMap, reason: str) -> str:
    """Copy the state into a ConfigMap of its own and say so with a Warning event; returns the copy's name.

    The copy is named after its content, so that doing it again, or doing it twice at once, makes one copy.

    Raises:
        RemoteError: there is no copy, so nothing may overwrite the state. A failure to write the event is only logged.
    """
    reason = reason[:_REASON_LIMIT]
    copy = quarantine_name(name, found.payload)
    annotations = {REASON_ANNOTATION: reason, SOURCE_ANNOTATION: f"{name}@{found.version}"}
    try:
        create_config_map(access, namespace, copy, found.payload, annotations)
    except Conflict as error:
        if error.status != _CONFLICT:
            raise
    _log.error(
        "the stored state cannot be read and was put aside", configmap=f"{namespace}/{name}", copy=copy, why=reason
    )
    event = ClusterEvent(
        subject_kind=SubjectKind.CONFIG_MAP,
        subject_namespace=namespace,
        subject_name=name,
        subject_uid=found.metadata.uid,
        type=EventType.WARNING,
        reason=EVENT_REASON,
        message=f"exoscaler starts from an empty state; the old one is kept in ConfigMap {copy}: {reason}",
    )
    try:
        write_event(access, event)
    except RemoteError as error:
        _log.warning("the event about the unreadable state could not be written", error=error)
    return copy


def quarantine_name(name: str, payload: Payload) -> str:
    """The name of the copy of a content."""
    content = json.dumps(
        [sorted(payload.text.items()), sorted((key, value.hex()) for key, value in payload.binary.items())]
    )
    return f"{name}-quarantine-{hashlib.sha256(content.encode()).hexdigest()[:10]}"
