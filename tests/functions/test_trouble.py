"""Whatever goes wrong outside, the sender is told to come again, and nobody is told a secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exoscaler.sandbox.exoscale import StatusFault
from exoscaler.sandbox.world import SANDBOX_SECRET, SandboxWorld
from tests.functions.serving import ServedFunction, served

pytestmark = pytest.mark.xdist_group("functions")


def test_cluster_out_of_reach_is_answered_with_come_again(environment: dict[str, str], folder: Path) -> None:
    nowhere = folder / "nowhere"
    nowhere.write_text((folder / "kubeconfig").read_text().replace("127.0.0.1:", "127.0.0.1:1"))
    unreachable = {**environment, "EXOSCALER_KUBECONFIG": str(nowhere), "EXOSCALER_KUBE_REQUEST_TIMEOUT": "1s"}
    with served("evaluate", unreachable, folder) as function:
        answer = function.post()
        shown = function.log

    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert answer.json()["outcome"] == "come-again"
    assert "Traceback" not in shown
    assert SANDBOX_SECRET not in shown + answer.text


def test_cloud_that_fails_is_contained_and_the_evaluation_goes_on(
    evaluate: ServedFunction, world: SandboxWorld
) -> None:
    assert world.cloud is not None
    fault = world.cloud.faults.add(StatusFault(status=500))
    try:
        answer = evaluate.post()
    finally:
        world.cloud.faults.remove(fault)

    assert answer.status_code == 200
    assert answer.json()["outcome"] == "done"


def test_log_is_json_and_names_function_and_decision(evaluate: ServedFunction) -> None:
    evaluate.post()
    lines = [json.loads(line) for line in evaluate.log.splitlines() if line.startswith("{")]
    finished = [line for line in lines if line["event"] == "finished"]

    assert finished
    assert {"time", "level", "function", "decision_id", "outcome"} <= finished[-1].keys()
    assert SANDBOX_SECRET not in evaluate.log
