"""Looks at the cluster and the cloud, decides, and records what to do. Woken by ticks and by pod and node events."""

from __future__ import annotations

import flask
import functions_framework

from exoscaler import wiring
from exoscaler.adapters.events import MAX_BODY_BYTES
from exoscaler.ports.events import FunctionName

service = wiring.start()


@functions_framework.http
def evaluate(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Answer one event."""
    body = request.stream.read(MAX_BODY_BYTES + 1)
    event = wiring.EventRequest(request.method, dict(request.headers), body)
    return service.answer(FunctionName.EVALUATE, event).as_response()
