from __future__ import annotations

from collections.abc import Iterator

import pytest

from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import FRONT_DOOR


@pytest.fixture(scope="session", autouse=True)
def _front_door() -> Iterator[None]:
    """One server for all tests: each test puts its own sandbox behind it."""
    with HttpServer(FRONT_DOOR) as server:
        FRONT_DOOR.url = server.url
        yield
