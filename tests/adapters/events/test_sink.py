"""The event sink against a real server: delivered, repeated once, or failed in our own terms."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

import exoscaler
from exoscaler.adapters.events import HttpEventSink, NoEventSink, decode
from exoscaler.errors import (
    MAX_REMOTE_TEXT,
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    Rejected,
    RemoteError,
    SettingsError,
    TimedOut,
    Unavailable,
)
from exoscaler.ports.events import EventSink, OperationKind
from tests.adapters.events.receiver import HANG, RESET, Answer, Receiver, receiving
from tests.adapters.events.test_operation_planned import PLANNED

GROW, SHRINK = OperationKind.GROW, OperationKind.SHRINK


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as running:
        yield running


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with httpx.Client(trust_env=False) as opened:
        yield opened


@pytest.fixture
def sink(receiver: Receiver, client: httpx.Client) -> HttpEventSink:
    return HttpEventSink({GROW: receiver.url}, timeout=timedelta(seconds=5), client=client)


@pytest.fixture
def impatient_sink(receiver: Receiver, client: httpx.Client) -> HttpEventSink:
    return HttpEventSink({GROW: receiver.url}, timeout=timedelta(milliseconds=200), client=client)


def failure_of(sink: EventSink) -> RemoteError:
    with pytest.raises(RemoteError) as caught:
        sink.operation_planned(PLANNED)
    return caught.value


def free_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@pytest.mark.parametrize("status", [200, 202, 204])
def test_event_arrives_once_in_binary_mode(receiver: Receiver, sink: HttpEventSink, status: int) -> None:
    receiver.will(Answer(status))

    sink.operation_planned(PLANNED)

    (received,) = receiver.received
    assert received.path == "/events"
    assert received.headers["user-agent"] == f"exoscaler/{exoscaler.__version__}"
    assert received.headers["ce-type"] == "dev.exoscaler.operation.planned"
    assert json.loads(received.body)["operationId"] == "op-7"
    assert decode("POST", received.headers, received.body).operation_id == "op-7"


@pytest.mark.parametrize(
    "first", [Answer(s) for s in (429, 502, 503, 504)] + [RESET], ids=["429", "502", "503", "504", "reset"]
)
def test_transient_failure_is_repeated_once_with_the_same_id(
    receiver: Receiver, sink: HttpEventSink, first: Answer
) -> None:
    receiver.will(first)

    sink.operation_planned(PLANNED)

    assert [request.headers["ce-id"] for request in receiver.received] == ["op-7.planned"] * 2


@pytest.mark.parametrize(
    ("answer", "error", "attempts"),
    [
        (Answer(503), Unavailable, 2),
        (Answer(502), Unavailable, 2),
        (Answer(504), Unavailable, 2),
        (Answer(429), RateLimited, 2),
        (RESET, Unavailable, 2),
        (Answer(500), Unavailable, 1),
        (Answer(400), Rejected, 1),
        (Answer(401), Denied, 1),
        (Answer(403), Denied, 1),
        (Answer(404), NotFound, 1),
        (Answer(405), Rejected, 1),
        (Answer(408), TimedOut, 1),
        (Answer(409), Conflict, 1),
        (Answer(413), Rejected, 1),
        (Answer(308, {"Location": "/elsewhere"}), Rejected, 1),
    ],
    ids=lambda value: str(getattr(value, "status", "")) if isinstance(value, Answer) else None,
)
def test_lasting_failure_is_named_by_the_reaction_it_needs(
    receiver: Receiver, sink: HttpEventSink, answer: Answer, error: type[RemoteError], attempts: int
) -> None:
    receiver.will(answer, answer)

    failure = failure_of(sink)

    assert type(failure) is error
    assert (failure.operation, failure.target) == ("send operation.planned", "op-7")
    assert failure.status == (None if answer.resets else answer.status)
    assert len(receiver.received) == attempts
    assert failure.__cause__ is not None


def test_redirect_says_what_to_set(receiver: Receiver, sink: HttpEventSink) -> None:
    receiver.will(Answer(308, {"Location": "/elsewhere"}))

    assert "set the final URL" in str(failure_of(sink))


def test_hanging_receiver_costs_one_timeout_and_is_not_asked_again(
    receiver: Receiver, impatient_sink: HttpEventSink
) -> None:
    receiver.will(HANG, HANG)

    failure = failure_of(impatient_sink)

    assert type(failure) is TimedOut
    assert failure.took_effect
    assert len(receiver.received) == 1


def test_delivered_event_does_not_wait_for_the_rest_of_the_answer(
    receiver: Receiver, impatient_sink: HttpEventSink
) -> None:
    receiver.will(Answer(200, hangs_in_body=True))

    impatient_sink.operation_planned(PLANNED)

    assert len(receiver.received) == 1


def test_refusal_whose_text_never_arrives_is_still_the_refusal(
    receiver: Receiver, impatient_sink: HttpEventSink
) -> None:
    receiver.will(Answer(400, hangs_in_body=True))

    failure = failure_of(impatient_sink)

    assert (type(failure), failure.status, failure.detail) == (Rejected, 400, "")


@pytest.mark.parametrize("asked", ["30", "99999999999999999999", "Tue, 01 Dec 2026 03:15:32 GMT", "-1"])
def test_receiver_that_asks_for_a_long_pause_is_left_to_the_next_tick(
    receiver: Receiver, sink: HttpEventSink, asked: str
) -> None:
    receiver.will(Answer(503, {"Retry-After": asked}))

    assert type(failure_of(sink)) is Unavailable
    assert len(receiver.received) == 1


def test_receiver_that_asks_for_a_short_pause_gets_it_and_the_event(receiver: Receiver, sink: HttpEventSink) -> None:
    receiver.will(Answer(503, {"Retry-After": "1"}))

    sink.operation_planned(PLANNED)

    first, second = receiver.received
    assert second.at - first.at >= 1


def test_rate_limit_hands_on_how_long_to_wait(receiver: Receiver, sink: HttpEventSink) -> None:
    receiver.will(Answer(429, {"Retry-After": "30"}))

    failure = failure_of(sink)

    assert isinstance(failure, RateLimited)
    assert failure.retry_after == timedelta(seconds=30)


def test_long_answer_is_quoted_in_part_and_on_one_line(receiver: Receiver, sink: HttpEventSink) -> None:
    receiver.will(Answer(400, body=b"no\n  such\tthing " + b"x" * 100_000))

    failure = failure_of(sink)

    assert failure.detail.startswith("no such thing xxx")
    assert len(failure.detail) == MAX_REMOTE_TEXT


def test_nobody_listening_is_unavailable(client: httpx.Client) -> None:
    sink = HttpEventSink({GROW: f"http://127.0.0.1:{free_port()}/"}, client=client)

    failure = failure_of(sink)

    assert type(failure) is Unavailable
    assert "ConnectError" in failure.detail


def transport_errors(base: type[httpx.TransportError] = httpx.TransportError) -> list[type[httpx.TransportError]]:
    return [base, *(leaf for child in base.__subclasses__() for leaf in transport_errors(child))]


@pytest.mark.parametrize("error", transport_errors(), ids=lambda error: str(error.__name__))
def test_nothing_of_httpx_leaves_the_sink(error: type[httpx.TransportError]) -> None:
    def break_off(request: httpx.Request) -> httpx.Response:
        raise error("broken", request=request)

    with httpx.Client(transport=httpx.MockTransport(break_off)) as client:
        failure = failure_of(HttpEventSink({GROW: "http://sink.example/"}, client=client))

    assert type(failure) is (TimedOut if issubclass(error, httpx.TimeoutException) else Unavailable)
    assert failure.detail == f"{error.__name__}: broken"


def test_password_in_the_url_is_used_and_never_told(receiver: Receiver, client: httpx.Client) -> None:
    url = receiver.url.replace("http://", "http://user:pa55word@")
    receiver.will(Answer(401))

    failure = failure_of(HttpEventSink({GROW: url}, client=client))

    assert receiver.received[0].headers["authorization"].startswith("Basic ")
    assert "pa55word" not in f"{failure!r} {failure} {failure.__cause__}"


def test_kind_without_a_url_is_not_sent(receiver: Receiver, sink: HttpEventSink) -> None:
    sink.operation_planned(replace(PLANNED, kind=SHRINK))

    assert receiver.received == []


def test_each_kind_goes_to_its_own_url(receiver: Receiver, client: httpx.Client) -> None:
    sink = HttpEventSink({GROW: receiver.url + "/up", SHRINK: receiver.url + "/down"}, client=client)

    sink.operation_planned(PLANNED)
    sink.operation_planned(replace(PLANNED, kind=SHRINK))

    assert [request.path for request in receiver.received] == ["/events/up", "/events/down"]


def test_without_a_sink_nothing_is_sent_and_nothing_fails() -> None:
    silent: EventSink = NoEventSink()

    silent.operation_planned(PLANNED)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "scale-up",
        "/events",
        "//host/",
        "http://",
        "ftp://host/",
        "http://host:x/",
        "http://a..b/",
        f"http://{'x' * 64}/",
    ],
)
def test_url_that_cannot_work_is_refused_at_the_start_without_telling_it(url: str) -> None:
    with pytest.raises(SettingsError) as caught:
        HttpEventSink({GROW: url, SHRINK: "mailto:s3cret@host"})

    assert len(caught.value.mistakes) == 2
    assert "s3cret" not in str(caught.value)


def test_sink_closes_its_own_client_and_leaves_a_borrowed_one_open(client: httpx.Client) -> None:
    HttpEventSink({}, client=client).close()
    assert not client.is_closed

    own = HttpEventSink({GROW: "http://127.0.0.1:9/"})
    own.close()
    with pytest.raises(RuntimeError, match="closed"):
        own.operation_planned(PLANNED)
