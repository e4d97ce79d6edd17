"""Which path shows what."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from exoscaler.adapters.web.metrics import exposition
from exoscaler.adapters.web.page import render
from exoscaler.core.state import State

_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """An HTTP answer: body, status, headers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_response(self) -> tuple[bytes, int, dict[str, str]]:
        """The answer as functions-framework takes it."""
        return self.body, self.status, {**_SAFE, **self.headers}


@dataclass(frozen=True, slots=True)
class Shown:
    """What may be shown: the state, its report, and why exoscaler is not at work (empty when it is)."""

    state: State
    report: Mapping[str, object]
    not_ready: str


def answer(method: str, path: str, load: Callable[[], Shown]) -> WebAnswer:
    """Answer a request. Only GET and HEAD show anything, and nothing of the request is repeated.

    `load` reads the state; it is not called for the liveness probe, which must not depend on the cluster. What it
    raises passes through.
    """
    if method not in ("GET", "HEAD"):
        return WebAnswer(b"this function only shows\n", 405, {"Allow": "GET, HEAD", **_TEXT})
    if path == "/healthz":
        return WebAnswer(b"ok\n", 200, _TEXT)
    show = _PATHS.get(path)
    if show is None:
        return WebAnswer(b"try /, /status.json, /metrics, /healthz or /readyz\n", 404, _TEXT)
    return show(load())


_TEXT = {"Content-Type": "text/plain; charset=utf-8"}


def _readiness(shown: Shown) -> WebAnswer:
    if shown.not_ready:
        return WebAnswer(shown.not_ready.encode() + b"\n", 503, _TEXT)
    return WebAnswer(b"ok\n", 200, _TEXT)


def _json(shown: Shown) -> WebAnswer:
    body = json.dumps(shown.report, allow_nan=False).encode() + b"\n"
    return WebAnswer(body, 200, {"Content-Type": "application/json"})


def _metrics(shown: Shown) -> WebAnswer:
    body, headers = exposition(shown.state)
    return WebAnswer(body, 200, headers)


def _page(shown: Shown) -> WebAnswer:
    return WebAnswer(render(shown.report).encode(), 200, {"Content-Type": "text/html; charset=utf-8"})


_PATHS: Mapping[str, Callable[[Shown], WebAnswer]] = {
    "/": _page,
    "/readyz": _readiness,
    "/status.json": _json,
    "/metrics": _metrics,
}
