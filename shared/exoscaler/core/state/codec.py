"""State to stored documents and back. The same state gives the same bytes, whatever order its entries came in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from exoscaler.core.state.documents import (
    VERSION,
    NodeGroupsDocument,
    ObservationsDocument,
    OperationsDocument,
    State,
)
from exoscaler.core.state.migrations import MIGRATIONS, Documents, JsonObject, Migration, migrate
from exoscaler.core.state.payload import (
    DOCUMENTS,
    NODE_GROUPS,
    OBSERVATIONS,
    OPERATIONS,
    Payload,
    UnreadableState,
    as_text,
    packed,
    unpacked,
)
from exoscaler.errors import StateTooLarge

TEXT_LIMIT = 256 * 1024
"""Up to this many bytes the state stays text that people can read with kubectl; past it, it is compressed."""

SIZE_LIMIT = 1_000_000
"""A ConfigMap holds 1,048,576 bytes of keys and values; the rest is left to whoever adds keys of their own."""

_TOLD_PARTS = 3
_TOLD_MISTAKES = 3

D = TypeVar("D", bound=BaseModel)


class _Versioned(BaseModel):
    """Any document, as far as its version goes."""

    model_config = ConfigDict(extra="ignore")

    version: int


def encode(state: State, *, text_limit: int = TEXT_LIMIT, size_limit: int = SIZE_LIMIT) -> Payload:
    """What to store for a state.

    Raises:
        StateTooLarge: it does not fit, even compressed; the message names what takes the room.
    """
    documents = {name: _written(document) for name, document in _by_name(state).items()}
    payload = as_text(documents)
    if payload.size > text_limit:
        payload = packed(documents)
    if payload.size > size_limit:
        raise StateTooLarge(_too_large(state, payload.size, size_limit))
    return payload


def decode(payload: Payload, *, migrations: Mapping[int, Migration] = MIGRATIONS) -> State:
    """The state that is stored; an empty one when no document is.

    Raises:
        UnreadableState: damaged, incomplete, of an unknown version, or not what its version promises.
    """
    if payload.is_empty:
        return State()
    documents = unpacked(payload)
    version = _common_version(documents)
    if version < VERSION:
        parsed: Documents = {name: _parsed(name, content) for name, content in documents.items()}
        parsed = migrate(parsed, version, migrations)
        documents = {name: json.dumps(parsed.get(name)).encode() for name in DOCUMENTS}
    state = State(
        node_groups=_document(NODE_GROUPS, NodeGroupsDocument, documents),
        operations=_document(OPERATIONS, OperationsDocument, documents),
        observations=_document(OBSERVATIONS, ObservationsDocument, documents),
    )
    _refuse_times_without_zone(state)
    return state


def _by_name(state: State) -> dict[str, BaseModel]:
    return {NODE_GROUPS: state.node_groups, OPERATIONS: state.operations, OBSERVATIONS: state.observations}


def _written(document: BaseModel) -> bytes:
    content = json.dumps(
        document.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    # Half a surrogate pair can come in with a remote's text; it must not keep the whole state from being written.
    return content.encode("utf-8", "replace")


def _common_version(documents: Mapping[str, bytes]) -> int:
    versions = {name: _validated(name, _Versioned, content).version for name, content in documents.items()}
    if len(set(versions.values())) > 1:
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        raise UnreadableState(f"its documents are of different versions: {told}")
    version = versions[NODE_GROUPS]
    if version > VERSION:
        raise UnreadableState(f"its version {version} is newer than this release knows ({VERSION})")
    return version


def _parsed(name: str, content: bytes) -> JsonObject:
    document = json.loads(content)
    if not isinstance(document, dict):
        raise UnreadableState(f"{name} is not a JSON object")
    return document


def _document(name: str, model: type[D], documents: Mapping[str, bytes]) -> D:
    return _validated(name, model, documents[name])


def _validated(name: str, model: type[D], content: bytes) -> D:
    try:
        return model.model_validate_json(content, strict=True)
    except ValidationError as error:
        mistakes = error.errors(include_url=False, include_context=False, include_input=False)
        told = [
            f"{'.'.join(str(part) for part in m['loc']) or 'document'}: {m['msg']}" for m in mistakes[:_TOLD_MISTAKES]
        ]
        more = f" and {len(mistakes) - _TOLD_MISTAKES} more" if len(mistakes) > _TOLD_MISTAKES else ""
        raise UnreadableState(f"{name}: {'; '.join(told)}{more}") from error


def _refuse_times_without_zone(state: State) -> None:
    """Groups and operations are plain dataclasses, whose times pydantic takes without a zone, too.

    Such a time cannot be compared with any other; it would fail the first decision that looks at it.
    """
    operations = state.operations
    records = (
        *state.node_groups.groups.values(),
        *operations.growing,
        *operations.shrinking,
        *operations.claims,
        *operations.ended_growing,
        *operations.ended_shrinking,
    )
    for record in records:
        for name, value in _values(record):
            if isinstance(value, datetime) and value.tzinfo is None:
                raise UnreadableState(f"{name} of a {type(record).__name__} has no time zone")


def _values(record: object) -> list[tuple[str, object]]:
    if not is_dataclass(record):
        return []
    return [(field.name, getattr(record, field.name)) for field in fields(record)]


def _too_large(state: State, size: int, limit: int) -> str:
    parts = [
        (len(json.dumps(value)), f"{document}.{part}", len(value))
        for document, model in _by_name(state).items()
        for part, value in model.model_dump(mode="json").items()
        if isinstance(value, list | dict)
    ]
    largest = sorted(parts, reverse=True)[:_TOLD_PARTS]
    told = ", ".join(f"{name} ({count:,} entries, {length:,} bytes)" for length, name, count in largest)
    return (
        f"the state takes {size:,} bytes compressed, {limit:,} are allowed; "
        f"before compression most of it is {told}. Let each exoscaler manage fewer nodes"
    )
