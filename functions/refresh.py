"""Reads the node groups behind the cluster's nodes into the cache. Woken by ticks."""

from __future__ import annotations

import flask
import functions_framework

from exoscaler import wiring
from exoscaler.adapters.events import MAX_BODY_BYTES
from exoscaler.ports.events import FunctionName

service = wiring.start()


@functions_framework.http
def refresh(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Answer one event."""
    body = request.stream.read(MAX_BODY_BYTES + 1)
    event = wiring.EventRequest(request.method, dict(request.headers), body)
    return service.answer(FunctionName.REFRESH, event).as_response()
