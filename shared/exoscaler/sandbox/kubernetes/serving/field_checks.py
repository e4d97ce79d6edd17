"""Holds what clients send against its kind, as strictly as the request's ``fieldValidation`` asks."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.store import Edit
from exoscaler.sandbox.kubernetes.wire import conform
from exoscaler.sandbox.objects import JsonObject

_IGNORE, _WARN, _STRICT = "Ignore", "Warn", "Strict"
_MOST_WARNINGS = 20


class FieldCheck:
    """Checks the object of one request; what it warns about goes into the headers of the response."""

    def __init__(self, request: Request, resource: Resource) -> None:
        self._resource = resource
        self._mode = request.query_params.get("fieldValidation") or _WARN
        self._unknown: list[str] = []
        if self._mode not in (_IGNORE, _WARN, _STRICT):
            message = (
                f'fieldValidation: Unsupported value: "{self._mode}": supported values: "Ignore", "Strict", "Warn"'
            )
            raise ApiFailure(422, "Invalid", message)

    def check(self, obj: JsonObject) -> JsonObject:
        """The object without the fields that its kind does not have.

        Raises:
            ApiFailure: 400, a field has a value of the wrong type, or is unknown and the request is strict.
        """
        resource = self._resource
        if (obj.get("apiVersion", resource.group_version), obj.get("kind", resource.kind)) != (
            resource.group_version,
            resource.kind,
        ):
            return obj
        conformed = conform(obj, resource.group_version, resource.kind)
        self._unknown = conformed.unknown
        if self._unknown and self._mode == _STRICT:
            what = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
            raise bad_request(f"{what}: strict decoding error: {', '.join(self._warnings())}")
        return conformed.obj

    def checked(self, edit: Edit) -> Edit:
        """The edit, followed by the check of its result."""
        return lambda obj: self.check(edit(obj))

    def warn(self, answer: Response) -> Response:
        """The response with a warning for every unknown field, unless the request ignores them."""
        if self._mode == _WARN:
            for warning in self._warnings()[:_MOST_WARNINGS]:
                quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
                answer.headers.append("Warning", f'299 - "{quoted}"')
        return answer

    def _warnings(self) -> list[str]:
        return [f'unknown field "{path}"' for path in self._unknown]
