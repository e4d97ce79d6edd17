"""What is no readable event is refused, never taken for something else, and never quoted back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.adapters.events import MAX_BODY_BYTES, EventTooLarge, MethodNotAllowed, decode, refused
from exoscaler.adapters.events.envelope import MAX_ATTRIBUTE_CHARS
from exoscaler.errors import EventError
from exoscaler.ports.events import Wakeup
from tests.adapters.events.requests import Request, enclosed, event, recorded, referenced, structured

PING = {"specversion": "1.0", "id": "e-1", "source": "/somewhere", "type": "dev.knative.sources.ping"}
REQUIRED = ["specversion", "id", "source", "type"]
REF_ADD = "dev.knative.apiserver.ref.add"
RESOURCE_UPDATE = "dev.knative.apiserver.resource.update"
PLANNED = "dev.exoscaler.operation.planned"


def refusal(request: Request) -> str:
    with pytest.raises(EventError) as caught:
        request.decoded()
    return str(caught.value)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "get"])
def test_no_method_but_post_wakes_a_function(method: str) -> None:
    with pytest.raises(MethodNotAllowed):
        decode(method, event().headers, b"")


def test_body_over_the_limit_is_refused_and_one_at_the_limit_read() -> None:
    ping = event()

    assert ping.with_body(b" " * MAX_BODY_BYTES).decoded() == ping.decoded()
    with pytest.raises(EventTooLarge):
        ping.with_body(b" " * (MAX_BODY_BYTES + 1)).decoded()


@pytest.mark.parametrize("name", REQUIRED)
def test_missing_attribute_is_named_in_either_mode(name: str) -> None:
    assert f"{name} missing" in refusal(event().without(f"ce-{name}"))
    assert f"{name} missing" in refusal(event(**{name: ""}))
    assert f"{name} missing" in refusal(structured({k: v for k, v in PING.items() if k != name}))
    assert f"{name} missing" in refusal(structured({**PING, name: None}))


def test_all_missing_attributes_are_named_at_once() -> None:
    assert "specversion, id, source, type missing" in refusal(Request({"ce-subject": "x"}))


@pytest.mark.parametrize("version", ["0.3", "1", "1.0.0", "2.0", "1.0,1.0"])
def test_other_specversions_are_refused(version: str) -> None:
    assert "specversion 1.0" in refusal(event(specversion=version))


@pytest.mark.parametrize(
    "time",
    [
        "yesterday",
        "2026-12-01",
        "2026-12-01T03:15:32",
        "2026-13-01T03:15:32Z",
        "2026-12-01T25:00:00Z",
        "2026-12-01T03:15:32+99:00",
        "0001-01-01T00:00:00+01:00",
        "0000-01-01T00:00:00Z",
        "1764558932",
        "٢٠٢٦-12-01T03:15:32Z",
    ],
)
def test_bad_time_is_refused_in_every_kind_of_event(time: str) -> None:
    assert "attribute time" in refusal(structured({**PING, "time": time}))
    assert "attribute time" in refusal(structured({**PING, "type": "com.example.other", "time": time}))
    assert "attribute time" in refusal(enclosed("add", "Pod", time=time).as_structured())


@pytest.mark.parametrize("value", [1, 1.5, True, [], {}, ["e-1"]])
def test_attribute_of_another_json_type_is_refused(value: object) -> None:
    assert "attribute id must be a string" in refusal(structured({**PING, "id": value}))


@pytest.mark.parametrize("value", ["a\nb", "a\x00b", "a\x7fb", "a\x85b"])
def test_control_characters_never_reach_a_log(value: str) -> None:
    assert "control characters" in refusal(structured({**PING, "id": value}))
    assert "control characters" in refusal(event(id="".join(f"%{byte:02x}" for byte in value.encode())))
    assert "control characters" in refusal(referenced("add", "Pod", name=value))
    planned = {"operationId": value, "groupId": "g", "kind": "grow"}
    assert "control characters" in refusal(event(PLANNED, planned))


def test_attribute_too_long_to_log_is_refused() -> None:
    assert event(id="x" * MAX_ATTRIBUTE_CHARS).decoded().id == "x" * MAX_ATTRIBUTE_CHARS
    assert "attribute id is longer" in refusal(event(id="x" * (MAX_ATTRIBUTE_CHARS + 1)))


def test_percent_encoding_that_is_not_utf8_is_refused() -> None:
    assert "attribute source is not percent-encoded UTF-8" in refusal(event(source="/%ff"))


@pytest.mark.parametrize("media_type", ["application/cloudevents-batch+json", "application/cloudevents-batch+xml"])
def test_batch_is_refused_with_what_to_do_instead(media_type: str) -> None:
    assert "send each event in a request of its own" in refusal(structured([PING], media_type))


@pytest.mark.parametrize("media_type", ["application/cloudevents", "application/cloudevents+protobuf"])
def test_other_formats_are_refused(media_type: str) -> None:
    assert "application/cloudevents+json" in refusal(Request({"content-type": media_type}, b"\x0a\x03"))


def test_structured_event_in_another_charset_is_refused() -> None:
    request = Request(
        {"content-type": "application/cloudevents+json; charset=utf-16"}, json.dumps(PING).encode("utf-16")
    )

    assert "UTF-8" in refusal(request)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{",
        b'{"id": tru}',
        b"{'id': 1}",
        b'{"data": "\xff"}',
        b'{"data":' + b"[" * 200_000,
    ],
)
def test_structured_body_that_is_not_a_json_object_is_refused(body: bytes) -> None:
    assert "structured event is" in refusal(Request({"content-type": "application/cloudevents+json"}, body))


@pytest.mark.parametrize("coded", ["%%%", "YQ", "Y Q = =", 5, None])
def test_data_that_is_not_base64_is_refused(coded: object) -> None:
    assert "data_base64" in refusal(structured({**PING, "data_base64": coded}))


def test_data_twice_is_refused() -> None:
    assert "both" in refusal(structured({**PING, "data": {}, "data_base64": "e30="}))


@pytest.mark.parametrize("type_", [REF_ADD, RESOURCE_UPDATE, PLANNED])
@pytest.mark.parametrize("body", [b"", b"null", b"[]", b'"x"', b"5", b"{", b"{}", b'{"kind": 5}', b"\xff\xfe"])
def test_data_that_is_not_the_object_needed_is_refused(type_: str, body: bytes) -> None:
    assert "event's data" in refusal(event(type_, {}).with_body(body))


@pytest.mark.parametrize("type_", [REF_ADD, RESOURCE_UPDATE, PLANNED])
def test_data_of_another_media_type_is_refused(type_: str) -> None:
    assert "content type application/json" in refusal(event(type_, {}).with_header("content-type", "text/plain"))


def test_object_without_kind_or_name_is_refused() -> None:
    assert "kind and name are needed" in refusal(referenced("add", ""))
    assert "kind and name are needed" in refusal(referenced("add", "Pod", name=""))
    assert "kind and name are needed" in refusal(enclosed("add", "Pod", metadata={"name": ""}))


@pytest.mark.parametrize("attribute", ["kind", "apiversion", "name", "namespace"])
def test_data_and_attributes_that_name_different_objects_are_refused(attribute: str) -> None:
    request = enclosed("update", "Pod").with_header(f"ce-{attribute}", "another")

    assert f"attribute {attribute} name different objects" in refusal(request)


@pytest.mark.parametrize("change", [{"operationId": ""}, {"groupId": ""}, {"kind": "sideways"}, {"kind": None}])
def test_planned_operation_that_is_not_whole_is_refused(change: dict[str, object]) -> None:
    whole = {"operationId": "op-1", "groupId": "g-1", "kind": "grow"}

    assert event(PLANNED, whole).decoded().operation_id == "op-1"
    assert "event's data" in refusal(event(PLANNED, {**whole, **change}))


def test_nothing_of_the_request_is_quoted_back() -> None:
    secret = "s3cr3t-t0ken"
    broken = [
        Request({"ce-authorization": secret}),
        Request({"ce-" + secret: "x"}),
        event(specversion=secret),
        event(id=secret).with_header("CE-Id", secret + "2"),
        structured({**PING, secret: {}, "time": secret}),
        structured(PING, f"application/cloudevents+{secret}"),
        structured({**PING, "data_base64": secret + "!"}),
        Request({}, secret.encode()),
        event(REF_ADD, secret),
        enclosed("add", "Pod", spec=secret),
        enclosed("add", "Pod").with_header("ce-name", secret),
        event(PLANNED, {"operationId": "o", "groupId": "g", "kind": secret}),
    ]

    for request in broken:
        with pytest.raises(EventError) as caught:
            request.decoded()
        assert secret not in refused(caught.value).body.decode()


# --- whatever comes in, the only exception is EventError, and only what is well-formed wakes -----------------------

NAMES = st.one_of(
    st.sampled_from(
        ["ce-id", "ce-type", "Ce-Source", "CE-SPECVERSION", "ce-time", "ce-name", "Content-Type", "traceparent"]
    ),
    st.text(max_size=12),
)
VALUES = st.one_of(
    st.sampled_from(
        [
            "1.0",
            "dev.knative.sources.ping",
            REF_ADD,
            RESOURCE_UPDATE,
            PLANNED,
            "application/json",
            "application/cloudevents+json",
            "2026-12-01T03:15:32Z",
        ]
    ),
    st.text(max_size=30),
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
BODIES = st.one_of(
    st.binary(max_size=60),
    JSON_VALUES.map(lambda value: json.dumps(value).encode()),
    st.fixed_dictionaries(
        {},
        optional={
            "kind": st.sampled_from(["Pod", "Node", "Event"]) | JSON_VALUES,
            "apiVersion": st.just("v1") | JSON_VALUES,
            "metadata": st.fixed_dictionaries({"name": st.just("n")}) | JSON_VALUES,
            "spec": JSON_VALUES,
            "status": st.fixed_dictionaries({"conditions": JSON_VALUES}) | JSON_VALUES,
            "specversion": st.just("1.0"),
            "id": st.just("e") | JSON_VALUES,
            "source": st.just("s") | JSON_VALUES,
            "type": st.sampled_from([REF_ADD, RESOURCE_UPDATE, PLANNED]) | JSON_VALUES,
            "data": JSON_VALUES,
        },
    ).map(lambda value: json.dumps(value).encode()),
)


@given(method=st.sampled_from(["POST", "POST", "GET"]), headers=st.dictionaries(NAMES, VALUES, max_size=8), body=BODIES)
def test_arbitrary_requests_are_decoded_or_refused_and_nothing_else(
    method: str, headers: dict[str, str], body: bytes
) -> None:
    try:
        wakeup = decode(method, headers, body)
    except EventError:
        return

    assert isinstance(wakeup, Wakeup)
    names = {name.lower() for name, value in headers.items() if value}
    is_event = any(name.startswith("ce-") for name in names) or "application/cloudevents+json" in headers.values()
    assert bool(wakeup.id) <= is_event


RECORDED = recorded()


@given(st.sampled_from(RECORDED), st.sampled_from(REQUIRED))
def test_recorded_event_that_lost_a_header_never_wakes(request_: Request, name: str) -> None:
    refusal(request_.without(f"ce-{name}"))


@given(st.sampled_from([request for request in RECORDED if request.body]), st.data())
def test_recorded_event_that_was_cut_short_never_wakes(request_: Request, data: st.DataObject) -> None:
    refusal(request_.with_body(request_.body[: data.draw(st.integers(0, len(request_.body) - 1))]))


@given(st.sampled_from(RECORDED), st.data())
def test_structured_event_that_was_cut_short_never_wakes(request_: Request, data: st.DataObject) -> None:
    whole = request_.as_structured()

    refusal(whole.with_body(whole.body[: data.draw(st.integers(0, len(whole.body) - 1))]))
