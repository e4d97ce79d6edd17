"""The command line: help, versions, mistakes."""

from __future__ import annotations

import subprocess
import sys

import pytest

import exoscaler


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "exoscaler.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_version_is_the_package_s_own() -> None:
    assert run("--version").stdout == f"exoscaler {exoscaler.__version__}\n"


def test_help_names_the_demo() -> None:
    ended = run("--help")

    assert ended.returncode == 0
    assert "demo" in ended.stdout


@pytest.mark.parametrize("arguments", [("demo", "--speed", "0"), ("demo", "--speed", "fast"), ("no-such-command",)])
def test_mistake_ends_with_two_and_without_a_traceback(arguments: tuple[str, ...]) -> None:
    ended = run(*arguments)

    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
