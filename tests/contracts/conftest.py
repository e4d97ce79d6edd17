from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contracts.harness import ClusterHarness, StoreHarness, open_cluster, open_store

KINDS = ("fake", "kubernetes")


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClusterHarness]:
    with open_cluster(request.param, tmp_path) as harness:
        yield harness


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[StoreHarness]:
    with open_store(request.param, tmp_path) as harness:
        yield harness
