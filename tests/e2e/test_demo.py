"""The demo as a user runs it: it ends with 0 only if every step really happened."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("demo")

SPEED = "20"


@pytest.mark.timeout(300)
def test_demo_plays_to_its_end_and_leaves_a_report(tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    command = [sys.executable, "-m", "exoscaler.cli", "demo", "--speed", SPEED, "--report", str(report)]
    ended = subprocess.run(
        [*command, "--logs", str(tmp_path / "logs")], capture_output=True, text=True, timeout=280, check=False
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "every pool is back at its minimum" in ended.stdout
    assert "scale-instance-pool" in ended.stdout or "scale-sks-nodepool" in ended.stdout
    page = report.read_text()
    assert page.count("<polyline") == 3
    assert "every pool is back at its minimum" in page
