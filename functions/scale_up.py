"""Carries out recorded growths, one short step each time. Woken by ticks, planned operations and node events."""

from __future__ import annotations

import flask
import functions_framework

from exoscaler import wiring
from exoscaler.adapters.events import MAX_BODY_BYTES
from exoscaler.ports.events import FunctionName

service = wiring.start()


@functions_framework.http
def scale_up(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Answer one event."""
    body = request.stream.read(MAX_BODY_BYTES + 1)
    event = wiring.EventRequest(request.method, dict(request.headers), body)
    return service.answer(FunctionName.SCALE_UP, event).as_response()
