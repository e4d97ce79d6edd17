"""Events that are told once and counted after that."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.kubernetes.event_writer import cut
from exoscaler.errors import Conflict, Denied, NotFound, Unavailable
from exoscaler.ports.cluster import ClusterEvent, EventType, SubjectKind
from exoscaler.sandbox.kubernetes import FaultKind, FaultRule
from tests.adapters.kubernetes.worlds import World

NODE_EVENT = ClusterEvent(
    SubjectKind.NODE, "a", "ScaleDown", "marked the node as toBeDeleted", subject_uid="uid-a", annotations={"op": "1"}
)
POD_EVENT = ClusterEvent(SubjectKind.POD, "web-1", "NotTriggerScaleUp", "no group fits", EventType.WARNING, "shop", "u")


@pytest.fixture(autouse=True)
def shop(world: World) -> None:
    world.api.create("v1", "namespaces", {"metadata": {"name": "shop"}})


def test_event_about_a_node_says_who_what_and_when(world: World) -> None:
    world.cluster.publish(NODE_EVENT)
    (event,) = world.events("default")
    assert event["involvedObject"] == {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "uid-a"}
    assert event["type"] == "Normal"
    assert (event["reason"], event["message"]) == ("ScaleDown", "marked the node as toBeDeleted")
    assert event["source"] == {"component": "exoscaler"}
    assert event["reportingComponent"] == "exoscaler"
    assert event["firstTimestamp"] == event["lastTimestamp"] == "2026-12-01T12:00:00Z"
    assert event["count"] == 1
    assert event["metadata"]["annotations"] == {"op": "1"}


def test_event_about_a_pod_is_in_the_namespace_of_the_pod(world: World) -> None:
    world.cluster.publish(POD_EVENT)
    (event,) = world.events("shop")
    assert event["involvedObject"]["namespace"] == "shop"
    assert event["type"] == "Warning"
    assert world.events("default") == []


def test_event_that_repeats_within_the_hour_is_counted(world: World) -> None:
    for _ in range(3):
        world.cluster.publish(NODE_EVENT)
        world.clock.advance(60)
    (event,) = world.events()
    assert event["count"] == 3
    assert event["firstTimestamp"] == "2026-12-01T12:00:00Z"
    assert event["lastTimestamp"] == "2026-12-01T12:02:00Z"


def test_event_of_the_next_hour_is_a_new_one(world: World) -> None:
    world.cluster.publish(NODE_EVENT)
    world.clock.advance(3600)
    world.cluster.publish(NODE_EVENT)
    assert [event["count"] for event in world.events()] == [1, 1]


@pytest.mark.parametrize(
    "other",
    [
        replace(NODE_EVENT, subject_name="b"),
        replace(NODE_EVENT, subject_uid="uid-of-its-successor"),
        replace(NODE_EVENT, reason="ScaleDownFailed"),
        replace(NODE_EVENT, message="something else"),
        replace(NODE_EVENT, type=EventType.WARNING),
        replace(NODE_EVENT, subject_kind=SubjectKind.CONFIG_MAP),
        replace(NODE_EVENT, reason="ScaleDownm", message="arked the node as toBeDeleted"),
    ],
)
def test_event_that_says_something_else_is_a_new_one(world: World, other: ClusterEvent) -> None:
    world.cluster.publish(NODE_EVENT)
    world.cluster.publish(other)
    assert [event["count"] for event in world.events()] == [1, 1]


def test_event_written_by_many_at_once_is_one(world: World) -> None:
    cluster = world.connect(SystemClock()).cluster
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(cluster.publish, NODE_EVENT) for _ in range(4)]:
            done.result(timeout=30)
    (event,) = world.events()
    assert event["count"] == 4


def test_long_name_and_message_are_cut_to_what_the_api_takes(world: World) -> None:
    name = "n" * 253
    world.cluster.publish(replace(NODE_EVENT, subject_name=name, message="ü" * 2000))
    (event,) = world.events()
    assert len(event["metadata"]["name"]) <= 253
    assert event["involvedObject"]["name"] == name
    assert len(event["message"].encode()) <= 1024
    assert event["message"].endswith("…")


@pytest.mark.parametrize("width", ["x", "ü", "…", "😀"])
def test_message_is_never_cut_inside_a_character(width: str) -> None:
    for length in range(20, 40):
        shortened = cut(width * 50, length)
        assert len(shortened.encode()) <= length
        assert set(shortened) == {width, "…"}
    assert cut(width * 5, 20) == width * 5


class TestFailures:
    def test_namespace_that_does_not_exist_is_not_found_at_once(self, world: World) -> None:
        with pytest.raises(NotFound, match="create events"):
            world.cluster.publish(replace(POD_EVENT, subject_namespace="gone"))
        assert world.operations().count("create events") == 1

    def test_missing_right_is_named(self, world: World) -> None:
        world.fault(FaultRule(verb="create", resource="events", status=403))
        with pytest.raises(Denied, match='verb "create" on resource "events"'):
            world.cluster.publish(NODE_EVENT)

    def test_passing_failure_is_bridged(self, world: World) -> None:
        world.fault(FaultRule(verb="create", resource="events", status=503))
        world.cluster.publish(NODE_EVENT)
        assert [event["count"] for event in world.events()] == [1]

    def test_lasting_failure_is_raised(self, world: World) -> None:
        world.fault(FaultRule(verb="create", resource="events", status=503, times=0))
        with pytest.raises(Unavailable):
            world.cluster.publish(NODE_EVENT)

    def test_event_whose_answer_is_lost_is_counted_twice_at_worst(self, world: World) -> None:
        world.fault(FaultRule(kind=FaultKind.DROP, verb="create", resource="events"))
        world.cluster.publish(NODE_EVENT)
        assert [event["count"] for event in world.events()] == [2]

    def test_event_that_expires_while_it_is_counted_is_written_anew(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        world.cluster.publish(NODE_EVENT)
        original = world.sandbox.calls.add

        def expire(call: Any) -> None:
            original(call)
            if call.operation == "get events":
                world.api.delete("v1", "events", call.name, namespace="default")

        monkeypatch.setattr(world.sandbox.calls, "add", expire)
        world.cluster.publish(NODE_EVENT)
        assert [event["count"] for event in world.events()] == [1]

    def test_event_that_others_keep_counting_is_given_up(self, world: World) -> None:
        world.cluster.publish(NODE_EVENT)
        world.fault(FaultRule(verb="patch", resource="events", status=409, times=0))
        with pytest.raises(Conflict):
            world.cluster.publish(NODE_EVENT)
        assert world.operations().count("patch events") == 5
