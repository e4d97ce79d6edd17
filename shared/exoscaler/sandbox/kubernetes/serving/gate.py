"""What every request passes before it reaches the API: token, faults, record."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from urllib.parse import parse_qs

from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes.calls import Call, CallLog
from exoscaler.sandbox.kubernetes.failures import ApiFailure
from exoscaler.sandbox.kubernetes.faults import FaultKind, FaultRule, FaultRules
from exoscaler.sandbox.kubernetes.object_metadata import rfc3339_micro
from exoscaler.sandbox.kubernetes.serving.answers import failure_answer
from exoscaler.sandbox.kubernetes.serving.paths import Target, parse_target
from exoscaler.sandbox.kubernetes.serving.queries import flag

CONTROL = "/_sandbox/"
"""Paths below this one control the sandbox; they meet no faults and are not recorded."""

_OPEN_PATHS = ("/healthz", "/livez", "/readyz", "/version")
_UNFINISHED: Message = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", b"application/json"), (b"content-length", b"2")],
}


class Gate:
    """An ASGI application around the API."""

    def __init__(
        self, app: ASGIApp, *, clock: SandboxClock, token: SecretStr | None, faults: FaultRules, calls: CallLog
    ) -> None:
        self._app = app
        self._clock = clock
        self._token = token
        self._faults = faults
        self._calls = calls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, refuse it, or let it fail as the rules say."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not self._may_pass(scope):
            await failure_answer(ApiFailure(401, "Unauthorized", "Unauthorized"))(scope, receive, send)
            return
        target = None if scope["path"].startswith(CONTROL) else _target_of(scope)
        if target is None:
            await self._app(scope, receive, send)
            return
        await self._pass(_Passage(target, scope, receive, send))

    def _may_pass(self, scope: Scope) -> bool:
        if self._token is None or scope["path"] in _OPEN_PATHS:
            return True
        scheme, _, given = Headers(scope=scope).get("authorization", "").partition(" ")
        expected = self._token.get_secret_value()
        return scheme.lower() == "bearer" and secrets.compare_digest(given.strip().encode(), expected.encode())

    async def _pass(self, passage: _Passage) -> None:
        target = passage.target
        fault = self._faults.take(target.verb, target.resource.plural, target.subresource, target.name)

        async def recording(message: Message) -> None:
            if message["type"] == "http.response.start":
                passage.began = True
                self._record(passage, message["status"])
            await passage.send(message)

        if fault is None:
            await passage.finish(self._app, recording)
        elif fault.kind is FaultKind.STATUS:
            await failure_answer(fault.failure())(passage.scope, passage.receive, recording)
        elif fault.kind is FaultKind.DELAY:
            await asyncio.sleep(fault.seconds)
            await passage.finish(self._app, recording)
        else:
            self._record(passage, 0)
            await self._break(passage, fault)

    async def _break(self, passage: _Passage, fault: FaultRule) -> None:
        if fault.kind is FaultKind.DROP:
            await self._app(passage.scope, passage.receive, _discard)
        else:
            await passage.stall(fault.seconds)
        await passage.cut()

    def _record(self, passage: _Passage, status: int) -> None:
        target = passage.target
        self._calls.add(
            Call(
                at=rfc3339_micro(self._clock.now()),
                verb=target.verb,
                resource=target.resource.plural,
                subresource=target.subresource,
                namespace=target.namespace,
                name=target.name,
                status=status,
                user_agent=Headers(scope=passage.scope).get("user-agent", ""),
            )
        )


class _Passage:
    """One request on its way to a resource."""

    def __init__(self, target: Target, scope: Scope, receive: Receive, send: Send) -> None:
        self.target = target
        self.scope = scope
        self.receive = receive
        self.send = send
        self.began = False

    async def finish(self, app: ASGIApp, send: Send) -> None:
        """Let the application answer; an answer that goes on when the server stops is brought to its end."""
        try:
            await app(self.scope, self.receive, send)
        except asyncio.CancelledError:
            if not self.began:
                raise
            # Only the server cancels a request, and it does so last of all: nobody waits for the cancellation.
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def stall(self, seconds: float) -> None:
        """Wait that long, or until the client has gone."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._gone(), seconds)

    async def cut(self) -> None:
        """Cut the connection, so that the client gets no answer.

        ASGI has no message for that. The server's own connection is taken where it can be reached; elsewhere an answer
        that is shorter than it announced makes the server cut it.
        """
        transport = getattr(getattr(self.send, "__self__", None), "transport", None)
        if isinstance(transport, asyncio.Transport):
            transport.abort()
            await self._gone()
        else:
            await self.send(_UNFINISHED)

    async def _gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass


async def _discard(_message: Message) -> None:
    """Take an answer that nobody gets."""


def _target_of(scope: Scope) -> Target | None:
    query = {
        name: values[-1] for name, values in parse_qs(scope["query_string"].decode(), keep_blank_values=True).items()
    }
    return parse_target(scope["method"], scope["path"], watch=flag(query, "watch"))
