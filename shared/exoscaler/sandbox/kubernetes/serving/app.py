"""The HTTP application: every path of the API, and the control of the sandbox."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from exoscaler.sandbox.kubernetes.calls import CallLog
from exoscaler.sandbox.kubernetes.failures import ApiFailure, no_such_path
from exoscaler.sandbox.kubernetes.faults import FaultRule, FaultRules
from exoscaler.sandbox.kubernetes.serving import discovery, openapi
from exoscaler.sandbox.kubernetes.serving.answers import failure_answer, json_answer, success_status
from exoscaler.sandbox.kubernetes.serving.bodies import read_object
from exoscaler.sandbox.kubernetes.serving.forms import parse_accept
from exoscaler.sandbox.kubernetes.serving.gate import CONTROL, Gate
from exoscaler.sandbox.kubernetes.serving.objects import ObjectRequests
from exoscaler.sandbox.kubernetes.serving.open_watches import OpenWatches
from exoscaler.sandbox.kubernetes.serving.paths import parse_target
from exoscaler.sandbox.kubernetes.serving.queries import flag
from exoscaler.sandbox.kubernetes.serving.subresources import SubresourceRequests
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject

_log = logging.getLogger(__name__)
_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_AGGREGATED_TYPE = "application/json;" + ";".join(f"{name}={value}" for name, value in discovery.AGGREGATED.items())


def create_app(
    store: ObjectStore, *, token: SecretStr | None, faults: FaultRules, calls: CallLog, watches: OpenWatches
) -> ASGIApp:
    """The application that serves a store. With a `token`, requests must carry it."""
    control = _Control(store, faults, calls)
    resources = _Resources(store, watches)
    routes = [
        *(Route(path, _healthy) for path in ("/healthz", "/livez", "/readyz")),
        Route("/version", _answering(discovery.VERSION)),
        Route("/api", _core_discovery),
        Route("/apis", _group_discovery),
        Route("/api/{version}", _resource_discovery),
        Route("/apis/{group}", _one_group),
        Route("/apis/{group}/{version}", _resource_discovery),
        Route("/openapi/v3", _answering(openapi.index())),
        Route("/openapi/v3/{root:path}", _openapi_document),
        Route(f"{CONTROL}faults", control.faults, methods=["GET", "POST", "DELETE"]),
        Route(f"{CONTROL}calls", control.calls, methods=["GET", "DELETE"]),
        Route(f"{CONTROL}compact", control.compact, methods=["POST"]),
        Route("/{path:path}", resources.answer, methods=_METHODS),
    ]
    app = Starlette(routes=routes, exception_handlers={ApiFailure: _told, Exception: _broken})
    return Gate(app, clock=store.clock, token=token, faults=faults, calls=calls)


class _Resources:
    def __init__(self, store: ObjectStore, watches: OpenWatches) -> None:
        self._objects = ObjectRequests(store, watches)
        self._subresources = SubresourceRequests(store)

    async def answer(self, request: Request) -> Response:
        target = parse_target(request.method, request.url.path, watch=flag(request.query_params, "watch"))
        if target is None:
            raise no_such_path()
        handler = self._subresources if self._subresources.handles(target) else self._objects
        return await handler.answer(request, target)


class _Control:
    def __init__(self, store: ObjectStore, faults: FaultRules, calls: CallLog) -> None:
        self._store = store
        self._faults = faults
        self._calls = calls

    async def faults(self, request: Request) -> Response:
        if request.method == "POST":
            self._faults.add(FaultRule.from_json(await read_object(request)))
        elif request.method == "DELETE":
            self._faults.clear()
        return json_answer(self._faults.to_json())

    async def calls(self, request: Request) -> Response:
        answer = json_answer(self._calls.to_json())
        if request.method == "DELETE":
            self._calls.clear()
        return answer

    async def compact(self, _request: Request) -> Response:
        self._store.storage.compact()
        return json_answer(success_status())


async def _healthy(_request: Request) -> Response:
    return PlainTextResponse("ok")


def _answering(value: JsonObject) -> Callable[[Request], Awaitable[Response]]:
    async def answer(_request: Request) -> Response:
        return json_answer(value)

    return answer


def _wants_aggregated(request: Request) -> bool:
    """True when the first acceptable form is that of all groups in one answer."""
    acceptable = parse_accept(request.headers.get("accept", ""))
    return bool(acceptable) and acceptable[0] == discovery.AGGREGATED


async def _core_discovery(request: Request) -> Response:
    if _wants_aggregated(request):
        return json_answer(discovery.aggregated(core=True), media_type=_AGGREGATED_TYPE)
    return json_answer(discovery.core_versions())


async def _group_discovery(request: Request) -> Response:
    if _wants_aggregated(request):
        return json_answer(discovery.aggregated(core=False), media_type=_AGGREGATED_TYPE)
    return json_answer(discovery.group_list())


async def _one_group(request: Request) -> Response:
    return _found(discovery.group(request.path_params["group"]))


async def _resource_discovery(request: Request) -> Response:
    group, version = request.path_params.get("group"), request.path_params["version"]
    return _found(discovery.resource_list(f"{group}/{version}" if group else version))


async def _openapi_document(request: Request) -> Response:
    return _found(openapi.document(request.path_params["root"]))


def _found(value: JsonObject | None) -> Response:
    if value is None:
        raise no_such_path()
    return json_answer(value)


async def _told(_request: Request, error: Exception) -> Response:
    if not isinstance(error, ApiFailure):
        raise error
    return failure_answer(error)


async def _broken(request: Request, _error: Exception) -> Response:
    _log.error("the sandbox failed on %s %s", request.method, request.url.path)
    return failure_answer(ApiFailure(500, "InternalError", "Internal error occurred: see the sandbox's log"))
