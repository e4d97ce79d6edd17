from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.kubernetes.worlds import Host, open_host
from tests.contracts.harness import ClusterHarness, StoreHarness, open_cluster, open_store

KINDS = ("fake", "kubernetes")


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with open_host() as found:
        yield found


@pytest.fixture(params=KINDS)
def cluster(request: pytest.FixtureRequest, host: Host, tmp_path: Path) -> Iterator[ClusterHarness]:
    with open_cluster(request.param, host, tmp_path) as harness:
        yield harness


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest, host: Host, tmp_path: Path) -> Iterator[StoreHarness]:
    with open_store(request.param, host, tmp_path) as harness:
        yield harness
