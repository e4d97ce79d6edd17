"""The loop survives what its controllers do."""

from __future__ import annotations

import logging
import threading

import pytest

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers import CONTROLLER_GROUPS, ControllerLoop, Reader, build_controllers
from exoscaler.sandbox.controllers.resources import PODS
from exoscaler.sandbox.controllers.writing import Writer
from tests.sandbox.controllers.cluster import LiveCluster, ManualClock
from tests.sandbox.controllers.manifests import pod

DEADLINE_SECONDS = 10


class Failing:
    name = "failing"

    def step(self) -> bool:
        message = "the cluster is away"
        raise ConnectionError(message)


class Counting:
    name = "counting"

    def __init__(self, goal: int) -> None:
        self.steps = 0
        self._goal = goal
        self.done = threading.Event()

    def step(self) -> bool:
        self.steps += 1
        if self.steps >= self._goal:
            self.done.set()
        return False


def test_failure_of_one_controller_is_logged_and_stops_neither_others_nor_the_loop(
    caplog: pytest.LogCaptureFixture,
) -> None:
    counting = Counting(goal=3)
    with caplog.at_level(logging.ERROR):
        loop = ControllerLoop([Failing(), counting], SandboxClock(speed=100)).start()
        assert counting.done.wait(DEADLINE_SECONDS)
        loop.stop()
    first = [record.message for record in caplog.records if "ConnectionError: the cluster is away" in record.message]
    assert len(first) == 1


def test_stopped_loop_takes_no_further_step() -> None:
    counting = Counting(goal=2)
    loop = ControllerLoop([counting], SandboxClock(speed=100)).start()
    assert counting.done.wait(DEADLINE_SECONDS)
    loop.stop()
    steps = counting.steps
    assert not loop.round()
    assert counting.steps == steps


def test_loop_that_never_started_stops() -> None:
    ControllerLoop([], ManualClock()).stop()


def test_unknown_controllers_are_named_with_those_that_exist() -> None:
    cluster = LiveCluster()
    with pytest.raises(ValueError, match=r"no controllers named schedular: choose from .*scheduler"):
        build_controllers(cluster.client, Reader(cluster.client), cluster.clock, only=["schedular"])


def test_chosen_controllers_alone_are_built() -> None:
    cluster = LiveCluster()
    reader = Reader(cluster.client)
    assert [item.name for item in build_controllers(cluster.client, reader, cluster.clock, only=["scheduler"])] == [
        "scheduler"
    ]
    assert len(build_controllers(cluster.client, reader, cluster.clock)) > len(CONTROLLER_GROUPS)


def test_race_is_quiet_and_other_refusals_are_warnings(caplog: pytest.LogCaptureFixture) -> None:
    cluster = LiveCluster()
    created = cluster.apply("v1", "pods", pod("here"))
    writer = Writer(cluster.client)
    gone = {"metadata": {**created["metadata"], "name": "gone"}}
    stale = {"metadata": {**created["metadata"], "resourceVersion": "1"}}
    with caplog.at_level(logging.INFO):
        assert not writer.delete(PODS, gone)
        assert not writer.patch(PODS, stale, {"metadata": {"labels": {"a": "b"}}}, guarded=True)
        assert caplog.records == []
        nameless = {"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "default"}, "spec": {}}
        assert writer.create(PODS, nameless) is None
    assert [record.levelname for record in caplog.records] == ["WARNING"]
