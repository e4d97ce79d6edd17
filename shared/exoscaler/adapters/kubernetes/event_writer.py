"""Kubernetes events: what happened, told where ``kubectl describe`` shows it.

The same event within an hour of the clock is one object whose count rises. Its name is made from what it says, so that
any invocation finds the object that another one made, without remembering anything.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import msgspec

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import malformed
from exoscaler.adapters.kubernetes.calls import EVENTS, Call, JsonObject, Verb
from exoscaler.adapters.kubernetes.retries import is_transient
from exoscaler.errors import Conflict, ExoscalerError, NotFound
from exoscaler.ports.cluster import ClusterEvent

COMPONENT = "exoscaler"
MESSAGE_LIMIT = 1024
"""Bytes; the API refuses longer messages."""
_NAMESPACE_OF_CLUSTER_SCOPED = "default"
_NAME_LIMIT = 253
_CUT = "…"
_EXISTS = 409
ROUNDS = 5


class _Metadata(msgspec.Struct, rename="camel"):
    resource_version: str


class _Event(msgspec.Struct):
    metadata: _Metadata
    count: int | None = None


def write_event(access: Access, event: ClusterEvent) -> None:
    """Write the event, or count it up if it was written within this hour.

    Raises:
        RemoteError: it could not be written.
    """
    now = access.clock.now().astimezone(UTC)
    namespace = event.subject_namespace or _NAMESPACE_OF_CLUSTER_SCOPED
    name = event_name(event, now)

    def one_round() -> None:
        created = access.ask(Call(Verb.CREATE, EVENTS, namespace=namespace, name=name, body=_body(event, name, now)))
        if created.status != _EXISTS:
            created.content()
            return
        try:
            _count_up(access, namespace, name, now)
        except NotFound as error:
            detail = "the event was removed while it was counted up"
            raise Conflict(error.operation, error.target, status=_EXISTS, detail=detail) from error

    def again(error: ExoscalerError) -> bool:
        # Counted up by others in between, or removed in between because its time had come.
        return (isinstance(error, Conflict) and error.status == _EXISTS) or is_transient(error)

    access.patience.repeat(one_round, attempts=ROUNDS, again=again)


def event_name(event: ClusterEvent, now: datetime) -> str:
    """The name under which this event of this hour is found again."""
    says = (
        event.subject_kind,
        event.subject_namespace,
        event.subject_name,
        event.subject_uid,
        event.type,
        event.reason,
        event.message,
        now.strftime("%Y-%m-%dT%H"),
    )
    digest = hashlib.sha256("\0".join(says).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{event.subject_name[: _NAME_LIMIT - len(digest) - 1].rstrip('.-')}.{digest}"


def cut(message: str, limit: int = MESSAGE_LIMIT) -> str:
    """The message within a number of bytes, never cut inside a character."""
    whole = message.encode("utf-8", "replace")
    if len(whole) <= limit:
        return whole.decode()
    return whole[: limit - len(_CUT.encode())].decode("utf-8", "ignore") + _CUT


def _count_up(access: Access, namespace: str, name: str, now: datetime) -> None:
    call = Call(Verb.GET, EVENTS, namespace=namespace, name=name)
    content = access.ask(call).content()
    try:
        found = msgspec.json.decode(content, type=_Event)
    except msgspec.DecodeError as error:
        raise malformed(call, error) from error
    patch: JsonObject = {
        "metadata": {"resourceVersion": found.metadata.resource_version},
        "count": (found.count or 1) + 1,
        "lastTimestamp": _stamp(now),
    }
    access.ask(Call(Verb.PATCH, EVENTS, namespace=namespace, name=name, body=patch)).content()


def _body(event: ClusterEvent, name: str, now: datetime) -> JsonObject:
    subject: JsonObject = {
        "apiVersion": "v1",
        "kind": event.subject_kind.value,
        "name": event.subject_name,
        **({"namespace": event.subject_namespace} if event.subject_namespace else {}),
        **({"uid": event.subject_uid} if event.subject_uid else {}),
    }
    namespace = event.subject_namespace or _NAMESPACE_OF_CLUSTER_SCOPED
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": name, "namespace": namespace, "annotations": dict(event.annotations)},
        "involvedObject": subject,
        "type": event.type.value,
        "reason": event.reason,
        "message": cut(event.message),
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": COMPONENT,
        "firstTimestamp": _stamp(now),
        "lastTimestamp": _stamp(now),
        "count": 1,
    }


def _stamp(now: datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
