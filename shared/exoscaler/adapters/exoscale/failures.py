"""What went wrong, in the caller's terms: an answer or a broken connection becomes an error of `exoscaler.errors`.

What the API answers when a pool is busy or a quota is used up is documented nowhere, so two guesses are made from its
words; both are kept here and nowhere else (`speaks_of_quota`, `_BUSY`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx
import msgspec

from exoscaler.adapters.exoscale.calls import Call
from exoscaler.errors import (
    Conflict,
    Denied,
    NotFound,
    QuotaExceeded,
    RateLimited,
    Rejected,
    RemoteError,
    TimedOut,
    Unavailable,
)

_TEXT_FIELDS = ("message", "error", "detail", "title")

_QUOTA = re.compile(r"\bquotas?\b", re.IGNORECASE)
_RATE = re.compile(r"\brate[ -]limit", re.IGNORECASE)
_LIMIT_OF_THE_ACCOUNT = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:account|organi[sz]ation|resource|instances?(?![- ]pool)|gpus?)\b",
        r"\blimits?\b",
        r"\b(?:reach|exceed)",
    )
)
"""Words that together say that a limit of the account, of its instances or GPUs, is reached or would be exceeded."""

_BUSY = re.compile(r"\balready being \w+", re.IGNORECASE)
"""As in "The nodepool is already being updated.", the one refusal of a busy nodepool on record."""

_SIGNATURE = re.compile(r"\b(credential|signature)=[^,\s\"'<&]+", re.IGNORECASE)
"""Parts of an ``Authorization`` header, which proxies like to quote in their error pages."""

_CONFLICTS = frozenset({409, 412, 423})
_QUOTA_STATUSES = frozenset({400, 403, 409, 422})
_LOCAL_TEXT = 120
"""How much of the API's words a message quotes when advice of our own follows."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer, as far as it matters. `retry_after` is the header's text, empty without one."""

    status: int
    body: bytes
    retry_after: str = ""

    @property
    def is_success(self) -> bool:
        """Whether the request was accepted."""
        return 200 <= self.status < 300


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that did not succeed.

    Attributes:
        error: what the caller gets.
        transient: whether the same call may succeed a moment later.
        wait: how long the API asks to wait before that, None when it does not say.
    """

    error: RemoteError
    transient: bool
    wait: timedelta | None = None


def speaks_of_quota(text: str) -> bool:
    """Whether a refusal's words are about the account's quota. A guess, see the module."""
    if _RATE.search(text):
        return False
    return bool(_QUOTA.search(text)) or all(words.search(text) for words in _LIMIT_OF_THE_ACCOUNT)


def from_answer(call: Call, answer: Answer, now: datetime) -> Failure:
    """The failure behind an answer that is not a success; `now` is needed where it asks to come back at a date."""
    text = _words(answer.body)
    if answer.status == 429:
        wait = _wait(answer, now)
        error = RateLimited(call.operation, call.target, status=429, detail=text, retry_after=wait)
        return Failure(error, transient=True, wait=wait)
    if answer.status >= 500:
        error_5xx = Unavailable(call.operation, call.target, status=answer.status, detail=text)
        return Failure(error_5xx, transient=answer.status != 501, wait=_wait(answer, now))
    return Failure(_refusal(call, answer.status, text), transient=False)


def _refusal(call: Call, status: int, text: str) -> RemoteError:
    """The error behind an answer that the same call would get again."""
    kind: type[RemoteError] = Rejected
    if not 400 <= status < 500:
        kind, text = Unavailable, f"not an answer of this API, which never redirects: {text}"
    elif call.operation.grows and status in _QUOTA_STATUSES and speaks_of_quota(text):
        kind = QuotaExceeded
    elif status in (401, 403):
        kind, text = Denied, _advice(call, status, text)
    elif status == 404:
        kind = NotFound
    elif status in _CONFLICTS or _BUSY.search(text):
        kind = Conflict
    elif status == 408:
        kind = TimedOut
    return kind(call.operation, call.target, status=status, detail=text)


def _advice(call: Call, status: int, text: str) -> str:
    said = f"{text[:_LOCAL_TEXT]}; " if text else ""
    if status == 401:
        return f"{said}check the API key and secret, and that this machine's clock is right"
    return (
        f"{said}the IAM role of the API key must allow {call.operation}"
        " (a wrong key, secret or clock may be answered like this too)"
    )


def from_exception(call: Call, cause: Exception) -> Failure:
    """The failure behind an exception of the HTTP library; `cause` becomes the error's cause."""
    error: RemoteError
    transient = True
    words = _hidden(str(cause)) or type(cause).__name__
    match cause:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            error = _unsent(TimedOut(call.operation, call.target, detail=f"no connection: {words}"))
        case httpx.TimeoutException():
            error = TimedOut(call.operation, call.target, detail=f"no answer: {words}")
        case httpx.ConnectError() | httpx.ProxyError():
            error = _unsent(Unavailable(call.operation, call.target, detail=f"no connection: {words}"))
        case httpx.LocalProtocolError() | httpx.UnsupportedProtocol() | httpx.InvalidURL():
            # Its text may quote a header, so it is not passed on.
            detail = f"the request cannot be sent ({type(cause).__name__}); check endpoint and credentials"
            error, transient = _unsent(Rejected(call.operation, call.target, detail=detail)), False
        case httpx.DecodingError():
            error = Unavailable(call.operation, call.target, detail=f"the answer cannot be decompressed: {words}")
        case _:
            error = Unavailable(call.operation, call.target, detail=f"connection lost: {words}")
    error.__cause__ = cause
    return Failure(error, transient=transient)


def out_of_time(call: Call, detail: str, *, sent: bool) -> Failure:
    """The failure of a call that this side gave up."""
    error = TimedOut(call.operation, call.target, detail=detail)
    return Failure(error if sent else _unsent(error), transient=sent)


def too_large(call: Call, status: int, limit: int) -> Failure:
    """The failure of a call whose answer was cut off."""
    detail = f"the answer is larger than {limit // 2**20} MiB, which no answer of this API is"
    return Failure(Unavailable(call.operation, call.target, status=status, detail=detail), transient=False)


def _unsent(error: RemoteError) -> RemoteError:
    """The same error, of a request that never left: a change did certainly not happen."""
    error.took_effect = False
    return error


def _wait(answer: Answer, now: datetime) -> timedelta | None:
    header = answer.retry_after.strip()
    if not header:
        asked = _json(answer.body).get("retry_after")
        return _seconds(asked) if isinstance(asked, int | float) else None
    if header.isdecimal():
        return _seconds(int(header[:9]))
    try:
        date = parsedate_to_datetime(header)
    except ValueError:
        return None
    date = date if date.tzinfo is not None else date.replace(tzinfo=UTC)
    return max(date - now, timedelta(0))


def _seconds(number: float) -> timedelta:
    return timedelta(seconds=min(max(number, 0), 1e9))


def _json(body: bytes) -> Mapping[str, object]:
    """The body as a JSON object; empty when it is none."""
    try:
        decoded: object = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _words(body: bytes) -> str:
    """What an error answer says, in one line: its first text, then what it finds wrong in detail."""
    content = _json(body)
    main = next((text for field in _TEXT_FIELDS if (text := _line(content.get(field)))), "")
    parts = "; ".join(_details(content.get("errors")))
    text = ": ".join(part for part in (main, parts) if part)
    return _hidden(text or _line(body[:2000].decode(errors="replace")))


def _details(errors: object) -> Iterator[str]:
    for item in errors if isinstance(errors, list) else ():
        parts = [_line(item)]
        if isinstance(item, dict):
            parts = [_line(item.get("location")), _line(item.get("message")) or _line(item.get("detail"))]
        if text := ": ".join(filter(None, parts)):
            yield text


def _line(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _hidden(text: str) -> str:
    return _SIGNATURE.sub(r"\1=***", text)
