"""Processes of the demo are started again when they die, and none is left behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from exoscaler.cli.demo.processes import ProcessDied, SupervisedProcess, free_port, wait_for_port

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.05)
    return False


def exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_killed_process_is_started_again(tmp_path: Path) -> None:
    with SupervisedProcess("sleeper", SLEEP, dict(os.environ), tmp_path / "log") as process:
        first = process.pid
        process.kill()

        assert eventually(lambda: process.pid != first and process.is_alive)
        assert process.restarts == 1


def test_process_that_cannot_be_replaced_stays_dead(tmp_path: Path) -> None:
    with SupervisedProcess("sleeper", SLEEP, dict(os.environ), tmp_path / "log", replaceable=False) as process:
        process.kill()

        assert eventually(lambda: not process.is_alive)
        assert process.restarts == 0


def test_children_of_a_process_end_with_it(tmp_path: Path) -> None:
    child_of_it = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child_of_it!r}])"
    log = tmp_path / "log"
    with SupervisedProcess("parent", [sys.executable, "-c", script], dict(os.environ), log):
        assert eventually(lambda: log.exists() and log.read_text().strip().isdigit())
        child = int(log.read_text())

    assert eventually(lambda: not exists(child))


def test_port_that_never_opens_is_an_error_with_the_end_of_the_log(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('what went wrong', flush=True); import time; time.sleep(60)"]
    with (
        SupervisedProcess("deaf", command, dict(os.environ), tmp_path / "log") as process,
        pytest.raises(ProcessDied, match="what went wrong"),
    ):
        wait_for_port(process, free_port(), timeout_seconds=2)
