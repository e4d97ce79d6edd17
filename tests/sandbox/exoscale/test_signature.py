from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests
from exoscale.api.v2 import Client
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from exoscaler.sandbox.exoscale import ApiError
from exoscaler.sandbox.exoscale.signature import SignatureVerifier, SignedRequest

VECTORS = json.loads((Path(__file__).parents[2] / "recorded" / "exoscale-signature-vectors.json").read_text())
EXPIRY = datetime.fromtimestamp(1767225600, UTC)
NOW = EXPIRY - timedelta(seconds=600)


def signed(vector: dict[str, str]) -> SignedRequest:
    url = urlsplit(vector["url"])
    return SignedRequest(vector["method"], url.path, url.query, vector["body"].encode(), vector["authorization"])


def verifier(vector: dict[str, str] = VECTORS[0], secret: str | None = None) -> SignatureVerifier:
    return SignatureVerifier(vector["key"], SecretStr(vector["secret"] if secret is None else secret))


def vector(name: str) -> SignedRequest:
    return signed(next(each for each in VECTORS if each["name"] == name))


def refusal(request: SignedRequest, *, now: datetime = NOW, secret: str | None = None) -> ApiError:
    with pytest.raises(ApiError) as caught:
        verifier(secret=secret).check(request, now)
    return caught.value


@pytest.mark.parametrize("name", [each["name"] for each in VECTORS])
def test_recorded_signature_verifies(name: str) -> None:
    verifier().check(vector(name), NOW)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"method": "POST"}, "put-json-body"),
        ({"path": "/v2/sks-cluste"}, "get-no-args"),
        ({"path": "/sks-cluster"}, "get-no-args"),
        ({"body": b'{"size":3}'}, "put-json-body"),
        ({"query": "manager-type=instance-pool&manager-id=5b0f7a9e-1c2d-4e3f-8a9b-0c1d2e3f4a5c"}, "get-query-args"),
    ],
)
def test_request_that_differs_from_the_signed_one_is_refused(change: dict[str, object], name: str) -> None:
    request = vector(name)
    for attribute, value in change.items():
        request = replace(request, **{attribute: value})  # type: ignore[arg-type] # the test names attributes as text

    assert refusal(request).status == 403


def test_wrong_secret_is_refused() -> None:
    assert "does not match" in refusal(vector("get-no-args"), secret="another").message


def test_unsigned_query_argument_is_refused() -> None:
    request = replace(vector("get-no-args"), query="manager-type=instance-pool")

    assert "does not cover the query argument manager-type" in refusal(request).message


def test_signed_query_argument_that_is_missing_is_refused() -> None:
    assert refusal(replace(vector("get-query-args"), query="manager-type=instance-pool")).status == 403


def test_argument_without_a_value_needs_no_signature() -> None:
    # The official Python client drops such arguments from the signature.
    verifier().check(replace(vector("get-no-args"), query="labels="), NOW)


@pytest.mark.parametrize(
    ("left", "words"),
    [(timedelta(0), "has expired"), (timedelta(days=-1), "has expired"), (timedelta(hours=2), "too far")],
)
def test_expiry_has_to_lie_in_the_near_future(left: timedelta, words: str) -> None:
    assert words in refusal(vector("get-no-args"), now=EXPIRY - left).message


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer abc",
        "EXO2-HMAC-SHA256",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=1767225600",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=soon,signature=AAAA",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=-1,signature=AAAA",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=1767225600,signature=!!!!",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=1767225600,signature=Ä",
        "EXO2-HMAC-SHA256 credential=EXO0123456789abcdef01234567,expires=1767225600,signature=AAAA,extra=1",
        "EXO2-HMAC-SHA256 credential=a,credential=b,expires=1767225600,signature=AAAA",
        "EXO2-HMAC-SHA256 credential=EXOanother,expires=1767225600,signature=AAAA",
    ],
)
def test_header_that_is_missing_or_malformed_or_of_another_key_is_refused(authorization: str | None) -> None:
    assert refusal(replace(vector("get-no-args"), authorization=authorization)).status == 403


SIGNER: Any = Client(VECTORS[0]["key"], VECTORS[0]["secret"], url="http://sandbox.test/v2").http_client.auth
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)


@given(
    method=st.sampled_from(["GET", "PUT", "POST", "DELETE"]),
    path=PRINTABLE,
    query=st.dictionaries(PRINTABLE.filter(lambda name: not set(name) & set(";,")), PRINTABLE, max_size=4),
    body=st.binary(max_size=64),
)
def test_whatever_the_official_client_signs_verifies(
    method: str, path: str, query: dict[str, str], body: bytes
) -> None:
    url = f"http://sandbox.test/v2/{quote(path, safe='')}"
    prepared = requests.Request(method, url, params=query, data=body).prepare()
    SIGNER._sign_request(prepared, int(EXPIRY.timestamp()))
    parts = urlsplit(prepared.url or "")

    verifier().check(
        SignedRequest(method, parts.path, parts.query, body, str(prepared.headers["Authorization"])),
        NOW,
    )


def test_refusals_and_representations_never_show_the_secret() -> None:
    checker = verifier()
    error = refusal(vector("get-no-args"), secret="not-the-secret")

    assert "not-the-secret" not in f"{error.body()}{error!r}"
    assert VECTORS[0]["secret"] not in f"{checker!r}{vars(checker)}"
