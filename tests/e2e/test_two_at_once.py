"""Two evaluations of the same pods at the same moment, in two processes, order the nodes once."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from exoscaler.cli.demo.workload import Workload
from exoscaler.sandbox.world import SandboxWorld
from tests.functions.serving import ServedFunction, environment_for, served

pytestmark = pytest.mark.xdist_group("two-at-once")

ROUNDS = 6


def wait_for_waiting_pods(workload: Workload) -> None:
    deadline = time.monotonic() + 30
    while not workload.look().waiting_pods:
        assert time.monotonic() < deadline, "no pod waits"
        time.sleep(0.05)


def hit(functions: list[ServedFunction]) -> list[dict[str, object]]:
    """Post to all of them at the same moment; returns what each decided."""
    barrier = threading.Barrier(len(functions))
    answers: list[dict[str, object]] = []

    def post(function: ServedFunction) -> None:
        barrier.wait()
        answers.append(function.post().json())

    threads = [threading.Thread(target=post, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_the_same_pods_are_helped_by_one_order_only(tmp_path: Path) -> None:
    with SandboxWorld.local(speed=30) as world:
        kubeconfig = world.write_kubeconfig(tmp_path / "kubeconfig")
        flags = {"min_evaluation_interval": "1ms"}
        environment = {"PATH": os.environ["PATH"], **environment_for(world.exoscale_url, kubeconfig, **flags)}
        with (
            Workload(kubeconfig) as workload,
            served("evaluate", environment, tmp_path) as first,
            served("evaluate", environment, tmp_path) as second,
        ):
            first.post()
            workload.apply(20)
            wait_for_waiting_pods(workload)
            grown = [growth for _ in range(ROUNDS) for answer in hit([first, second]) for growth in growths_of(answer)]

    # Nothing carries the order out here, so it must still be the only one after many evaluations.
    assert len(grown) == 1, grown


def growths_of(answer: dict[str, object]) -> list[object]:
    assert answer["outcome"] in ("done", "dropped"), answer
    decided = answer.get("decided", {})
    assert isinstance(decided, dict)
    growths = decided.get("grow", [])
    assert isinstance(growths, list)
    return growths
