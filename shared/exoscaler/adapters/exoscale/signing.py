"""Signs requests: ``EXO2-HMAC-SHA256``, without any I/O.

What is signed: method and path, body, query values in the order of their names, (no) headers, the expiry. Query names
that occur twice are listed but their values left out, as Exoscale's own Python client does; the operations used here
have no query at all.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable, Generator
from datetime import datetime, timedelta
from urllib.parse import parse_qs

import httpx
from pydantic import SecretStr

SCHEME = "EXO2-HMAC-SHA256"

VALIDITY = timedelta(minutes=10)
"""How long a signature holds, as in the official clients. With a clock that is further off every call fails."""


def sign(method: str, target: str, body: bytes, expires: int, *, key: SecretStr, secret: SecretStr) -> str:
    """The value of the ``Authorization`` header.

    Args:
        method: upper-case.
        target: path and query exactly as they are sent, the path with its ``/v2``.
        body: the bytes that are sent.
        expires: Unix seconds.
        key: the API key; appears in the header.
        secret: the API secret; does not.
    """
    path, _, query = target.partition("?")
    arguments = parse_qs(query)
    names = sorted(arguments)
    values = "".join(arguments[name][0] for name in names if len(arguments[name]) == 1)
    message = b"\n".join([f"{method} {path}".encode(), body, values.encode(), b"", str(expires).encode()])
    digest = hmac.new(secret.get_secret_value().encode(), message, hashlib.sha256).digest()
    pragmas = [f"credential={key.get_secret_value()}"]
    if names:
        pragmas.append(f"signed-query-args={';'.join(names)}")
    pragmas += [f"expires={expires}", f"signature={base64.b64encode(digest).decode()}"]
    return f"{SCHEME} {','.join(pragmas)}"


class ExoscaleAuth(httpx.Auth):
    """Signs each request as it is sent, so that a repeated one carries a fresh expiry."""

    requires_request_body = True

    def __init__(self, key: SecretStr, secret: SecretStr, now: Callable[[], datetime]) -> None:
        self._key = key
        self._secret = secret
        self._now = now

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key={self._key}, secret={self._secret})"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Adds the ``Authorization`` header."""
        expires = int((self._now() + VALIDITY).timestamp())
        target = request.url.raw_path.decode("ascii")
        request.headers["Authorization"] = sign(
            request.method, target, request.content, expires, key=self._key, secret=self._secret
        )
        yield request
