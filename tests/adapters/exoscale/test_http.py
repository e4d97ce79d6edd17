"""What the client repeats, for how long, and what it never repeats."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest

from exoscaler.adapters.exoscale import calls
from exoscaler.adapters.exoscale.calls import Call
from exoscaler.adapters.exoscale.http import LEAST_FOR_CHANGE, MAX_WAIT
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)
from exoscaler.ports.provider import CloudCall
from tests.adapters.exoscale.api import NOW, Api, FakeClock, Observed, Reply, answer, client_on, pool_json, refusal, uid

LOOK = f"GET /instance-pool/{uid('pool')}"
SCALE = f"PUT /instance-pool/{uid('pool')}:scale"
CHANGE_SIZE = calls.scale_instance_pool(uid("pool"), 3)
EVICT = calls.evict_sks_nodepool_members(uid("cluster"), uid("nodepool"), [uid("instance")])
FOUND = answer(pool_json())
PASSING: dict[str, Reply] = {
    "500": refusal(500),
    "502": refusal(502),
    "503": refusal(503),
    "504": refusal(504),
    "429": refusal(429),
    "refused": httpx.ConnectError("refused"),
    "reset": httpx.ReadError("reset"),
    "closed": httpx.RemoteProtocolError("closed"),
    "slow": httpx.ReadTimeout("slow"),
    "slow to connect": httpx.ConnectTimeout("slow"),
}


@pytest.mark.parametrize("trouble", PASSING)
def test_look_is_repeated_until_the_trouble_passes(trouble: str) -> None:
    api, clock = Api().on(LOOK, PASSING[trouble], PASSING[trouble], FOUND), FakeClock()

    found = client_on(api, clock).get_instance_pool(uid("pool"))

    assert found.name == "pool-1"
    assert len(api.requests) == 3
    assert len(clock.pauses) == 2


@pytest.mark.parametrize("trouble", PASSING)
def test_look_is_given_up_after_the_last_attempt(trouble: str) -> None:
    api = Api().on(LOOK, PASSING[trouble])

    with pytest.raises(RemoteError):
        client_on(api, max_attempts=3).get_instance_pool(uid("pool"))

    assert len(api.requests) == 3


@pytest.mark.parametrize("trouble", PASSING)
@pytest.mark.parametrize("call", [CHANGE_SIZE, EVICT], ids=["scale", "evict"])
def test_change_is_sent_once_whatever_happens(call: Call, trouble: str) -> None:
    api, clock = Api().on(f"PUT {call.path}", PASSING[trouble]), FakeClock()

    with pytest.raises((Unavailable, TimedOut, RateLimited)):
        client_on(api, clock)._http.send(call)

    assert len(api.requests) == 1
    assert not clock.pauses


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (refusal(400), Rejected),
        (refusal(401), Denied),
        (refusal(403), Denied),
        (refusal(404), NotFound),
        (refusal(409), Conflict),
        (refusal(501), Unavailable),
        (httpx.Response(302, headers={"Location": "https://elsewhere.test/"}), Unavailable),
        (httpx.Response(200, text="not json"), Unavailable),
        (httpx.InvalidURL("no"), Rejected),
    ],
    ids=["400", "401", "403", "404", "409", "501", "302", "not json", "invalid url"],
)
def test_what_would_be_answered_the_same_again_is_not_repeated(reply: Reply, expected: type[RemoteError]) -> None:
    api = Api().on(LOOK, reply)

    with pytest.raises(expected):
        client_on(api).get_instance_pool(uid("pool"))

    assert len(api.requests) == 1


def test_pauses_grow_at_random_and_stay_bounded() -> None:
    runs = []
    for _ in range(30):
        clock = FakeClock()
        with pytest.raises(Unavailable):
            client_on(
                Api().on(LOOK, refusal(503)), clock, max_attempts=8, call_timeout=timedelta(hours=1)
            ).get_instance_pool(uid("pool"))
        runs.append([pause.total_seconds() for pause in clock.pauses])

    assert len({run[0] for run in runs}) > 1
    assert all(pause <= 0.5 * 2**number for run in runs for number, pause in enumerate(run))
    assert all(pause <= 8 for run in runs for pause in run)
    assert max(run[-1] for run in runs) > 1


@pytest.mark.parametrize(
    "asking",
    [
        refusal(429, Retry_After="3"),
        refusal(503, Retry_After="3"),
        refusal(429, Retry_After="Tue, 01 Dec 2026 12:00:03 GMT"),
        answer({"error": "slow down", "retry_after": 3}, 429),
    ],
    ids=["seconds", "unavailable", "date", "in the body"],
)
def test_wish_to_wait_is_granted(asking: httpx.Response) -> None:
    api, clock = Api().on(LOOK, asking, FOUND), FakeClock()

    client_on(api, clock).get_instance_pool(uid("pool"))

    assert timedelta(seconds=3) <= clock.pauses[0] <= timedelta(seconds=4)


def test_wish_to_wait_too_long_ends_the_call_at_once() -> None:
    wish = int(MAX_WAIT.total_seconds()) + 1
    api, clock = Api().on(LOOK, refusal(429, Retry_After=str(wish))), FakeClock()

    with pytest.raises(RateLimited) as caught:
        client_on(api, clock).get_instance_pool(uid("pool"))

    assert caught.value.retry_after == timedelta(seconds=wish)
    assert len(api.requests) == 1
    assert not clock.pauses


def test_rate_limited_change_says_when_to_come_back() -> None:
    with pytest.raises(RateLimited) as caught:
        client_on(Api().on(SCALE, refusal(429, Retry_After="40"))).scale_instance_pool(uid("pool"), 3)

    assert caught.value.retry_after == timedelta(seconds=40)


def test_repeats_end_with_the_time_for_one_call() -> None:
    clock = FakeClock()
    api = Api().on(LOOK, refusal(503, Retry_After="4"))

    with pytest.raises(Unavailable):
        client_on(api, clock, max_attempts=99, call_timeout=timedelta(seconds=10)).get_instance_pool(uid("pool"))

    assert 2 <= len(api.requests) <= 3
    assert sum(clock.pauses, timedelta(0)) < timedelta(seconds=10)


def test_repeats_end_with_the_time_of_the_invocation() -> None:
    clock = FakeClock()
    api = Api().on(LOOK, refusal(503, Retry_After="4"))

    with pytest.raises(Unavailable):
        client_on(api, clock, time_left=lambda: timedelta(seconds=3), max_attempts=99).get_instance_pool(uid("pool"))

    assert len(api.requests) == 1
    assert not clock.pauses


def test_look_leaves_time_to_record_its_failure() -> None:
    clock, whole = FakeClock(), timedelta(seconds=24)

    def hang(request: httpx.Request) -> httpx.Response:
        clock.advance(timedelta(seconds=request.extensions["timeout"]["read"]))
        raise httpx.ReadTimeout("slow")

    client = client_on(hang, clock, time_left=lambda: whole - (clock.now() - NOW), max_attempts=99)

    for used in (16, 21.4):
        with pytest.raises(TimedOut):
            client.get_instance_pool(uid("pool"))
        assert clock.now() - NOW <= timedelta(seconds=used)


def test_nothing_is_sent_when_no_time_is_left() -> None:
    api = Api().on(LOOK, FOUND)

    with pytest.raises(TimedOut, match="not sent") as caught:
        client_on(api, time_left=lambda: timedelta(0)).get_instance_pool(uid("pool"))

    assert not api.requests
    assert not caught.value.took_effect


@pytest.mark.parametrize(("spare", "sent"), [(-1, False), (1, True)])
def test_change_is_sent_only_while_its_answer_can_be_heard(spare: int, sent: bool) -> None:
    api = Api().on(SCALE, answer({"id": uid("operation"), "state": "pending"}))
    client = client_on(api, time_left=lambda: LEAST_FOR_CHANGE + timedelta(seconds=spare))

    if sent:
        assert client.scale_instance_pool(uid("pool"), 3).state == "pending"
    else:
        with pytest.raises(TimedOut, match="not sent") as caught:
            client.scale_instance_pool(uid("pool"), 3)
        assert not caught.value.took_effect
    assert len(api.requests) == sent


def test_each_attempt_is_given_what_is_left() -> None:
    api, clock = Api().on(LOOK, refusal(503, Retry_After="8"), FOUND), FakeClock()

    client_on(api, clock, call_timeout=timedelta(seconds=12), request_timeout=timedelta(seconds=10)).get_instance_pool(
        uid("pool")
    )

    first, second = (request.extensions["timeout"] for request in api.requests)
    assert first == {"connect": 5, "read": 10, "write": 10, "pool": 5}
    assert 0 < second["read"] <= 4


def test_every_request_is_told_with_its_operation_and_status() -> None:
    observed = Observed()
    api = Api().on(LOOK, refusal(503), httpx.ReadError("reset"), FOUND).on(SCALE, refusal(409))
    client = client_on(api, observed=observed)

    client.get_instance_pool(uid("pool"))
    with pytest.raises(Conflict):
        client.scale_instance_pool(uid("pool"), 3)

    assert observed.calls == [
        CloudCall("get-instance-pool", 503),
        CloudCall("get-instance-pool", None),
        CloudCall("get-instance-pool", 200),
        CloudCall("scale-instance-pool", 409),
    ]


def test_repeated_look_is_signed_anew() -> None:
    api, clock = Api().on(LOOK, refusal(503, Retry_After="5"), FOUND), FakeClock()

    client_on(api, clock).get_instance_pool(uid("pool"))

    first, second = (request.headers["Authorization"] for request in api.requests)
    assert first != second


def test_body_sent_is_compact_json() -> None:
    api = Api().on(SCALE, answer({"id": uid("operation"), "state": "pending"}))

    client_on(api).scale_instance_pool(uid("pool"), 3)

    assert api.requests[0].content == b'{"size":3}'
    assert api.requests[0].headers["Content-Type"] == "application/json"


def test_answer_beyond_all_measure_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exoscaler.adapters.exoscale.http.MAX_BODY", 2**20)
    api = Api().on(LOOK, httpx.Response(200, content=b" " * (2**20 + 1)))

    with pytest.raises(Unavailable, match="larger than 1 MiB"):
        client_on(api).get_instance_pool(uid("pool"))

    assert len(api.requests) == 1
