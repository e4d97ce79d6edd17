"""Lists in pages: one consistent version over all pages, or 410 when that version is no longer known."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request, expired
from exoscaler.sandbox.kubernetes.history import ObjectKey
from exoscaler.sandbox.kubernetes.resources import ResourceKey
from exoscaler.sandbox.kubernetes.selection import Selection
from exoscaler.sandbox.kubernetes.storage import Storage, View
from exoscaler.sandbox.objects import JsonObject

_CURRENT = -1


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a list asks for. `limit` 0 means all; `version` and `match` as in the API's query parameters."""

    limit: int = 0
    continue_token: str = ""
    version: str = ""
    match: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Objects in key order. `remaining` counts those behind the page; None when a selector forbids to tell."""

    items: list[JsonObject]
    version: int
    continue_token: str = ""
    remaining: int | None = None


@dataclass(frozen=True, slots=True)
class _Position:
    version: int
    after: ObjectKey

    def encode(self) -> str:
        content = {"v": "meta.k8s.io/v1", "rv": self.version, "start": list(self.after)}
        return base64.urlsafe_b64encode(json.dumps(content).encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, token: str) -> _Position:
        try:
            content = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
            namespace, name = content["start"]
            return cls(int(content["rv"]), (str(namespace), str(name)))
        except (binascii.Error, ValueError, KeyError, TypeError) as error:
            raise bad_request(f"continue key is not valid: {error}") from error


def read_page(storage: Storage, resource: ResourceKey, selection: Selection, request: PageRequest) -> Page:
    """The page that was asked for; its objects are not to be modified.

    Raises:
        ApiFailure: 400 malformed, 410 the version is no longer known, 504 it is not known yet.
    """
    with storage.lock:
        after: ObjectKey | None = None
        if request.continue_token:
            if request.version not in ("", "0"):
                raise bad_request("specifying resource version is not allowed when using continue")
            position = _Position.decode(request.continue_token)
            after = position.after
            view = _view_at(storage, resource, position)
        else:
            view = storage.view(resource, _asked_version(storage, request))
        return _cut(view, selection, after, request.limit)


def _view_at(storage: Storage, resource: ResourceKey, position: _Position) -> View:
    if position.version == _CURRENT:
        return storage.view(resource)
    try:
        return storage.view(resource, position.version)
    except ApiFailure as error:
        raise expired(
            "the continue token is too old for a consistent list: start a new list, or use the token in this answer "
            "to read the remainder as it is now",
            continue_token=_Position(_CURRENT, position.after).encode(),
        ) from error


def _asked_version(storage: Storage, request: PageRequest) -> int | None:
    if request.match not in ("", "Exact", "NotOlderThan"):
        raise bad_request(f'resourceVersionMatch "{request.match}" is not supported')
    if request.version in ("", "0"):
        if request.match == "Exact" or (request.match and not request.version):
            raise bad_request(f"resourceVersionMatch {request.match} needs a resourceVersion above 0")
        return None
    version = parse_version(request.version)
    if version > storage.version:
        raise ApiFailure(504, "Timeout", f"Too large resource version: {version}, current: {storage.version}")
    exact = request.match == "Exact" or (not request.match and request.limit > 0)
    return version if exact else None


def parse_version(source: str) -> int:
    """A resourceVersion as a number; 400 when it is none."""
    if not source.isdigit():
        raise bad_request(f'invalid resource version "{source}": it must be an unsigned integer')
    return int(source)


def _cut(view: View, selection: Selection, after: ObjectKey | None, limit: int) -> Page:
    low, high = view.span(selection.namespace, after)
    everything = selection.is_everything
    items: list[JsonObject] = []
    for index in range(low, high):
        key = view.keys[index]
        obj = view.objects[key]
        if not (everything or selection.matches(obj)):
            continue
        items.append(obj)
        left = high - index - 1
        if len(items) == limit and left:
            token = _Position(view.version, key).encode()
            return Page(items, view.version, token, left if everything else None)
    return Page(items, view.version)
