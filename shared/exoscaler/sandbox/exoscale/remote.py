"""The machines of a sandbox that runs in another process."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import httpx
from pydantic import TypeAdapter, ValidationError

from exoscaler.sandbox.machines.view import Machine

MACHINES: TypeAdapter[tuple[Machine, ...]] = TypeAdapter(tuple[Machine, ...])
"""How machines are written between the two processes."""


class SandboxUnreachable(Exception):
    """The other process did not answer, or not with machines."""


class RemoteMachineView:
    """Implements `MachineView` over ``GET /_sandbox/machines``. `url` is the sandbox's address without a path."""

    def __init__(self, url: str, *, timeout_seconds: float = 10.0) -> None:
        self._url = f"{url.rstrip('/')}/_sandbox/machines"
        self._client = httpx.Client(timeout=timeout_seconds)

    def machines(self) -> tuple[Machine, ...]:
        """The instances, sorted by name.

        Raises:
            SandboxUnreachable: the sandbox cannot be reached or answers with something else.
        """
        try:
            answer = self._client.get(self._url).raise_for_status()
            return MACHINES.validate_json(answer.content)
        except (httpx.HTTPError, ValidationError) as error:
            raise SandboxUnreachable(f"no machines from {self._url}: {error}") from error

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
