"""How CloudEvents travel: binary mode, structured mode, and plain POSTs that are no event."""

from __future__ import annotations

import base64
import json

import pytest

from exoscaler.errors import EventError
from exoscaler.ports.events import Relevance, Wakeup, WakeupKind
from tests.adapters.events.requests import STRUCTURED, Request, enclosed, event, structured

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PING = {"specversion": "1.0", "id": "e-1", "source": "/somewhere", "type": "dev.knative.sources.ping"}
POD_ADDED = "dev.knative.apiserver.ref.add"


@pytest.mark.parametrize("body", [b"", b" \r\n", b"{}", b"[]", b"null", b'"tick"', b'{"kind": "Pod"}'])
@pytest.mark.parametrize("content_type", [None, "application/json", "application/x-www-form-urlencoded"])
def test_post_without_event_is_a_tick_whatever_its_json_says(body: bytes, content_type: str | None) -> None:
    headers = {"User-Agent": "curl"} | ({"Content-Type": content_type} if content_type else {})

    assert Request(headers, body).decoded() == Wakeup(WakeupKind.TICK)


@pytest.mark.parametrize("body", [b"tick", b"a=b", b"{", b"\xff", b"\x1f\x8b\x08", b'{"a": "\xff"}', b"[" * 200_000])
def test_post_without_event_and_with_a_body_that_is_not_json_is_refused(body: bytes) -> None:
    with pytest.raises(EventError, match="the body of a request without an event is not JSON"):
        Request({}, body).decoded()


def test_structured_event_sent_as_plain_json_is_refused_with_the_right_content_type_named() -> None:
    with pytest.raises(EventError, match=r"application/cloudevents\+json"):
        structured(PING, "application/json").decoded()


@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title], ids=["lower", "UPPER", "Title"])
def test_header_names_count_in_any_letter_case(spell: object) -> None:
    assert callable(spell)
    request = event("dev.knative.sources.ping", id="e-9")
    shouted = Request({spell(name): value for name, value in request.headers.items()}, request.body)

    assert shouted.decoded() == request.decoded()


def test_header_given_twice_with_one_value_is_taken_and_with_two_refused() -> None:
    assert event(id="e-1").with_header("CE-ID", "e-1").decoded().id == "e-1"
    with pytest.raises(EventError, match="given twice with different values"):
        event(id="e-1").with_header("CE-ID", "e-2").decoded()


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"),
        ("%2525", "%25"),
        ('"quoted \\"value\\""', 'quoted "value"'),
        ("100%", "100%"),
        ("/plain", "/plain"),
    ],
)
def test_header_values_are_decoded_as_the_http_binding_says(sent: str, meant: str) -> None:
    assert event(source=sent).decoded().source == meant


def test_structured_mode_is_read_with_parameters_in_the_content_type() -> None:
    assert structured(PING, "Application/CloudEvents+JSON; charset=UTF-8").decoded().kind is WakeupKind.TICK


def test_content_type_decides_the_mode_even_beside_event_headers() -> None:
    both = Request({**event(id="header").headers, "content-type": STRUCTURED}, json.dumps(PING).encode())

    assert both.decoded().id == "e-1"


def test_data_in_base64_is_the_same_as_data_in_clear() -> None:
    pod = {"kind": "Pod", "apiVersion": "v1", "name": "web", "namespace": "default"}
    clear = structured({**PING, "type": POD_ADDED, "data": pod})
    coded = structured({**PING, "type": POD_ADDED, "data_base64": base64.b64encode(json.dumps(pod).encode()).decode()})

    assert coded.decoded() == clear.decoded()
    assert coded.decoded().subject_name == "web"


def test_ping_may_carry_anything() -> None:
    # a PingSource sends the data its owner wrote, of any content type
    ping = event("dev.knative.sources.ping", time="2026-12-01T03:16:10.129894619Z")

    assert ping.with_body(b"\x00\xff").with_header("content-type", "application/json").decoded() == ping.decoded()
    assert ping.with_body(b"wake up").with_header("content-type", "text/plain").decoded() == ping.decoded()


def test_unknown_extensions_are_passed_over_in_both_modes() -> None:
    assert event(knativearrivaltime="x", foo="bar").decoded() == event().decoded()
    assert structured({**PING, "retries": 3, "sampled": True, "nested": {"a": []}}).decoded() == event().decoded()


def test_attribute_that_is_null_or_empty_counts_as_absent() -> None:
    assert structured({**PING, "time": None, "subject": ""}).decoded().occurred_at is None
    assert event(time="", namespace="").decoded().occurred_at is None


def test_event_of_unknown_type_is_worth_a_look() -> None:
    wakeup = event("com.example.cron.fired", data={"any": "thing"}).decoded()

    assert (wakeup.kind, wakeup.relevance, wakeup.id) == (WakeupKind.OTHER, Relevance.RELEVANT, "e-1")


@pytest.mark.parametrize("type_", ["add", "dev.knative.apiserver.ref.exists", "dev.knative.apiserver.ref.addendum"])
def test_type_that_only_resembles_a_known_one_is_another_type(type_: str) -> None:
    assert event(type_).decoded().kind is WakeupKind.OTHER


def test_trace_of_the_event_goes_before_the_trace_of_the_hop() -> None:
    other = TRACE.replace("4bf9", "aaaa")

    assert event(traceparent=TRACE).with_header("Traceparent", other).decoded().trace_parent == TRACE
    assert event().with_header("Traceparent", other).decoded().trace_parent == other
    assert Request({"traceparent": other}).decoded().trace_parent == other
    assert structured({**PING, "traceparent": TRACE}).decoded().trace_parent == TRACE


@pytest.mark.parametrize("broken", ["x", TRACE.upper(), "ff" + TRACE[2:], TRACE.replace("00f067aa0ba902b7", "0" * 16)])
def test_broken_trace_is_left_out_and_the_event_taken(broken: str) -> None:
    assert event(traceparent=broken).decoded().trace_parent is None


def test_object_as_large_as_kubernetes_stores_is_read() -> None:
    large = enclosed("update", "Pod", metadata={"annotations": {"a": "x" * 1_500_000}}, spec={"nodeName": "n"})

    assert large.decoded().relevance is Relevance.POD_ALREADY_BOUND
    assert large.as_structured().decoded().relevance is Relevance.POD_ALREADY_BOUND
