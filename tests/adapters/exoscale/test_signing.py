from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from exoscale_auth import ExoscaleV2Auth  # type: ignore[import-untyped] # the official client ships no types
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from exoscaler.adapters.exoscale.signing import VALIDITY, ExoscaleAuth
from tests.adapters.exoscale.api import ENDPOINT, KEY, SECRET

RECORDED = Path(__file__).parents[2] / "recorded" / "exoscale-signature-vectors.json"
VECTORS: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
EXPIRES = 1767225600


def signed(request: httpx.Request, expires: int, key: str = KEY, secret: str = SECRET) -> httpx.Request:
    auth = ExoscaleAuth(SecretStr(key), SecretStr(secret), lambda: datetime.fromtimestamp(expires, UTC) - VALIDITY)
    return next(auth.auth_flow(request))


def officially_signed(request: httpx.Request, expires: int, secret: str) -> str:
    class OfficialRequest:
        method = request.method
        url = str(request.url)
        body = request.content
        headers: dict[str, str] = {}  # noqa: RUF012 # one per call

    official = OfficialRequest()
    ExoscaleV2Auth(KEY, secret)._sign_request(official, expires)
    return official.headers["Authorization"]


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_published_vector_is_met(vector: dict[str, Any]) -> None:
    request = httpx.Request(vector["method"], vector["url"], content=vector["body"].encode())

    signed(request, vector["expires"], vector["key"], vector["secret"])

    assert request.headers["Authorization"] == vector["authorization"]


# What the official client reads out of a URL has corners that no request of ours has: blanks in names, a name without
# a value, a semicolon in the last segment of a path.
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
QUERIES = st.lists(st.tuples(NAMES, st.text(min_size=1, max_size=20)), max_size=5)
SEGMENTS = st.lists(st.from_regex(r"[A-Za-z0-9._~:-]{1,20}", fullmatch=True), min_size=1, max_size=5)


@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    segments=SEGMENTS,
    query=QUERIES,
    body=st.binary(max_size=200),
    secret=st.text(min_size=1, max_size=60),
    expires=st.integers(min_value=10**9, max_value=4 * 10**9),
)
def test_signature_agrees_with_the_official_client(
    method: str, segments: list[str], query: list[tuple[str, str]], body: bytes, secret: str, expires: int
) -> None:
    path = "/".join(segments)
    request = httpx.Request(method, f"{ENDPOINT}/{path}", params=tuple(query) or None, content=body)

    signed(request, expires, secret=secret)

    assert request.headers["Authorization"] == officially_signed(request, expires, secret)


def test_signature_holds_for_ten_minutes() -> None:
    request = httpx.Request("GET", f"{ENDPOINT}/sks-cluster")
    now = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)

    next(ExoscaleAuth(SecretStr(KEY), SecretStr(SECRET), lambda: now).auth_flow(request))

    assert f",expires={int(now.timestamp()) + 600}," in request.headers["Authorization"]


def test_text_forms_show_no_credential() -> None:
    auth = ExoscaleAuth(SecretStr(KEY), SecretStr(SECRET), lambda: datetime.now(UTC))

    assert KEY not in f"{auth!r}{auth}"
    assert SECRET not in f"{auth!r}{auth}"
