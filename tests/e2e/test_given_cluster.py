"""The whole story with the two halves apart: the Exoscale half's machines join a cluster that is there already.

It always runs against the sandbox's Kubernetes half in a process of its own, and against a real cluster when
EXOSCALER_TEST_KUBECONFIG names one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from exoscaler.cli.demo.events import EventSources
from exoscaler.cli.demo.recording import Recorder
from exoscaler.cli.demo.run import flags_at
from exoscaler.cli.demo.stage import GivenCluster, Stage, json_lines
from exoscaler.cli.demo.story import Story
from exoscaler.cli.demo.workload import Workload
from exoscaler.ports.events import FunctionName
from tests.e2e.given_cluster import STATE, leave_as_it_was, missing_controllers

SPEED = 20.0
REAL = os.environ.get("EXOSCALER_TEST_KUBECONFIG", "")


def play(folder: Path, cluster: GivenCluster) -> None:
    flags = (*flags_at(SPEED), f"--state-config-map-name={STATE}")
    with Stage(folder, speed=SPEED, flags=flags, cluster=cluster) as stage:
        urls = {name.value: stage.url(name.value) for name in FunctionName}
        # Ticks alone: events only save time.
        with (
            Workload(cluster.kubeconfig) as workload,
            Recorder(workload, stage.addresses.exoscale, "") as recorder,
            EventSources(urls, "", tick_seconds=1),
        ):
            story = Story(workload, recorder, stage.url("status"), speed=SPEED)
            told = [step.what for step in story.tell()]
            workload.remove()

    assert told == [step.what for step in story.steps()]


@contextmanager
def kubernetes_half(folder: Path) -> Iterator[Path]:
    """The sandbox's Kubernetes API with its controllers, in a process of its own."""
    kubeconfig, log = folder / "kubeconfig", folder / "kubernetes.log"
    command = [sys.executable, "-m", "exoscaler.sandbox", "kubernetes", "--speed", str(SPEED)]
    with log.open("wb") as output:
        process = subprocess.Popen([*command, "--kubeconfig-out", str(kubeconfig)], stdout=output)
    try:
        deadline = time.monotonic() + 30
        while not any(line.get("event") == "ready" for line in json_lines(log.read_text())):
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield kubeconfig
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.timeout(300)
@pytest.mark.xdist_group("given-cluster")
def test_machines_join_the_other_half_in_another_process(tmp_path: Path) -> None:
    with kubernetes_half(tmp_path) as kubeconfig:
        assert missing_controllers(kubeconfig) == ()
        play(tmp_path, GivenCluster(kubeconfig))


@pytest.mark.real_cluster
@pytest.mark.timeout(600)
@pytest.mark.skipif(not REAL, reason="EXOSCALER_TEST_KUBECONFIG names no cluster")
def test_the_same_story_on_a_real_cluster(tmp_path: Path) -> None:
    kubeconfig = Path(REAL)
    try:
        play(tmp_path, GivenCluster(kubeconfig, missing_controllers(kubeconfig)))
    finally:
        leave_as_it_was(kubeconfig)
