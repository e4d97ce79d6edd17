"""The client on real sockets: connections that are reused, hang, drip, break, or were never there."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.exoscale import ExoscaleClient
from exoscaler.adapters.exoscale.connection import connect
from exoscaler.errors import TimedOut, Unavailable
from tests.adapters.exoscale.api import Observed, connection, pool_json, uid

POOL = json.dumps(pool_json()).encode()


class Server(ThreadingHTTPServer):
    """Counts connections; `behave` answers a request."""

    daemon_threads = True

    def __init__(self, behave: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.behave = behave
        self.connections = 0
        self.requests = 0
        self.count = threading.Lock()
        self.released = threading.Event()
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v2"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def setup(self) -> None:
        with self.server.count:
            self.server.connections += 1
        super().setup()

    def do_GET(self) -> None:
        with self.server.count:
            self.server.requests += 1
        self.server.behave(self)

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.do_GET()

    def log_message(self, *args: object) -> None:
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True


@contextmanager
def serving(behave: Callable[[Any], None], **fields: Any) -> Iterator[tuple[Server, ExoscaleClient]]:
    server = Server(behave)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    client = connect(connection(endpoint=server.endpoint, **fields), SystemClock(), Observed())
    try:
        yield server, client
    finally:
        client.close()
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


def give(handler: Handler, body: bytes = POOL, **headers: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def hang(handler: Handler) -> None:
    handler.server.released.wait(30)
    handler.close_connection = True


def drip(handler: Handler) -> None:
    """One byte at a time, each in good time, without an end."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.close_connection = True
    while not handler.server.released.wait(0.02):
        handler.wfile.write(b" ")


def hang_up(handler: Handler) -> None:
    handler.close_connection = True


def test_connection_is_used_again() -> None:
    with serving(give) as (server, client):
        for _ in range(5):
            client.get_instance_pool(uid("pool"))

        assert (server.requests, server.connections) == (5, 1)


def test_client_is_shared_by_threads() -> None:
    with serving(give) as (server, client), ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: client.get_instance_pool(uid("pool")).name, range(40)))

        assert found == ["pool-1"] * 40
        assert server.connections <= 8


def test_compressed_answer_is_read() -> None:
    with serving(lambda handler: give(handler, gzip.compress(POOL), Content_Encoding="gzip")) as (_, client):
        assert client.get_instance_pool(uid("pool")).name == "pool-1"


def test_answer_in_a_broken_compression_is_a_transient_failure() -> None:
    def mislabel(handler: Handler) -> None:
        give(handler, POOL, Content_Encoding="gzip")

    with serving(mislabel, max_attempts=1) as (_, client), pytest.raises(Unavailable, match="decompressed"):
        client.get_instance_pool(uid("pool"))


@pytest.mark.parametrize("behave", [hang, drip])
def test_answer_that_does_not_come_is_given_up(behave: Callable[[Handler], None]) -> None:
    with serving(behave, request_timeout=timedelta(seconds=0.2), max_attempts=2) as (server, client):
        with pytest.raises(TimedOut):
            client.get_instance_pool(uid("pool"))

        assert server.requests == 2


@pytest.mark.parametrize("behave", [hang, drip])
def test_change_that_is_not_answered_may_have_taken_effect(behave: Callable[[Handler], None]) -> None:
    with serving(behave, request_timeout=timedelta(seconds=0.2)) as (server, client):
        with pytest.raises(TimedOut) as caught:
            client.scale_instance_pool(uid("pool"), 3)

        assert caught.value.took_effect
        assert server.requests == 1


def test_change_whose_connection_breaks_may_have_taken_effect() -> None:
    with serving(hang_up) as (server, client):
        with pytest.raises(Unavailable) as caught:
            client.scale_instance_pool(uid("pool"), 3)

        assert caught.value.took_effect
        assert server.requests == 1


def test_truncated_answer_is_a_transient_failure() -> None:
    def truncate(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        handler.wfile.write(POOL)
        handler.close_connection = True

    with serving(truncate, max_attempts=1) as (_, client), pytest.raises(Unavailable, match="connection lost"):
        client.get_instance_pool(uid("pool"))


def test_look_survives_a_connection_that_the_server_closed_while_it_was_idle() -> None:
    closed: list[bool] = []

    def close_first(handler: Handler) -> None:
        give(handler)
        handler.close_connection = not closed
        closed.append(True)

    with serving(close_first) as (server, client):
        names = [client.get_instance_pool(uid("pool")).name for _ in range(3)]

        assert names == ["pool-1"] * 3
        assert server.connections == 2


def test_nobody_listening_is_unavailable_and_nothing_happened() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}/v2"
        client = connect(connection(endpoint=endpoint), SystemClock(), Observed())

        with pytest.raises(Unavailable, match="no connection") as caught:
            client.scale_instance_pool(uid("pool"), 3)

    assert not caught.value.took_effect
    client.close()


def test_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with serving(give) as (_, client):
        assert client.get_instance_pool(uid("pool")).name == "pool-1"
