"""An HTTP server on loopback that answers events by script: statuses, hangs, resets."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    """What the receiver does with one request."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    resets: bool = False
    hangs: bool = False
    hangs_in_body: bool = False


RESET = Answer(resets=True)
HANG = Answer(hangs=True)


@dataclass(frozen=True)
class Received:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float = field(default_factory=time.monotonic)
    """In seconds of a clock without a date."""


class Receiver:
    """Answers by script, then 200; keeps what it received."""

    def __init__(self, url: str, script: deque[Answer], released: threading.Event) -> None:
        self.url = url
        self.received: list[Received] = []
        self.released = released
        self._script = script

    def will(self, *answers: Answer) -> None:
        self._script.extend(answers)

    def next_answer(self, request: Received) -> Answer:
        self.received.append(request)
        return self._script.popleft() if self._script else Answer()


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hung up is what these tests are about."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Runs a receiver on a free port of loopback."""
    receiver: Receiver

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = receiver.next_answer(Received(self.path, headers, body))
            if answer.resets:
                # linger 0: close with a reset instead of a farewell
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            if answer.hangs:
                receiver.released.wait(30)
                return
            self._answer(answer)

        def _answer(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + (1 if answer.hangs_in_body else 0)))
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.hangs_in_body:
                self.wfile.flush()
                receiver.released.wait(30)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it
            """Says nothing."""

    server = _QuietServer(("127.0.0.1", 0), Handler)
    receiver = Receiver(f"http://127.0.0.1:{server.server_port}/events", deque(), threading.Event())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        server.server_close()
        thread.join()
