"""The API over HTTP: signature, role, faults, operation, answer; and the sandbox's own controls beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale.api import ApiOperation, recognise
from exoscaler.sandbox.exoscale.calls import CallRecord, Calls
from exoscaler.sandbox.exoscale.cloud import Cloud
from exoscaler.sandbox.exoscale.disconnect import close_connection
from exoscaler.sandbox.exoscale.errors import ApiError, Forbidden, NotFound
from exoscaler.sandbox.exoscale.fault_kinds import (
    AnswerFault,
    DropFault,
    HangFault,
    LostResponseFault,
    MalformedFault,
    StatusFault,
)
from exoscaler.sandbox.exoscale.faults import Faults
from exoscaler.sandbox.exoscale.operation_ids import PUBLIC, OperationId
from exoscaler.sandbox.exoscale.requests import ApiRequest
from exoscaler.sandbox.exoscale.signature import SignatureVerifier, SignedRequest

API_PREFIX = "/v2"
CONTROL_PREFIX = "/_sandbox"

_ANSWER_FAULTS: tuple[type[AnswerFault], ...] = (StatusFault, DropFault, LostResponseFault, MalformedFault)


class ApiResponse(JSONResponse):
    """JSON as the API declares it."""

    media_type = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Admission:
    """Who may do what: the key's signature, and the operations its role allows (None: all)."""

    verifier: SignatureVerifier
    allowed: Collection[OperationId] | None = None

    def check(self, operation: OperationId, request: SignedRequest, clock: SandboxClock) -> None:
        """Raise Forbidden (403) unless the request may go on."""
        if operation in PUBLIC:
            return
        self.verifier.check(request, clock.now())
        if self.allowed is not None and operation not in self.allowed:
            raise Forbidden(f"Forbidden by role policy: operation {operation}")


class ExoscaleApi:
    """The ASGI application. `controls` answers what is below ``/_sandbox``."""

    def __init__(
        self, cloud: Cloud, faults: Faults, calls: Calls, clock: SandboxClock, admission: Admission, controls: ASGIApp
    ) -> None:
        self._cloud = cloud
        self._faults = faults
        self._calls = calls
        self._clock = clock
        self._admission = admission
        self._controls = controls

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = _path(scope)
        if path == CONTROL_PREFIX or path.startswith(f"{CONTROL_PREFIX}/"):
            await self._controls(scope, receive, send)
            return
        response = await self._answer(Request(scope, receive), path)
        if response is None:
            await close_connection(receive, send)
        else:
            await response(scope, receive, send)

    async def _answer(self, request: Request, path: str) -> Response | None:
        """The answer; None when the connection is to be closed instead."""
        try:
            if not path.startswith(f"{API_PREFIX}/"):
                raise NotFound(f"No operation at {request.method} {path}")
            operation, parameters = recognise(request.method, path.removeprefix(API_PREFIX))
            body = await request.body()
            self._admission.check(operation.id, _signed(request, body), self._clock)
        except ApiError as error:
            return _refusal(error)
        url = request.url
        endpoint = f"{url.scheme}://{url.netloc}{request.scope.get('root_path', '')}{API_PREFIX}"
        call = ApiRequest(parameters, request.url.query, body, endpoint)
        self._calls.arrived(operation.id)
        response = await self._run(operation, call)
        status = None if response is None else response.status_code
        self._calls.answered(CallRecord(operation.id, path, body, status))
        return response

    async def _run(self, operation: ApiOperation, call: ApiRequest) -> Response | None:
        pool_keys = self._pool_keys(operation, call)
        hang = self._faults.take((HangFault,), operation.id, pool_keys)
        if hang is not None:
            await asyncio.sleep(hang.seconds)
        fault = self._faults.take(_ANSWER_FAULTS, operation.id, pool_keys)
        if fault is None:
            return self._carry_out(operation, call)
        return self._struck(fault, operation, call)

    def _struck(self, fault: AnswerFault, operation: ApiOperation, call: ApiRequest) -> Response | None:
        match fault:
            case StatusFault():
                headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
                return ApiResponse({"message": fault.text}, fault.status, headers)
            case DropFault():
                return None
            case LostResponseFault():
                self._carry_out(operation, call)
                if fault.status is None:
                    return None
                return ApiResponse({"message": "Internal server error"}, fault.status)
            case MalformedFault():
                self._carry_out(operation, call)
                return Response(fault.body, media_type=ApiResponse.media_type)

    def _carry_out(self, operation: ApiOperation, call: ApiRequest) -> Response:
        try:
            return ApiResponse(operation.handler(self._cloud, call))
        except ApiError as error:
            return _refusal(error)

    def _pool_keys(self, operation: ApiOperation, call: ApiRequest) -> frozenset[str]:
        """The ids of the pool that the path names; empty for an operation that is not about one pool."""
        if "instance-pool" not in operation.path and "sks-nodepool-id" not in operation.path:
            return frozenset()
        named = call.parameters.get("sks-nodepool-id") or call.parameters.get("id", "")
        return self._cloud.pool_keys(named.lower())


def _path(scope: Scope) -> str:
    """The path below the place where the application is mounted."""
    path, root = str(scope.get("path", "")), str(scope.get("root_path", ""))
    return path.removeprefix(root)


def _signed(request: Request, body: bytes) -> SignedRequest:
    raw_path: bytes = request.scope["raw_path"]
    return SignedRequest(
        method=request.method,
        path=raw_path.decode("latin-1"),
        query=request.url.query,
        body=body,
        authorization=request.headers.get("authorization"),
    )


def _refusal(error: ApiError) -> Response:
    return ApiResponse(error.body(), error.status, dict(error.headers()))
