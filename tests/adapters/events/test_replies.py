"""Answers mean something to an event sender, and repeat nothing of its request."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from exoscaler.adapters.events import MAX_BODY_BYTES, Reply, come_again, decode, done, dropped, refused
from exoscaler.errors import EventError
from exoscaler.ports.events import Relevance
from tests.adapters.events.requests import event

REPEATED_BY_SOURCES = {404, 413, 425, 429, 502, 503, 504}
REPEATED_BY_TRIGGERS = {404, 408, 409, 429, *range(500, 600)}


def refusal_of(method: str, headers: dict[str, str], body: bytes) -> Reply:
    with pytest.raises(EventError) as caught:
        decode(method, headers, body)
    return refused(caught.value)


def test_done_says_what_was_decided() -> None:
    reply = done({"planned": [{"group": "pool-a", "size": 3}], "pods": 12})

    assert reply.status == 200
    assert json.loads(reply.body) == {
        "outcome": "done",
        "decided": {"planned": [{"group": "pool-a", "size": 3}], "pods": 12},
    }


def test_dropped_is_a_success_that_says_why() -> None:
    reply = dropped(Relevance.POD_ALREADY_BOUND)

    assert reply.status == 200
    assert json.loads(reply.body) == {"outcome": "dropped", "reason": "pod-already-bound"}


@pytest.mark.parametrize(
    ("wait", "header"),
    [
        (timedelta(seconds=5), "5"),
        (timedelta(seconds=5, microseconds=1), "6"),
        (timedelta(milliseconds=20), "1"),
        (timedelta(0), "1"),
        (timedelta(seconds=-9), "1"),
    ],
)
def test_come_again_names_whole_seconds_and_never_none(wait: timedelta, header: str) -> None:
    reply = come_again(wait, "another invocation is evaluating")

    assert (reply.status, reply.headers["Retry-After"]) == (503, header)
    assert json.loads(reply.body)["reason"] == "another invocation is evaluating"


def test_come_again_is_repeated_by_sources_and_by_triggers() -> None:
    assert come_again(timedelta(seconds=1), "busy").status in REPEATED_BY_SOURCES & REPEATED_BY_TRIGGERS


@pytest.mark.parametrize(
    ("method", "headers", "body"),
    [
        ("GET", {}, b""),
        ("POST", {"ce-id": "1"}, b""),
        ("POST", {}, b"<xml/>"),
        ("POST", event().headers, b" " * (MAX_BODY_BYTES + 1)),
    ],
    ids=["wrong method", "malformed", "no event", "too large"],
)
def test_what_cannot_be_read_is_repeated_by_nobody(method: str, headers: dict[str, str], body: bytes) -> None:
    status = refusal_of(method, headers, body).status

    assert status not in REPEATED_BY_SOURCES | REPEATED_BY_TRIGGERS
    assert 400 <= status < 500


def test_wrong_method_is_told_the_right_one() -> None:
    reply = refusal_of("DELETE", {}, b"")

    assert (reply.status, reply.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "reply",
    [
        done({}),
        dropped("too-old"),
        come_again(timedelta(1), "busy"),
        refused(EventError("no")),
        refusal_of("GET", {}, b""),
    ],
    ids=["done", "dropped", "come again", "refused", "wrong method"],
)
def test_every_answer_is_json_that_no_browser_guesses_about_and_no_proxy_keeps(reply: Reply) -> None:
    body, status, headers = reply.as_response()

    assert status == reply.status
    assert json.loads(body)["outcome"] in ("done", "dropped", "come-again", "refused")
    assert headers["Content-Type"] == "application/json"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
