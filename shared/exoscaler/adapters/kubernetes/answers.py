"""What the API server answered, and which error of ours that is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import msgspec

from exoscaler.adapters.kubernetes.calls import Call
from exoscaler.errors import Conflict, Denied, NotFound, RateLimited, Rejected, RemoteError, TimedOut, Unavailable

NAMESPACE_TERMINATING = "NamespaceTerminating"
DISRUPTION_BUDGET = "DisruptionBudget"
_MARKUP = re.compile(r"<[^>]*>")


class Expired(Unavailable):
    """410: the server no longer knows the moment that a list was begun at; only a new list helps."""


class _Cause(msgspec.Struct, gc=False):
    reason: str = ""


class _Details(msgspec.Struct, rename="camel"):
    causes: list[_Cause] | None = None
    retry_after_seconds: int = 0


class Status(msgspec.Struct):
    """The API's own description of a failure (``kind: Status``)."""

    message: str = ""
    reason: str = ""
    details: _Details | None = None

    def has_cause(self, reason: str) -> bool:
        """Whether one of the named causes is this one."""
        causes = self.details.causes if self.details is not None else None
        return any(cause.reason == reason for cause in causes or ())


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer to a call, whatever its status."""

    call: Call
    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def ok(self) -> bool:
        """Whether the call was carried out."""
        return 200 <= self.status < 300

    def failure(self) -> Status:
        """What the server says of a failure; a proxy's page gives its text without the markup."""
        try:
            return msgspec.json.decode(self.body, type=Status)
        except msgspec.DecodeError:
            text = _MARKUP.sub(" ", self.body[:4096].decode("utf-8", "replace"))
            return Status(message=" ".join(text.split()))

    def content(self) -> bytes:
        """The body of a call that was carried out.

        Raises:
            RemoteError: it was not.
        """
        if not self.ok:
            raise self.error()
        return self.body

    def error(self) -> RemoteError:
        """The failure as an error of ours."""
        failure = self.failure()
        operation, target, status = self.call.operation, self.call.target, self.status
        if status in (401, 403):
            return self._denied(failure)
        if status == 429:
            return RateLimited(operation, target, detail=failure.message, retry_after=self.retry_after(failure))
        kind = _KINDS.get(status) or (Rejected if 400 <= status < 500 else Unavailable)
        return kind(operation, target, status=status, detail=failure.message)

    def retry_after(self, failure: Status) -> timedelta | None:
        """When the server wants to be asked again, None when it does not say."""
        header = self.headers.get("Retry-After", "")
        if header.isascii() and header.isdigit():
            return timedelta(seconds=min(int(header), 3600))
        seconds = failure.details.retry_after_seconds if failure.details is not None else 0
        return timedelta(seconds=seconds) if seconds > 0 else None

    def _denied(self, failure: Status) -> RemoteError:
        call = self.call
        if failure.has_cause(NAMESPACE_TERMINATING):
            # Not a matter of rights: nothing can be made any more in a namespace that is going.
            return Conflict(call.operation, call.target, status=self.status, detail=failure.message)
        if self.status == 401:
            advice = "the API server does not accept the credentials"
        else:
            group = f' of API group "{call.resource.group}"' if call.resource.group else ""
            advice = f'RBAC must allow verb "{call.verb}" on resource "{call.access}"{group}'
        return Denied(call.operation, call.target, status=self.status, detail=f"{advice}: {failure.message}")


_KINDS: Mapping[int, type[RemoteError]] = {
    404: NotFound,
    408: TimedOut,
    409: Conflict,
    410: Expired,
}


def malformed(call: Call, why: object) -> Unavailable:
    """The error for an answer of success whose body is not what was asked for."""
    return Unavailable(call.operation, call.target, detail=f"the answer is not understood: {why}")
