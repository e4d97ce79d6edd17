"""What the simulated API refuses, and how it says so.

The body is what compute endpoints really send: ``{"message": …}``, with ``"errors": [{"message": …}]`` where a
request is invalid in several places.
"""

from __future__ import annotations

from collections.abc import Mapping


class ApiError(Exception):
    """A refused request. `details` says what is wrong in each place; empty when `message` says it all."""

    status = 400

    def __init__(self, message: str, *, details: tuple[str, ...] = ()) -> None:
        self.message = message
        self.details = details
        super().__init__(message)

    def body(self) -> dict[str, object]:
        """The answer's JSON."""
        if not self.details:
            return {"message": self.message}
        return {"message": self.message, "errors": [{"message": detail} for detail in self.details]}

    def headers(self) -> Mapping[str, str]:
        """The answer's additional headers."""
        return {}


class Invalid(ApiError):
    """400: the request is wrong and stays wrong when repeated."""

    @classmethod
    def because(cls, *details: str) -> Invalid:
        """An invalid request with one sentence per mistake."""
        return cls("Request validation failed", details=details)


class QuotaReached(ApiError):
    """400: the account's quota leaves no room. The status is the sandbox's choice: none is documented."""


class Forbidden(ApiError):
    """403: the signature does not hold, or the key's role does not allow the operation."""

    status = 403


class NotFound(ApiError):
    """404: no such object in this zone, or no such path."""

    status = 404


class MethodNotAllowed(ApiError):
    """405: the path exists, but not with this method."""

    status = 405

    def __init__(self, allowed: tuple[str, ...]) -> None:
        self.allowed = allowed
        super().__init__("Method not allowed")

    def headers(self) -> Mapping[str, str]:
        """Names the methods that the path knows."""
        return {"Allow": ", ".join(self.allowed)}


class Busy(ApiError):
    """409: another change of the same pool is under way."""

    status = 409
