"""A flag that the reference says works is read by something that acts on it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from exoscaler.settings.catalogue import flags
from exoscaler.settings.flag import Status

PACKAGE = Path(__file__).parents[2] / "shared" / "exoscaler"
READERS = "\n".join(
    path.read_text() for path in sorted(PACKAGE.rglob("*.py")) if "settings/fields" not in path.as_posix()
)
READ_IN_ANOTHER_WAY = {
    "config": "names the file that the settings come from",
    "memory-total": "read in bytes",
    "estimator": "has one value",
}
WORKING = [
    flag
    for flag in flags().values()
    if flag.status is Status.WORKS and flag.field and flag.name not in READ_IN_ANOTHER_WAY
]


@pytest.mark.parametrize("field", [flag.field for flag in WORKING])
def test_working_flag_has_a_reader(field: str) -> None:
    assert re.search(rf"settings\.{field}\b", READERS)
