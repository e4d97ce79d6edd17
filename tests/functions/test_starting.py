"""A function starts only with settings that can work, and says everything that is wrong with them at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

import pytest

from exoscaler.cli.demo.processes import free_port
from tests.functions.serving import TOP, command_for

SECRET = "a-secret-that-must-not-be-shown-anywhere"


def start(function: str, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command_for(function, free_port()),
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("function", ["evaluate", "scale-up", "scale-down", "refresh", "status"])
def test_function_without_credentials_does_not_start_and_names_all_that_is_missing(function: str) -> None:
    ended = start(function, {"EXOSCALE_API_KEY": "EXO123"})

    assert ended.returncode != 0
    assert "EXOSCALE_ZONE" in ended.stderr
    assert "EXOSCALE_API_SECRET" in ended.stderr
    assert "EXOSCALE_API_KEY" not in ended.stderr
    assert "Traceback" not in ended.stderr


def test_every_mistake_is_told_at_once_and_no_secret() -> None:
    environment = {
        "EXOSCALE_ZONE": "ch-gva-2",
        "EXOSCALE_API_KEY": "EXO123",
        "EXOSCALE_API_SECRET": SECRET,
        "EXOSCALER_FLAGS": "--nodes=5:1:pool-a --scale-down-unneeded-time=soon --no-such-flag=1",
    }
    ended = start("evaluate", environment)

    assert ended.returncode != 0
    assert all(part in ended.stderr for part in ("5:1:pool-a", "soon", "no-such-flag"))
    assert SECRET not in ended.stderr + ended.stdout


def test_serve_names_the_functions_when_asked_for_another() -> None:
    ended = subprocess.run(
        ["make", "serve", "FUNCTION=nonsense"], cwd=TOP, capture_output=True, text=True, timeout=120, check=False
    )

    assert ended.returncode != 0
    assert "evaluate scale_up scale_down refresh status" in ended.stderr
