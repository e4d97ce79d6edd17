"""Any function may be killed at any moment: the next tick carries on, and no machine is bought twice or lost."""

from __future__ import annotations

import os
import random
import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

import httpx
import pytest

from exoscaler.cli.demo.events import EventSources
from exoscaler.cli.demo.processes import SupervisedProcess
from exoscaler.cli.demo.recording import Recorder
from exoscaler.cli.demo.run import flags_at
from exoscaler.cli.demo.stage import Stage
from exoscaler.cli.demo.story import Story
from exoscaler.cli.demo.workload import Workload
from exoscaler.ports.events import FunctionName

pytestmark = pytest.mark.xdist_group("killed")

SPEED = 20.0
PAUSE_SECONDS = 1.5
QUICK_CLAIMS = ("--invocation-budget=4s", "--claim-ttl=5s", "--cloud-request-timeout=2s", "--kube-request-timeout=2s")


def kill_all_of_it(function: SupervisedProcess) -> None:
    function.kill()


def kill_the_server_s_parent(function: SupervisedProcess) -> None:
    os.kill(function.pid, signal.SIGKILL)


def kill_the_worker(function: SupervisedProcess) -> None:
    pid = function.pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        os.kill(int(child), signal.SIGKILL)


KILLS = (kill_all_of_it, kill_the_server_s_parent, kill_the_worker)


class Killer:
    """Kills one function after the other, whatever it is doing."""

    def __init__(self, stage: Stage) -> None:
        self.kills = 0
        self._stage = stage
        self._random = random.Random(7)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(PAUSE_SECONDS * self._random.uniform(0.5, 1.5)):
            name = self._random.choice([function.value for function in FunctionName])
            victim = self._random.choice(KILLS)
            with suppress(ProcessLookupError, FileNotFoundError):  # it is being started again at this very moment
                victim(self._stage.functions[name])
                self.kills += 1


@pytest.mark.timeout(400)
def test_story_ends_the_same_although_functions_are_killed_all_along(tmp_path: Path) -> None:
    with Stage(tmp_path, speed=SPEED, flags=(*flags_at(SPEED), *QUICK_CLAIMS)) as stage:
        urls = {name.value: stage.url(name.value) for name in FunctionName}
        before = counters(stage)
        with (
            Workload(stage.addresses.kubeconfig) as workload,
            Recorder(workload, stage.addresses.exoscale, stage.addresses.kubernetes) as recorder,
            EventSources(urls, stage.addresses.kubernetes, tick_seconds=1),
        ):
            story = Story(workload, recorder, stage.url("status"), speed=SPEED)
            with Killer(stage) as killer:
                told = [step.what for step in story.tell()]
            recording = recorder.finish()
        after = counters(stage)
        restarts = sum(process.restarts for process in stage.functions.values())

    assert len(told) == len(story.steps())
    assert killer.kills >= 5
    assert restarts > 0
    created = after["instances-created"] - before["instances-created"]
    destroyed = after["instances-destroyed"] - before["instances-destroyed"]
    # Every machine that was bought was given back, and never more than the peak were bought.
    assert created == destroyed > 0
    assert created <= recording.peak_nodes


def counters(stage: Stage) -> dict[str, int]:
    answer = httpx.get(f"{stage.addresses.exoscale}/_sandbox/counters", timeout=10).raise_for_status().json()
    return {name: int(value) for name, value in answer.items()}
