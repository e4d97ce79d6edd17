"""Our own event: written once, read by ourselves and by the official SDK."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from cloudevents.http import from_http
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.adapters.events import ContentMode, EncodedEvent, decode, encode
from exoscaler.ports.events import OperationKind, OperationPlanned, Relevance, Wakeup, WakeupKind

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PLANNED = OperationPlanned(
    operation_id="op-7",
    group_id="2dd0ea3b-4e92-5d2b-8e59-4d9c1dbb3a1f",
    group_name="pool a",
    kind=OperationKind.GROW,
    decision_id="d-3",
    planned_at=datetime(2026, 12, 1, 3, 15, 32, 500, tzinfo=UTC),
)
MODES = pytest.mark.parametrize("mode", ContentMode)


def read_by_the_sdk(message: EncodedEvent) -> tuple[dict[str, str], object]:
    event = from_http({name.lower(): value for name, value in message.headers.items()}, message.body)
    return dict(event.get_attributes()), event.get_data()


def test_binary_event_in_full() -> None:
    message = encode(replace(PLANNED, trace_parent=TRACE))

    assert dict(message.headers) == {
        "ce-specversion": "1.0",
        "ce-id": "op-7.planned",
        "ce-source": "/apis/exoscaler.dev/functions/evaluate",
        "ce-type": "dev.exoscaler.operation.planned",
        "ce-subject": PLANNED.group_id,
        "ce-time": "2026-12-01T03:15:32.000500Z",
        "ce-operationkind": "grow",
        "ce-traceparent": TRACE,
        "Content-Type": "application/json",
    }
    assert json.loads(message.body) == {
        "operationId": "op-7",
        "groupId": PLANNED.group_id,
        "groupName": "pool a",
        "kind": "grow",
        "decisionId": "d-3",
        "plannedAt": "2026-12-01T03:15:32.000500Z",
    }


@MODES
def test_event_is_read_back_as_what_the_actuators_need(mode: ContentMode) -> None:
    message = encode(replace(PLANNED, kind=OperationKind.SHRINK, trace_parent=TRACE), mode)

    assert decode("POST", message.headers, message.body) == Wakeup(
        kind=WakeupKind.OPERATION_PLANNED,
        id="op-7.planned",
        source="/apis/exoscaler.dev/functions/evaluate",
        occurred_at=PLANNED.planned_at,
        relevance=Relevance.RELEVANT,
        operation_id="op-7",
        group_id=PLANNED.group_id,
        operation_kind=OperationKind.SHRINK,
        trace_parent=TRACE,
    )


@MODES
def test_official_sdk_reads_the_event(mode: ContentMode) -> None:
    attributes, data = read_by_the_sdk(encode(PLANNED, mode))

    assert attributes["type"] == "dev.exoscaler.operation.planned"
    assert attributes["id"] == "op-7.planned"
    assert attributes["operationkind"] == "grow"
    assert "traceparent" not in attributes
    assert isinstance(data, dict)
    assert data["groupName"] == "pool a"


@MODES
def test_repeat_of_an_event_is_a_duplicate_byte_for_byte(mode: ContentMode) -> None:
    assert encode(PLANNED, mode) == encode(replace(PLANNED), mode)
    assert encode(replace(PLANNED, operation_id="op-8"), mode) != encode(PLANNED, mode)


def test_time_is_sent_in_utc() -> None:
    local = PLANNED.planned_at.astimezone(timezone(timedelta(hours=1)))

    assert encode(replace(PLANNED, planned_at=local)) == encode(PLANNED)


@given(
    st.text(st.characters(exclude_categories=("Cc", "Cs")), min_size=1, max_size=40), st.sampled_from(list(ContentMode))
)
def test_any_identifier_survives_the_journey_and_fits_a_header(identifier: str, mode: ContentMode) -> None:
    message = encode(replace(PLANNED, operation_id=identifier, group_id=identifier), mode)

    for value in message.headers.values():
        assert value.isascii()
        assert value.isprintable()
    wakeup = decode("POST", message.headers, message.body)
    assert (wakeup.id, wakeup.operation_id, wakeup.group_id) == (f"{identifier}.planned", identifier, identifier)


@pytest.mark.parametrize("wrong", [{"operation_id": ""}, {"group_id": ""}, {"planned_at": datetime(2026, 12, 1)}])  # noqa: DTZ001  # the point
def test_operation_that_could_not_be_read_back_cannot_be_made(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs a"):
        replace(PLANNED, **wrong)  # type: ignore[arg-type]  # fields of several types
