from __future__ import annotations

import inspect
import json
from datetime import timedelta

import httpx
import pytest

from exoscaler.adapters.exoscale import calls
from exoscaler.adapters.exoscale.calls import Call
from exoscaler.adapters.exoscale.failures import Answer, from_answer, speaks_of_quota
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
from tests.adapters.exoscale.api import NOW, Api, client_on, uid

LOOK = calls.get_instance_pool(uid("pool"))
SCALE = calls.scale_sks_nodepool(uid("cluster"), uid("nodepool"), 3)
EVICT = calls.evict_sks_nodepool_members(uid("cluster"), uid("nodepool"), [uid("instance")])
UPDATING = "The nodepool is already being updated."


def error_of(call: Call, status: int, message: str = "no") -> RemoteError:
    return from_answer(call, Answer(status, json.dumps({"message": message}).encode()), NOW).error


@pytest.mark.parametrize(
    ("call", "status", "message", "expected"),
    [
        (LOOK, 400, "no", Rejected),
        (LOOK, 401, "no", Denied),
        (LOOK, 403, "no", Denied),
        (LOOK, 404, "no", NotFound),
        (LOOK, 408, "no", TimedOut),
        (LOOK, 410, "no", Rejected),
        (LOOK, 413, "no", Rejected),
        (LOOK, 429, "no", RateLimited),
        (LOOK, 500, "no", Unavailable),
        (LOOK, 501, "no", Unavailable),
        (LOOK, 503, "no", Unavailable),
        (LOOK, 302, "no", Unavailable),
        (SCALE, 409, UPDATING, Conflict),
        (SCALE, 412, "no", Conflict),
        (SCALE, 423, "no", Conflict),
        (SCALE, 400, UPDATING, Conflict),
        (SCALE, 400, "size must be positive", Rejected),
        (SCALE, 422, "no", Rejected),
        (SCALE, 400, "Quota exceeded for resource instance", QuotaExceeded),
        (SCALE, 403, "Instance limit exceeded", QuotaExceeded),
        (SCALE, 409, "Your organization has reached its limit: quota", QuotaExceeded),
        (SCALE, 422, "instance quota reached", QuotaExceeded),
        (SCALE, 429, "API quota exceeded", RateLimited),
        (SCALE, 401, "no quota for this key", Denied),
        (SCALE, 404, "no quota and no nodepool of this id", NotFound),
        (SCALE, 412, "quota is being changed", Conflict),
        (SCALE, 500, "quota service down", Unavailable),
        # An evict needs no room, and a role's refusal may well name the operation get-quota.
        (EVICT, 403, "Forbidden: quota", Denied),
        (calls.get_quota("instance"), 403, "Forbidden by role policy: get-quota", Denied),
    ],
)
def test_answer_is_cut_by_what_the_caller_does_about_it(
    call: Call, status: int, message: str, expected: type[RemoteError]
) -> None:
    error = error_of(call, status, message)

    assert type(error) is expected
    assert (error.operation, error.target, error.status) == (call.operation, call.target, status)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Quota exceeded for resource instance: room for 0 of 2", True),
        ("instance quota reached", True),
        ("Quotas do not allow it", True),
        ("Account limit reached", True),
        ("The organisation's limit of instances is reached", True),
        ("Instances limit has been exceeded", True),
        ("This would exceed your instance limit", True),
        ("Maximum number of GPUs exceeded: gpu limit is reached", True),
        ("Rate limit exceeded for this organization", False),
        ("size must not exceed the limit of 100", False),
        ("Instance pool size must not exceed the limit of 100", False),
        ("not enough capacity in this zone", False),
        ("The nodepool is already being updated.", False),
        ("quotation marks missing", False),
        ("", False),
    ],
)
def test_words_about_a_quota_are_told_from_others(text: str, expected: bool) -> None:
    assert speaks_of_quota(text) is expected


@pytest.mark.parametrize("status", [401, 403])
def test_denied_names_what_the_role_must_allow_or_what_to_check(status: int) -> None:
    error = error_of(SCALE, status, "x" * 1000)

    remedy = "check the API key and secret" if status == 401 else "must allow scale-sks-nodepool"
    assert remedy in str(error)
    assert len(error.detail) <= 300


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"message": "a", "error": "b", "detail": "c", "title": "d"}', "a"),
        (b'{"message": "", "error": "b"}', "b"),
        (b'{"detail": "c", "title": "d", "status": 400}', "c"),
        (b'{"title": "d", "message": null}', "d"),
        (b'{"message": "bad", "errors": [{"message": "size is 0"}, {"message": "no"}]}', "bad: size is 0; no"),
        (
            b'{"errors": [{"location": "body.size", "detail": "too small"}, "odd", 7, null]}',
            "body.size: too small; odd",
        ),
        (b'{"message": {"nested": 1}}', '{"message": {"nested": 1}}'),
        (b"<html>\n <h1>Bad   gateway</h1>\n</html>", "<html> <h1>Bad gateway</h1> </html>"),
        (b"\xff\xfe", "��"),
        (b"", ""),
    ],
)
def test_message_is_the_first_text_that_says_something(body: bytes, expected: str) -> None:
    assert from_answer(LOOK, Answer(400, body), NOW).error.detail == expected


def test_long_body_is_cut() -> None:
    assert len(from_answer(LOOK, Answer(400, b"x" * 100_000), NOW).error.detail) == 300


@pytest.mark.parametrize(
    ("header", "body", "expected"),
    [
        ("7", b"", 7),
        (" 0 ", b"", 0),
        ("Tue, 01 Dec 2026 12:00:30 GMT", b"", 30),
        ("Tue, 01 Dec 2026 12:00:30 -0000", b"", 30),
        ("Tue, 01 Dec 2026 11:00:00 GMT", b"", 0),
        ("9" * 400, b"", 999_999_999),
        ("soon", b"", None),
        ("-5", b"", None),
        ("", b'{"error": "slow down", "retry_after": 12}', 12),
        ("", b'{"retry_after": 1.5}', 1.5),
        ("", b'{"retry_after": -3}', 0),
        ("", b'{"retry_after": 1e300}', 1e9),
        ("", b'{"retry_after": "12"}', None),
        ("", b"slow down", None),
    ],
)
def test_wish_to_wait_is_read_from_header_or_body(header: str, body: bytes, expected: float | None) -> None:
    failure = from_answer(LOOK, Answer(429, body, header), NOW)

    assert isinstance(failure.error, RateLimited)
    assert failure.error.retry_after == (None if expected is None else timedelta(seconds=expected))


def test_only_what_may_pass_by_itself_is_transient() -> None:
    transient = {status for status in range(300, 600) if from_answer(LOOK, Answer(status, b""), NOW).transient}

    assert transient == {429, *range(500, 600)} - {501}


EXCEPTIONS = sorted(
    (cls for _, cls in inspect.getmembers(httpx, inspect.isclass) if issubclass(cls, Exception)),
    key=lambda cls: cls.__name__,
)


def made(exception: type[Exception]) -> Exception:
    if exception is httpx.HTTPStatusError:
        request = httpx.Request("GET", "https://host")
        return httpx.HTTPStatusError("boom", request=request, response=httpx.Response(500, request=request))
    takes_message = "message" in inspect.signature(exception.__init__).parameters
    return exception("boom") if takes_message else exception()


@pytest.mark.parametrize("exception", EXCEPTIONS, ids=lambda cls: cls.__name__)
@pytest.mark.parametrize("call", [LOOK, SCALE], ids=["look", "change"])
def test_every_exception_of_the_http_library_is_translated(exception: type[Exception], call: Call) -> None:
    cause = made(exception)
    client = client_on(Api().on(f"{call.method} {call.path}", cause))

    with pytest.raises(RemoteError) as caught:
        client._http.send(call)

    assert caught.value.__cause__ is cause
    assert (caught.value.operation, caught.value.target, caught.value.status) == (call.operation, call.target, None)
    assert caught.value.detail


@pytest.mark.parametrize(
    ("cause", "expected", "may_have_happened"),
    [
        (httpx.ConnectTimeout("slow"), TimedOut, False),
        (httpx.PoolTimeout("full"), TimedOut, False),
        (httpx.ReadTimeout("slow"), TimedOut, True),
        (httpx.WriteTimeout("slow"), TimedOut, True),
        (httpx.ConnectError("refused"), Unavailable, False),
        (httpx.ProxyError("refused"), Unavailable, False),
        (httpx.ReadError("reset"), Unavailable, True),
        (httpx.WriteError("reset"), Unavailable, True),
        (httpx.RemoteProtocolError("closed"), Unavailable, True),
        (httpx.DecodingError("gzip"), Unavailable, True),
        (httpx.LocalProtocolError("header"), Rejected, False),
        (httpx.UnsupportedProtocol("ftp"), Rejected, False),
        (httpx.InvalidURL("port"), Rejected, False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_broken_connection_says_whether_a_change_may_have_happened(
    cause: Exception, expected: type[RemoteError], may_have_happened: bool
) -> None:
    client = client_on(Api().on(f"PUT {SCALE.path}", cause))

    with pytest.raises(expected) as caught:
        client.scale_sks_nodepool(uid("cluster"), uid("nodepool"), 3)

    assert caught.value.took_effect is may_have_happened


def test_refused_change_certainly_did_not_happen() -> None:
    assert [error_of(SCALE, status).took_effect for status in (400, 403, 404, 409, 429, 503)] == [False] * 5 + [True]
