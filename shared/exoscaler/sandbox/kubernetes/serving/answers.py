"""Turns objects, pages and failures into HTTP responses."""

from __future__ import annotations

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes.failures import ApiFailure
from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.paging import Page
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.serving.forms import META_GROUP, Form, requested_form
from exoscaler.sandbox.kubernetes.tables import Table, table_of
from exoscaler.sandbox.objects import JsonObject

_JSON = "application/json"


def json_answer(value: object, status: int = 200, *, media_type: str = _JSON) -> Response:
    """A JSON response."""
    return Response(msgspec.json.encode(value) + b"\n", status, media_type=media_type)


def failure_answer(failure: ApiFailure) -> Response:
    """The response that tells a failure."""
    answer = json_answer(failure.to_status(), failure.status)
    if failure.retry_after is not None:
        answer.headers["Retry-After"] = str(failure.retry_after)
    if failure.status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    return answer


def success_status(**details: object) -> JsonObject:
    """The `Status` of a request that worked and has no object to show."""
    status: JsonObject = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = {name: value for name, value in details.items() if value}
    return status


class Renderer:
    """Shows objects of one resource in the form that one request asked for."""

    def __init__(self, request: Request, resource: Resource, clock: SandboxClock) -> None:
        self.form = requested_form(request.headers.get("accept", ""))
        self._include = request.query_params.get("includeObject", "Metadata")
        self._resource = resource
        self._clock = clock
        self._columns_sent = False

    def answer(self, obj: JsonObject, status: int = 200) -> Response:
        """One object as a response."""
        return json_answer(self.render(obj), status)

    def render(self, obj: JsonObject) -> JsonObject:
        """One object; of a table, the columns are described once per renderer."""
        if obj.get("kind") == "Status" or self.form is Form.OBJECT:
            return obj
        if self.form is Form.METADATA:
            return metadata_only(obj)
        table = self._table([obj])
        if self._columns_sent:
            table = {**table, "columnDefinitions": None}
        self._columns_sent = True
        return {**table, "metadata": {"resourceVersion": metadata(obj).get("resourceVersion", "")}}

    def page(self, page: Page) -> bytes:
        """A list, encoded."""
        meta: JsonObject = {"resourceVersion": str(page.version)}
        if page.continue_token:
            meta["continue"] = page.continue_token
        if page.remaining is not None:
            meta["remainingItemCount"] = page.remaining
        if self.form is Form.TABLE:
            return msgspec.json.encode({**self._table(page.items), "metadata": meta})
        if self.form is Form.METADATA:
            items = [metadata_only(obj) for obj in page.items]
            kind = "PartialObjectMetadataList"
            return msgspec.json.encode({"kind": kind, "apiVersion": META_GROUP, "metadata": meta, "items": items})
        head = {"kind": self._resource.list_kind, "apiVersion": self._resource.group_version, "metadata": meta}
        # Items of a list do not repeat kind and version on the wire.
        bare = [
            {name: value for name, value in obj.items() if name not in ("kind", "apiVersion")} for obj in page.items
        ]
        return msgspec.json.encode({**head, "items": bare})

    def _table(self, objects: list[JsonObject]) -> JsonObject:
        table: Table = table_of(self._resource, objects, self._clock.now())
        rows: list[JsonObject] = []
        for obj, cells in zip(objects, table.rows, strict=True):
            row: JsonObject = {"cells": cells}
            if self._include == "Object":
                row["object"] = obj
            elif self._include == "Metadata":
                row["object"] = metadata_only(obj)
            rows.append(row)
        return {
            "kind": "Table",
            "apiVersion": META_GROUP,
            "columnDefinitions": [column.to_json() for column in table.columns],
            "rows": rows,
        }


def metadata_only(obj: JsonObject) -> JsonObject:
    """The object as `PartialObjectMetadata`."""
    return {"kind": "PartialObjectMetadata", "apiVersion": META_GROUP, "metadata": metadata(obj)}
