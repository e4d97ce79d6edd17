"""What the API server answers when it refuses: every refusal is a `Status` object with code, reason and details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject, ObjectError


class ApiFailure(ObjectError):
    """A refused request. `details`, `retry_after` (seconds) and `continue_token` become parts of the `Status`."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        *,
        details: JsonObject | None = None,
        retry_after: int | None = None,
        continue_token: str = "",
    ) -> None:
        super().__init__(status, reason, message)
        self.details = details
        self.retry_after = retry_after
        self.continue_token = continue_token

    def to_status(self) -> JsonObject:
        """The `Status` object of the wire."""
        body: JsonObject = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {"continue": self.continue_token} if self.continue_token else {},
            "status": "Failure",
            "message": str(self),
        }
        if self.reason:
            body["reason"] = self.reason
        details = dict(self.details or {})
        if self.retry_after is not None:
            details["retryAfterSeconds"] = self.retry_after
        if details:
            body["details"] = details
        body["code"] = self.status
        return body


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One thing wrong with one field of an object; `kind` is the API's cause, such as ``FieldValueRequired``."""

    kind: str
    field: str
    text: str

    @classmethod
    def required(cls, field: str, note: str = "") -> FieldProblem:
        """The field must be set."""
        return cls("FieldValueRequired", field, f"Required value: {note}" if note else "Required value")

    @classmethod
    def invalid(cls, field: str, value: object, note: str) -> FieldProblem:
        """The field has a value that cannot be."""
        return cls("FieldValueInvalid", field, f"Invalid value: {_shown(value)}: {note}")

    @classmethod
    def unsupported(cls, field: str, value: object, allowed: Sequence[str]) -> FieldProblem:
        """The field has a value outside of its enumeration."""
        names = ", ".join(f'"{name}"' for name in allowed)
        return cls("FieldValueNotSupported", field, f"Unsupported value: {_shown(value)}: supported values: {names}")

    @classmethod
    def forbidden(cls, field: str, note: str) -> FieldProblem:
        """The field must not be set or changed."""
        return cls("FieldValueForbidden", field, f"Forbidden: {note}")

    @classmethod
    def duplicate(cls, field: str, value: object) -> FieldProblem:
        """The value occurs twice in a list that allows it once."""
        return cls("FieldValueDuplicate", field, f"Duplicate value: {_shown(value)}")

    @classmethod
    def too_long(cls, field: str, limit: int) -> FieldProblem:
        """The value is larger than `limit` bytes."""
        return cls("FieldValueTooLong", field, f"Too long: may not be more than {limit} bytes")


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _details(resource: Resource, name: str) -> JsonObject:
    details: JsonObject = {}
    if name:
        details["name"] = name
    if resource.group:
        details["group"] = resource.group
    details["kind"] = resource.plural
    return details


def not_found(resource: Resource, name: str) -> ApiFailure:
    """404: no object of that name."""
    message = f'{resource.qualified} "{name}" not found'
    return ApiFailure(404, "NotFound", message, details=_details(resource, name))


def no_such_path() -> ApiFailure:
    """404: no such API, resource or subresource."""
    return ApiFailure(404, "NotFound", "the server could not find the requested resource", details={})


def already_exists(resource: Resource, name: str) -> ApiFailure:
    """409: the name is taken."""
    message = f'{resource.qualified} "{name}" already exists'
    return ApiFailure(409, "AlreadyExists", message, details=_details(resource, name))


def conflict(resource: Resource, name: str, why: str) -> ApiFailure:
    """409: the object is not in the state that the request expects."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiFailure(409, "Conflict", message, details=_details(resource, name))


def modified_meanwhile(resource: Resource, name: str) -> ApiFailure:
    """409: the request carries a resourceVersion that is not the current one."""
    return conflict(
        resource, name, "the object has been modified; please apply your changes to the latest version and try again"
    )


def invalid(resource: Resource, name: str, problems: Sequence[FieldProblem]) -> ApiFailure:
    """422: the object breaks its rules; one cause a problem."""
    told = [f"{problem.field}: {problem.text}" for problem in problems]
    summary = told[0] if len(told) == 1 else f"[{', '.join(told)}]"
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details: JsonObject = {"name": name} if name else {}
    if resource.group:
        details["group"] = resource.group
    details["kind"] = resource.kind
    details["causes"] = [
        {"reason": problem.kind, "message": problem.text, "field": problem.field} for problem in problems
    ]
    return ApiFailure(422, "Invalid", f'{kind} "{name}" is invalid: {summary}', details=details)


def bad_request(message: str) -> ApiFailure:
    """400: the request cannot be understood."""
    return ApiFailure(400, "BadRequest", message)


def forbidden(resource: Resource, name: str, why: str) -> ApiFailure:
    """403: understood and refused by an admission rule."""
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    return ApiFailure(403, "Forbidden", message, details=_details(resource, name))


def expired(message: str, *, continue_token: str = "") -> ApiFailure:
    """410: the version asked for is no longer kept; `continue_token` carries on at the current one."""
    return ApiFailure(410, "Expired", message, continue_token=continue_token)


def too_many_requests(message: str, *, causes: Sequence[JsonObject] = (), retry_after: int | None = None) -> ApiFailure:
    """429: not now."""
    details: JsonObject | None = {"causes": list(causes)} if causes else None
    return ApiFailure(429, "TooManyRequests", message, details=details, retry_after=retry_after)


def method_not_allowed() -> ApiFailure:
    """405: the resource does not know the verb."""
    return ApiFailure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def unsupported_media_type(given: str, allowed: Sequence[str]) -> ApiFailure:
    """415: the body is in a format that the server does not read."""
    message = f"the body of the request was in an unknown format ({given}) - accepted media types include: "
    return ApiFailure(415, "UnsupportedMediaType", message + ", ".join(allowed))
