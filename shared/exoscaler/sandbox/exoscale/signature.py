"""Checks ``EXO2-HMAC-SHA256`` request signatures, written from the scheme's description alone.

The signed message has five segments, one a line: ``METHOD path``, the body, the values of the signed query
arguments one after the other, the signed headers (always empty today), the expiry in Unix seconds.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import parse_qsl

from pydantic import SecretStr

from exoscaler.sandbox.exoscale.errors import Forbidden

SCHEME = "EXO2-HMAC-SHA256"
MAX_LIFETIME_SECONDS = 3600
"""How far ahead an expiry may lie. Official clients use 600 seconds; the API's own limit is not documented."""

_KNOWN_FIELDS = frozenset({"credential", "signed-query-args", "expires", "signature"})
_REQUIRED_FIELDS = _KNOWN_FIELDS - {"signed-query-args"}


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What of a request is signed, as it came over the wire.

    `path` is the escaped path with ``/v2``; `query` is the query string without the question mark, still escaped.
    """

    method: str
    path: str
    query: str
    body: bytes
    authorization: str | None


@dataclass(frozen=True, slots=True)
class _Claim:
    """The ``Authorization`` header, taken apart."""

    credential: str
    signed_arguments: tuple[str, ...]
    expires: int
    signature: bytes


class SignatureVerifier:
    """Knows one API key and its secret."""

    def __init__(self, key: str, secret: SecretStr) -> None:
        self._key = key
        self._secret = secret

    def check(self, request: SignedRequest, now: datetime) -> None:
        """Accept the request or raise; `now` is the wall-clock time.

        Raises:
            Forbidden: no signature, one that cannot be read, of another key, expired, valid for more than an hour,
                not covering every query argument, or not matching the request.
        """
        claim = _read(request.authorization)
        if not hmac.compare_digest(claim.credential.encode(), self._key.encode()):
            raise Forbidden("The API key does not exist")
        left = claim.expires - now.timestamp()
        if left <= 0:
            raise Forbidden("The request signature has expired")
        if left > MAX_LIFETIME_SECONDS:
            raise Forbidden("The request signature expires too far in the future")
        message = _message(request, claim)
        secret = self._secret.get_secret_value().encode()
        expected = hmac.new(secret, message, hashlib.sha256).digest()
        if not hmac.compare_digest(claim.signature, expected):
            raise Forbidden("The request signature does not match")


def _read(authorization: str | None) -> _Claim:
    if not authorization:
        raise Forbidden("The request is not signed: no Authorization header")
    scheme, _, rest = authorization.partition(" ")
    if scheme != SCHEME:
        raise Forbidden(f"The Authorization scheme must be {SCHEME}")
    pairs = [part.partition("=") for part in rest.split(",")]
    fields = {name: value for name, _, value in pairs}
    if len(fields) != len(pairs) or not _REQUIRED_FIELDS <= fields.keys() <= _KNOWN_FIELDS:
        raise Forbidden("The Authorization header must hold credential, [signed-query-args,] expires and signature")
    expires = fields["expires"]
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 12):
        raise Forbidden("The signature's expiry must be a Unix time in seconds")
    names = fields.get("signed-query-args", "")
    return _Claim(
        credential=fields["credential"],
        signed_arguments=tuple(names.split(";")) if names else (),
        expires=int(expires),
        signature=_decoded(fields["signature"]),
    )


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Forbidden("The signature must be base64") from error


def _message(request: SignedRequest, claim: _Claim) -> bytes:
    return b"\n".join(
        (
            f"{request.method} {request.path}".encode(),
            request.body,
            _signed_values(request.query, claim.signed_arguments).encode(),
            b"",
            str(claim.expires).encode(),
        )
    )


def _signed_values(query: str, names: tuple[str, ...]) -> str:
    """The values of the signed arguments. A name given twice contributes nothing: so do the official clients."""
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    unsigned = sorted(name for name, given in values.items() if name not in names and len(given) == 1 and given[0])
    if unsigned:
        raise Forbidden(f"The signature does not cover the query argument {unsigned[0]}")
    if not set(names) <= values.keys():
        raise Forbidden("The signature covers query arguments that the request does not have")
    return "".join(values[name][0] for name in names if len(values[name]) == 1)
