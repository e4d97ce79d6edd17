"""What the import linter cannot see: the function scripts, and the size of files."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
FUNCTIONS = sorted((TOP / "functions").glob("*.py"))
SOURCES = [
    path for folder in ("shared", "functions", "tests", "infra") for path in sorted((TOP / folder).rglob("*.py"))
]
ALLOWED_IN_FUNCTIONS = (
    "__future__",
    "flask",
    "functions_framework",
    "exoscaler.adapters.events",
    "exoscaler.ports.events",
)
LONGEST_FILE = 400


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            # `from exoscaler import wiring` imports exoscaler.wiring.
            names |= {f"{module}.{alias.name}" for alias in node.names} if module == "exoscaler" else {module}
    return names


def test_there_are_the_five_functions() -> None:
    assert [path.stem for path in FUNCTIONS] == ["evaluate", "refresh", "scale_down", "scale_up", "status"]


@pytest.mark.parametrize("path", FUNCTIONS, ids=lambda path: path.stem)
def test_function_only_decodes_calls_and_encodes(path: Path) -> None:
    assert imported(path) <= {*ALLOWED_IN_FUNCTIONS, "exoscaler.wiring"}
    assert len(path.read_text().splitlines()) <= 40


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(TOP)))
def test_file_can_be_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


def test_recorded_material_stays_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (TOP / "tests" / "recorded").rglob("*") if path.is_file()}

    assert sizes
    assert max(sizes.values()) <= 200 * 1024, sizes
