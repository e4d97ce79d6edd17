"""docs/settings.md is made from the descriptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from exoscaler.settings.catalogue import flags
from exoscaler.settings.reference import COMMAND, EXAMPLE_FILE, EXAMPLE_FLAGS, render
from tests.settings.doors import load

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), f"docs/settings.md is out of date; run: {COMMAND}"


def test_command_writes_the_page() -> None:
    written = subprocess.run(
        [sys.executable, "-m", "exoscaler.settings.reference"], capture_output=True, check=True, timeout=60
    )

    assert written.stdout.decode() == render()
    assert written.stderr == b""


def test_every_flag_has_a_row_with_its_variables() -> None:
    rows = [line for line in render().splitlines() if line.startswith("| `--")]

    assert len(rows) == len([flag for flag in flags().values() if flag.variables])
    for flag in flags().values():
        for variable in flag.variables:
            assert any(f"| `--{flag.name}`" in row and f"`{variable}`" in row for row in rows), flag.name


def test_every_row_is_complete() -> None:
    for flag in flags().values():
        assert not flag.variables or flag.meaning, flag.name
        assert flag.why or flag.status.value == "works", flag.name


def test_table_cells_hold_no_bare_bars() -> None:
    widths = {line.replace("\\|", "").count("|") for line in render().splitlines() if line.startswith("| `--")}

    assert widths == {7}


def test_examples_work(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(EXAMPLE_FILE)

    from_file = load(f"--config={file}")
    from_flags = load(env={"EXOSCALER_FLAGS": EXAMPLE_FLAGS})

    assert from_file.warnings == ()
    assert [warning.partition(":")[0] for warning in from_flags.warnings] == ["--stderrthreshold (in EXOSCALER_FLAGS)"]
    assert from_file.settings.nodes == from_flags.settings.nodes
    assert len(from_file.settings.nodes) == 2
