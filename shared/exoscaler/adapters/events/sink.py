"""Sends our events over HTTP: to a Knative broker, or straight to the function that acts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, wait_random

import exoscaler
from exoscaler.adapters.events.encode import encode
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    Rejected,
    RemoteError,
    SettingsError,
    TimedOut,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from exoscaler.ports.events import OperationKind, OperationPlanned

OPERATION = "send operation.planned"
"""What `RemoteError.operation` says of this sink's failures."""

DEFAULT_TIMEOUT = timedelta(seconds=3)
_LONGEST_PAUSE = timedelta(seconds=1)
_jitter = wait_random(min=0.1, max=0.3)
_ATTEMPTS = 2
_WORTH_ANOTHER_TRY = frozenset({429, 502, 503, 504})
_MAX_ANSWER_BYTES = 1024

_BY_STATUS: Mapping[int, type[RemoteError]] = {
    401: Denied,
    403: Denied,
    404: NotFound,
    408: TimedOut,
    409: Conflict,
}


class NoEventSink:
    """Tells nobody: the functions find planned operations at their next tick."""

    def operation_planned(self, event: OperationPlanned) -> None:
        """Does nothing."""


class HttpEventSink:
    """Posts events in binary mode, one attempt and at most one more.

    The second attempt follows 429, 502, 503, 504 and a failed connection, after a short pause; not a time-out, whose
    seconds are spent, and not an answer that asks for a pause of more than a second, which the next tick makes
    anyway. A repeat has the same id. Redirects are not followed. Safe to use from several threads.

    Args:
        urls: where events about operations of a kind go; a kind without one is not sent anywhere.
        timeout: the longest silence that is borne in connecting, sending and receiving, for each attempt.
        client: to send with, for credentials, proxies or trusted authorities; whoever made it closes it. A client of
            its own is made without one.

    Raises:
        SettingsError: a URL is not an absolute http or https URL.
    """

    def __init__(
        self,
        urls: Mapping[OperationKind, str],
        *,
        timeout: timedelta = DEFAULT_TIMEOUT,
        client: httpx.Client | None = None,
    ) -> None:
        # the URL itself may hold a password, so the mistake names only what it was for
        mistakes = tuple(
            f"the event sink for {kind.value} operations needs an absolute http:// or https:// URL"
            for kind, url in urls.items()
            if not _is_absolute(url)
        )
        if mistakes:
            raise SettingsError(mistakes)
        self._urls = dict(urls)
        self._timeout = timeout.total_seconds()
        self._owns_client = client is None
        self._client = client if client is not None else httpx.Client()

    def operation_planned(self, event: OperationPlanned) -> None:
        """Posts the event; see `exoscaler.ports.events.EventSink` for what failing means."""
        url = self._urls.get(event.kind)
        if url is None:
            return
        message = encode(event)
        headers = {**message.headers, "User-Agent": f"exoscaler/{exoscaler.__version__}"}
        attempts = Retrying(
            stop=stop_after_attempt(_ATTEMPTS),
            wait=_pause,
            retry=retry_if_exception(_is_worth_another_try),
            reraise=True,
        )
        try:
            attempts(self._post, url, headers, message.body)
        except _Answered as answer:
            raise answer.as_remote_error(event.operation_id) from answer
        except httpx.TimeoutException as late:
            raise TimedOut(OPERATION, event.operation_id, detail=_named(late)) from late
        except httpx.HTTPError as broken:
            raise Unavailable(OPERATION, event.operation_id, detail=_named(broken)) from broken

    def close(self) -> None:
        """Closes the connections, of a client of its own."""
        if self._owns_client:
            self._client.close()

    def _post(self, url: str, headers: Mapping[str, str], body: bytes) -> None:
        request = self._client.stream(
            "POST", url, content=body, headers=headers, timeout=self._timeout, follow_redirects=False
        )
        # what a receiver says to a delivered event is not waited for
        with request as response:
            if not response.is_success:
                asked = _retry_after(response.headers.get("Retry-After", ""))
                raise _Answered(response.status_code, asked, _beginning(response))


class _Answered(Exception):
    """The receiver answered with something else than success."""

    def __init__(self, status: int, retry_after: timedelta | None, detail: str) -> None:
        self.status = status
        self.retry_after = retry_after
        self.detail = detail
        super().__init__(f"HTTP {status}")

    def as_remote_error(self, operation_id: str) -> RemoteError:
        if self.status == 429:
            return RateLimited(OPERATION, operation_id, detail=self.detail, retry_after=self.retry_after)
        detail = "redirects are not followed, set the final URL" if self.status < 400 else self.detail
        other = Unavailable if self.status >= 500 else Rejected
        return _BY_STATUS.get(self.status, other)(OPERATION, operation_id, status=self.status, detail=detail)


def _is_worth_another_try(failure: BaseException) -> bool:
    if isinstance(failure, _Answered):
        soon = failure.retry_after is None or failure.retry_after <= _LONGEST_PAUSE
        return failure.status in _WORTH_ANOTHER_TRY and soon
    return isinstance(failure, httpx.TransportError) and not isinstance(failure, httpx.TimeoutException)


def _pause(state: RetryCallState) -> float:
    failure = state.outcome.exception() if state.outcome is not None else None
    asked = failure.retry_after if isinstance(failure, _Answered) else None
    return max(_jitter(state), asked.total_seconds() if asked is not None else 0.0)


def _is_absolute(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
        # what name resolution would otherwise stumble over at the first event, outside of httpx's errors
        parsed.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        return False
    return parsed.scheme in ("http", "https") and bool(parsed.host)


def _retry_after(value: str) -> timedelta | None:
    """Reads a wait in seconds; a date, which some gateways send, is not worth waiting for and counts as long."""
    if not value:
        return None
    if value.isascii() and value.isdigit():
        return timedelta(seconds=min(int(value[:9]), 86_400))
    return timedelta(days=1)


def _beginning(response: httpx.Response) -> str:
    """The first words of an answer; none when even they fail to arrive."""
    try:
        first = next(response.iter_bytes(_MAX_ANSWER_BYTES), b"")
    except httpx.HTTPError:
        return ""
    return " ".join(first.decode(errors="replace").split())


def _named(failure: httpx.HTTPError) -> str:
    return f"{type(failure).__name__}: {failure}".removesuffix(": ")
