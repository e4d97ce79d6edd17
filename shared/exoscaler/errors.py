"""The error tree, cut by how the caller reacts.

::

    ExoscalerError
    ├── SettingsError          refuse to start; lists every mistake at once
    ├── StateError             the state ConfigMap
    │   ├── StateConflict      somebody else wrote first: load again, decide again
    │   └── StateTooLarge      the state does not fit a ConfigMap: an operator must act
    ├── RemoteError            a call to the cloud or the cluster failed; knows what and how
    │   ├── NotFound           the object is gone: count as done where removal was the aim
    │   ├── Denied             401 or 403: a person must fix a key, a role or RBAC
    │   ├── Conflict           busy, or changed meanwhile: look again, try at the next tick
    │   ├── Rejected           400, 413, 422: the request is wrong; repeating it will not help
    │   ├── RateLimited        429: come back after `retry_after`
    │   ├── QuotaExceeded      the account has no room: back the group off
    │   ├── Unavailable        5xx, reset, refused, malformed answer: transient
    │   └── TimedOut           no answer in time: the call may or may not have taken effect
    ├── EventError             a request that is not an event we can read (HTTP 400)
    ├── ClaimLost              another invocation may act now: stop before the next effect
    └── BudgetExhausted        the invocation's time is up: stop in a saved state

Adapters translate what their libraries raise into this tree and chain the original. Nothing of httpx or
kubernetes leaves an adapter.
"""

from __future__ import annotations

from datetime import timedelta

MAX_REMOTE_TEXT = 300
"""How much of a remote answer a message may quote: enough for any real error text, too little for a page."""


class ExoscalerError(Exception):
    """Root of everything exoscaler raises on purpose."""


class SettingsError(ExoscalerError):
    """The settings do not allow a start. `mistakes` holds one sentence per mistake."""

    def __init__(self, mistakes: tuple[str, ...]) -> None:
        self.mistakes = mistakes
        count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
        super().__init__("\n".join([f"{count} in the settings:", *(f"  - {m}" for m in mistakes)]))


class StateError(ExoscalerError):
    """The state could not be read or written."""


class StateConflict(StateError):
    """The state changed since it was loaded; nothing was written."""


class StateTooLarge(StateError):
    """The state would exceed what a ConfigMap can hold; nothing was written."""


class RemoteError(ExoscalerError):
    """A call to the cloud or to the cluster failed.

    Attributes:
        operation: the operation as its API names it, e.g. ``scale-sks-nodepool`` or ``list pods``.
        target: the object it was about, e.g. a pool id or ``default/web-1``; empty for lists.
        status: the HTTP status, None when there was no answer.
        detail: the remote's own words, cut to `MAX_REMOTE_TEXT`.
        took_effect: True when the change may have been carried out although the call failed.
    """

    took_effect = False

    def __init__(self, operation: str, target: str = "", *, status: int | None = None, detail: str = "") -> None:
        self.operation = operation
        self.target = target
        self.status = status
        self.detail = detail[:MAX_REMOTE_TEXT]
        subject = f"{operation} {target}".rstrip()
        answer = f" (HTTP {status})" if status is not None else ""
        super().__init__(f"{subject}: {self.what}{answer}{': ' + self.detail if self.detail else ''}")

    what = "failed"


class NotFound(RemoteError):
    """The object does not exist (any more)."""

    what = "not found"


class Denied(RemoteError):
    """The credentials do not allow the operation."""

    what = "not allowed with these credentials"


class Conflict(RemoteError):
    """The object is busy or changed meanwhile."""

    what = "conflicts with another change"


class Rejected(RemoteError):
    """The request is not acceptable; repeating it does not help."""

    what = "rejected as invalid"


class RateLimited(RemoteError):
    """Too many calls. `retry_after` is the remote's wish, None when it named none."""

    what = "rate limited"

    def __init__(
        self,
        operation: str,
        target: str = "",
        *,
        status: int | None = 429,
        detail: str = "",
        retry_after: timedelta | None = None,
    ) -> None:
        self.retry_after = retry_after
        super().__init__(operation, target, status=status, detail=detail)


class QuotaExceeded(RemoteError):
    """The account's quota leaves no room for the change."""

    what = "account quota exceeded"


class Unavailable(RemoteError):
    """The remote is failing or unreachable; transient. A change may have taken effect before the failure."""

    what = "unavailable"
    took_effect = True


class TimedOut(RemoteError):
    """No answer in time. A change may have taken effect."""

    what = "timed out"
    took_effect = True


class EventError(ExoscalerError):
    """A request that is not an event exoscaler can read."""


class ClaimLost(ExoscalerError):
    """This invocation's right to act on an operation has expired or passed to another one."""


class BudgetExhausted(ExoscalerError):
    """The invocation's time budget is used up; what was done is saved, the next tick goes on."""
