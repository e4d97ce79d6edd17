from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from exoscaler.adapters.kubernetes.access import Access
from tests.adapters.kubernetes.stub import Stub, open_access, open_stub, write_config
from tests.adapters.kubernetes.worlds import Host, World, open_host, open_world
from tests.fakes.clock import FakeClock


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with open_host() as found:
        yield found


@pytest.fixture
def world(host: Host, tmp_path: Path) -> Iterator[World]:
    with open_world(host, tmp_path) as found:
        yield found


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def stub() -> Iterator[Stub]:
    with open_stub() as found:
        yield found


@pytest.fixture
def access(stub: Stub, clock: FakeClock, tmp_path: Path) -> Iterator[Access]:
    """The way to the stub; it loses patience after half a second."""
    kubeconfig = write_config(tmp_path / "config", stub.url)
    with open_access(kubeconfig, clock, request_timeout=timedelta(seconds=0.5)) as found:
        yield found


@pytest.fixture
def logged() -> Iterator[list[logging.LogRecord]]:
    """What the adapter logs, however logging is configured elsewhere."""
    records: list[logging.LogRecord] = []

    class Keeping(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            record.message = record.getMessage()
            records.append(record)

    logger = logging.getLogger("exoscaler.adapters.kubernetes")
    handler, level = Keeping(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield records
    logger.removeHandler(handler)
    logger.setLevel(level)
