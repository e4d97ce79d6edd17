"""Reads request bodies: size limit, media type, JSON, YAML and protobuf."""

from __future__ import annotations

import msgspec
import yaml
from starlette.requests import Request

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request, unsupported_media_type
from exoscaler.sandbox.kubernetes.wire import PROTOBUF, decode_protobuf
from exoscaler.sandbox.objects import JsonObject

LARGEST_BODY = 3 * 1024 * 1024
"""Bytes; a larger body is refused with 413."""

_READABLE = ("application/json", "application/yaml", PROTOBUF)


class _PlainYaml(yaml.SafeLoader):
    """Reads YAML as JSON would be read: time stamps stay strings."""


_PlainYaml.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for letter, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def media_type(request: Request) -> str:
    """The media type of the body, without parameters; JSON when the request names none."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip() or "application/json"


async def read_value(request: Request) -> object:
    """The body as a JSON value, from JSON, YAML or protobuf; None when it is empty.

    Raises:
        ApiFailure: 400 it cannot be parsed, 413 it is too large.
    """
    content = await _read_bytes(request)
    if not content.strip():
        return None
    if media_type(request) == PROTOBUF:
        return decode_protobuf(content)
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError as error:
        if "yaml" not in media_type(request):
            raise bad_request(f"the object provided is unrecognized: {error}") from error
    try:
        # A subclass of the safe loader is as safe as it is.
        parsed: object = yaml.load(content, Loader=_PlainYaml)  # noqa: S506
    except yaml.YAMLError as error:
        raise bad_request("the object provided is unrecognized: it is neither JSON nor YAML") from error
    return parsed


async def read_object(request: Request, *, required: bool = True) -> JsonObject:
    """The body as an object; an empty one when there is no body and none is `required`.

    Raises:
        ApiFailure: 400 it is not an object, 413 it is too large, 415 it is in none of these formats.
    """
    if media_type(request) not in _READABLE:
        raise unsupported_media_type(media_type(request), _READABLE)
    value = await read_value(request)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise bad_request("the body of the request must be one object")
    return value


async def _read_bytes(request: Request) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_BODY:
            message = f"Request entity too large: limit is {LARGEST_BODY}"
            raise ApiFailure(413, "RequestEntityTooLarge", message)
        chunks.append(chunk)
    return b"".join(chunks)
