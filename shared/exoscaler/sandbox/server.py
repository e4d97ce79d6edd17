"""Serves an ASGI application on loopback from a thread of this process."""

from __future__ import annotations

import socket
import threading
import time
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

START_TIMEOUT_SECONDS = 10


class HttpServer:
    """An HTTP server that is reachable once `start` returned, and gone once `stop` returned.

    Port 0 takes a free port; `url` tells which one.

    Raises:
        OSError: on construction, the address cannot be bound.
    """

    def __init__(self, app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0) -> None:
        # With the protocol named, the event loop turns off the wait for more to send: 3 ms a request in place of 44.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError:
            self._socket.close()
            raise
        bound_host, bound_port = self._socket.getsockname()
        self.url = f"http://{bound_host}:{bound_port}"
        config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1, ws="none")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="sandbox-http", daemon=True)

    def _run(self) -> None:
        self._server.run(sockets=[self._socket])

    def start(self) -> Self:
        """Serve; returns when requests are answered.

        Raises:
            RuntimeError: the server did not come up in time.
        """
        self._thread.start()
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while not self._server.started:
            if time.monotonic() > deadline or not self._thread.is_alive():
                message = f"the sandbox's server at {self.url} did not start"
                raise RuntimeError(message)
            time.sleep(0.005)
        return self

    def stop(self) -> None:
        """Stop serving; open watches are cut."""
        self._server.should_exit = True
        self._thread.join(timeout=START_TIMEOUT_SECONDS)
        self._socket.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
