"""Shows what exoscaler knows and does: probes, metrics, JSON and a page. Reads the state, writes nothing."""

from __future__ import annotations

import flask
import functions_framework

from exoscaler import wiring

service = wiring.start()


@functions_framework.http
def status(request: flask.Request) -> flask.typing.ResponseReturnValue:
    """Answer one GET."""
    return service.show(request.method, request.path).as_response()
