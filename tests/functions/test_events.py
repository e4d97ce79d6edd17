"""What a served function makes of events, in both content modes, and of what is no event."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from exoscaler.sandbox.world import SandboxWorld
from tests.functions.serving import ServedFunction

pytestmark = pytest.mark.xdist_group("functions")

RECORDED = Path(__file__).parents[1] / "recorded" / "knative-events.jsonl"
EVENTS = [json.loads(line) for line in RECORDED.read_text().splitlines()]


def as_structured(headers: dict[str, str], body: str) -> tuple[dict[str, str], bytes]:
    """A recorded event, which came in binary mode, in structured mode."""
    attributes = {name.lower().removeprefix("ce-"): v for name, v in headers.items() if name.lower().startswith("ce-")}
    attributes = {name: value for name, value in attributes.items() if value}
    event = {**attributes, "datacontenttype": "application/json"}
    if body:
        event["data"] = json.loads(body)
    return {"Content-Type": "application/cloudevents+json"}, json.dumps(event).encode()


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("event", EVENTS, ids=[f"{n}-{e['name'].replace(' ', '-')}" for n, e in enumerate(EVENTS)])
def test_each_kind_of_recorded_event_is_understood(
    evaluate: ServedFunction, event: dict[str, dict[str, str]], mode: str
) -> None:
    headers, body = event["headers"], str(event["body"])
    if mode == "structured":
        structured_headers, content = as_structured(headers, body)
        answer = evaluate.post(content=content, headers=structured_headers)
    else:
        answer = evaluate.post(content=body.encode(), headers=headers)

    assert answer.status_code == 200, answer.text
    assert answer.json()["outcome"] in ("done", "dropped")


def fresh_tick() -> dict[str, str]:
    return {
        "ce-specversion": "1.0",
        "ce-id": uuid.uuid4().hex,
        "ce-type": "dev.knative.sources.ping",
        "ce-source": "/apis/v1/namespaces/exoscaler/pingsources/evaluate",
        "ce-time": datetime.now(UTC).isoformat(),
    }


def test_tick_and_plain_post_both_ask_for_a_look(evaluate: ServedFunction) -> None:
    for answer in (evaluate.post(headers=fresh_tick()), evaluate.post(), evaluate.post(content=b"{}")):
        assert answer.status_code == 200
        assert answer.json()["outcome"] == "done"
        assert answer.json()["decided"]["decision"]


def test_event_older_than_the_last_evaluation_is_dropped(evaluate: ServedFunction) -> None:
    evaluate.post()
    old = {**fresh_tick(), "ce-time": "2026-01-01T00:00:00Z"}
    answer = evaluate.post(headers=old)

    assert (answer.status_code, answer.json()["outcome"]) == (200, "dropped")


def test_pod_update_with_a_node_name_is_dropped_without_any_call(evaluate: ServedFunction, world: SandboxWorld) -> None:
    evaluate.post()
    before = _calls(world)
    bound = next(e for e in EVENTS if '"nodeName"' in e["body"] and e["headers"]["Ce-Type"].endswith("resource.update"))
    headers = {**bound["headers"], "Ce-Time": datetime.now(UTC).isoformat()}
    answer = evaluate.post(content=bound["body"].encode(), headers=headers)

    assert answer.json() == {"outcome": "dropped", "reason": answer.json()["reason"]}
    assert _calls(world) == before


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_only_post_triggers_anything(evaluate: ServedFunction, world: SandboxWorld, method: str) -> None:
    evaluate.post()
    before = _calls(world)
    answer = httpx.request(method, evaluate.url, timeout=30)

    assert answer.status_code == 405
    assert answer.headers["Allow"] == "POST"
    assert _calls(world) == before


def test_probe_on_any_path_triggers_nothing(evaluate: ServedFunction, world: SandboxWorld) -> None:
    before = _calls(world)

    assert evaluate.get("healthz").status_code == 405
    assert _calls(world) == before


def _calls(world: SandboxWorld) -> tuple[int, int]:
    assert world.cloud is not None
    assert world.cluster is not None
    # The sandbox's own controllers do not come over HTTP, so what is counted came from functions.
    return world.cloud.calls.total(), sum(world.cluster.calls.counts().values())


@pytest.mark.parametrize(
    ("headers", "content"),
    [
        ({"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s"}, b""),
        ({"ce-specversion": "9", "ce-id": "1", "ce-source": "s", "ce-type": "t"}, b""),
        ({"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "t", "ce-time": "yesterday"}, b""),
        ({"Content-Type": "application/cloudevents+json"}, b"{not json marker-in-body"),
        ({"Content-Type": "application/cloudevents-batch+json"}, b"[]"),
        ({"Content-Type": "text/plain"}, b"marker-in-body"),
    ],
    ids=["no type", "unknown version", "bad time", "bad json", "batch", "plain text"],
)
def test_malformed_event_is_refused_and_nothing_of_it_is_repeated(
    evaluate: ServedFunction, headers: dict[str, str], content: bytes
) -> None:
    marked = {**headers, "X-Marker": "marker-in-header"}
    answer = evaluate.post(content=content, headers=marked)

    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/json"
    assert "marker" not in answer.text


def test_body_beyond_the_limit_is_refused_without_being_read_whole(evaluate: ServedFunction) -> None:
    answer = evaluate.post(content=b"x" * (3 * 1024 * 1024), headers={"Content-Type": "application/json"})

    assert answer.status_code == 400
