"""A server that answers as it is told, also in ways in which no API server should."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast

import yaml

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.endpoint import Endpoint
from tests.fakes.clock import FakeClock


@dataclass(frozen=True)
class Reply:
    """One answer. `cut` promises more bytes than come, `reset` sends none, `hangs` waits until the server stops.

    With `drips` the body comes byte by byte, one every that many seconds.
    """

    status: int = 200
    body: str = "{}"
    headers: Mapping[str, str] = field(default_factory=dict)
    cut: bool = False
    reset: bool = False
    hangs: bool = False
    drips: float = 0


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    connection: int
    """The client's port: the same for calls over one connection."""


def failure(status: int, message: str = "", *, reason: str = "", causes: tuple[str, ...] = (), **more: Any) -> Reply:
    """What an API server sends when it refuses; `more` goes into the details, ``retry_after`` into the headers."""
    retry_after = more.pop("retry_after", None)
    details = {"causes": [{"reason": cause, "message": "m"} for cause in causes], **more}
    body = {"kind": "Status", "status": "Failure", "message": message, "reason": reason, "details": details}
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(status, json.dumps({**body, "code": status}), headers)


def success(body: Any) -> Reply:
    return Reply(200, json.dumps(body))


class Stub:
    """Gives the replies of `script` one after the other, and the last one again and again."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.script: list[Reply] = [Reply()]
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()

    def answers(self, *replies: Reply) -> None:
        self.script = list(replies)

    def take(self, request: Request) -> Reply:
        with self._lock:
            self.requests.append(request)
            return self.script.pop(0) if len(self.script) > 1 else self.script[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    stub: Stub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        stub = cast("_Server", self.server).stub
        length = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = stub.take(
            Request(self.command, self.path, headers, json.loads(content) if content else None, self.client_address[1])
        )
        if reply.hangs:
            stub.stopping.wait(30)
        if reply.reset or reply.hangs:
            # Close with a reset instead of an orderly end.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self._send(reply)

    def _send(self, reply: Reply) -> None:
        stub = cast("_Server", self.server).stub
        body = reply.body.encode()
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + (100 if reply.cut else 0)))
        self.end_headers()
        for part in [body] if not reply.drips else [bytes([byte]) for byte in body]:
            self.wfile.write(part)
            if reply.drips and stub.stopping.wait(reply.drips):
                break
        self.close_connection = self.close_connection or reply.cut

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 the base class names them so

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base class names it so
        pass


@contextmanager
def open_stub() -> Iterator[Stub]:
    with _Server(("127.0.0.1", 0), _Handler) as server:
        server.stub = Stub(f"http://127.0.0.1:{server.server_port}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.stub
        finally:
            server.stub.stopping.set()
            server.shutdown()
            thread.join()


def write_config(path: Path, server: str, user: Mapping[str, Any] | None = None, **cluster: Any) -> Path:
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "here", "user": "me"}}],
        "clusters": [{"name": "here", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "me", "user": dict(user or {})}],
    }
    path.write_text(yaml.safe_dump(content))
    return path


@contextmanager
def open_access(kubeconfig: Path, clock: FakeClock, **options: Any) -> Iterator[Access]:
    access = Access(Endpoint(kubeconfig=str(kubeconfig), **options), clock)
    try:
        yield access
    finally:
        access.close()
