"""The way to the API server, opened when it is first needed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from exoscaler.adapters.kubernetes.answers import Answer
from exoscaler.adapters.kubernetes.calls import Call
from exoscaler.adapters.kubernetes.endpoint import Endpoint
from exoscaler.adapters.kubernetes.retries import Patience, is_transient
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import TimeLeft

if TYPE_CHECKING:
    from exoscaler.adapters.kubernetes.transport import Transport

READ_ATTEMPTS = 4
"""A read changes nothing, so it may be repeated; together with the pauses this bridges a restart of an API server."""


class Access:
    """Carries out calls. Safe to use from several threads; connections come up with the first call.

    Attributes:
        clock: tells the time and waits.
        patience: how long to wait for the API server.
    """

    def __init__(self, endpoint: Endpoint, clock: Clock, time_left: TimeLeft | None = None) -> None:
        self.clock = clock
        self.patience = Patience(clock, time_left)
        self._endpoint = endpoint
        self._lock = threading.Lock()
        self._transport: Transport | None = None

    def ask(self, call: Call) -> Answer:
        """Make the call once and hand out the answer, whatever its status.

        Raises:
            SettingsError: no usable credentials were found.
            Unavailable, TimedOut: there was no answer.
            Denied: the credentials could not be renewed.
        """
        return self._opened().send(call, self.patience.bound(self._endpoint.request_timeout))

    def read(self, call: Call) -> bytes:
        """Make a reading call, again while it fails for a passing reason, and hand out the body.

        Raises:
            SettingsError: no usable credentials were found.
            RemoteError: it failed, or kept failing.
        """
        return self.patience.repeat(lambda: self.ask(call).content(), attempts=READ_ATTEMPTS, again=is_transient)

    def close(self) -> None:
        """Close the connections; the next call opens new ones."""
        with self._lock:
            transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _opened(self) -> Transport:
        with self._lock:
            if self._transport is None:
                # The official client takes hundreds of milliseconds to import, which an invocation that finds nothing
                # to ask should not pay.
                from exoscaler.adapters.kubernetes.transport import Transport  # noqa: PLC0415 - it takes a quarter of a second

                self._transport = Transport(self._endpoint)
            return self._transport
