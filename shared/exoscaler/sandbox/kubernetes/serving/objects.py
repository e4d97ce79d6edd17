"""Requests about objects: get, list, create, update, patch, delete."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from exoscaler.sandbox.kubernetes.failures import ApiFailure, FieldProblem, method_not_allowed, not_found
from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.patches import APPLY, edit_of
from exoscaler.sandbox.kubernetes.selection import Selection, parse_selection
from exoscaler.sandbox.kubernetes.serving.answers import Renderer, json_answer, success_status
from exoscaler.sandbox.kubernetes.serving.bodies import media_type, read_object, read_value
from exoscaler.sandbox.kubernetes.serving.field_checks import FieldCheck
from exoscaler.sandbox.kubernetes.serving.open_watches import OpenWatches
from exoscaler.sandbox.kubernetes.serving.paths import Target
from exoscaler.sandbox.kubernetes.serving.queries import delete_options, dry_run, page_request
from exoscaler.sandbox.kubernetes.serving.watches import watch
from exoscaler.sandbox.kubernetes.store import Edit, ObjectStore
from exoscaler.sandbox.objects import JsonObject

_VERBS_OF_PARTS = {"status": ("get", "update", "patch"), "finalize": ("update",)}


class ObjectRequests:
    """Answers requests about whole objects."""

    def __init__(self, store: ObjectStore, watches: OpenWatches) -> None:
        self._store = store
        self._watches = watches
        self._by_verb: dict[str, Callable[[Request, Target], Awaitable[Response]]] = {
            "get": self._get,
            "list": self._list,
            "watch": self._watch,
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    async def answer(self, request: Request, target: Target) -> Response:
        """Do what the request asks.

        Raises:
            ApiFailure: what the API answers instead.
        """
        if not _is_allowed(target):
            raise method_not_allowed()
        return await self._by_verb[target.verb](request, target)

    async def _get(self, request: Request, target: Target) -> Response:
        obj = self._store.get(target.resource, target.name, namespace=target.namespace)
        return self._renderer(request, target).answer(obj)

    async def _list(self, request: Request, target: Target) -> Response:
        renderer, selection = self._renderer(request, target), _selection(request, target)
        asked = page_request(request.query_params)

        def encode() -> bytes:
            return renderer.page(self._store.list_objects(target.resource, selection, asked))

        return Response(await run_in_threadpool(encode), media_type="application/json")

    async def _watch(self, request: Request, target: Target) -> Response:
        renderer, selection = self._renderer(request, target), _selection(request, target)
        return watch(self._store, self._watches, target.resource, selection, renderer, request.query_params)

    async def _create(self, request: Request, target: Target) -> Response:
        check = FieldCheck(request, target.resource)
        body = check.check(await read_object(request))
        created = self._store.create(
            target.resource, body, namespace=target.namespace, dry_run=dry_run(request.query_params)
        )
        return check.warn(self._renderer(request, target).answer(created, 201))

    async def _update(self, request: Request, target: Target) -> Response:
        check = FieldCheck(request, target.resource)
        stored, created = self._store.update(
            target.resource,
            check.check(await read_object(request)),
            namespace=target.namespace,
            name=target.name,
            subresource=target.subresource,
            dry_run=dry_run(request.query_params),
        )
        return check.warn(self._renderer(request, target).answer(stored, 201 if created else 200))

    async def _patch(self, request: Request, target: Target) -> Response:
        kind = media_type(request)
        patch = await read_value(request)
        check = FieldCheck(request, target.resource)
        edit = check.checked(edit_of(kind, patch, target.resource.kind))
        if kind == APPLY:
            _check_field_manager(request)
        options = dry_run(request.query_params)
        try:
            stored = self._store.patch(
                target.resource,
                target.name,
                edit,
                namespace=target.namespace,
                subresource=target.subresource,
                dry_run=options,
            )
        except ApiFailure as failure:
            if failure.status != 404 or kind != APPLY or target.subresource:
                raise
            return check.warn(self._apply_new(request, target, edit, options=options))
        return check.warn(self._renderer(request, target).answer(stored))

    def _apply_new(self, request: Request, target: Target, edit: Edit, *, options: bool) -> Response:
        body = edit({"metadata": {"name": target.name}})
        if metadata(body).get("uid"):
            raise not_found(target.resource, target.name)
        created = self._store.create(target.resource, body, namespace=target.namespace, dry_run=options)
        return self._renderer(request, target).answer(created, 201)

    async def _delete(self, request: Request, target: Target) -> Response:
        body = await read_object(request, required=False)
        options = delete_options(request.query_params, body)
        last, gone = self._store.delete(target.resource, target.name, options, namespace=target.namespace)
        if gone and not target.resource.returns_deleted:
            resource = target.resource
            uid = metadata(last)["uid"]
            return json_answer(success_status(name=target.name, group=resource.group, kind=resource.plural, uid=uid))
        return self._renderer(request, target).answer(last)

    async def _delete_collection(self, request: Request, target: Target) -> Response:
        body = await read_object(request, required=False)
        options = delete_options(request.query_params, body)
        deleted = self._store.delete_collection(target.resource, _selection(request, target), options)
        resource = target.resource
        meta = {"resourceVersion": str(self._store.storage.version)}
        answer: JsonObject = {"kind": resource.list_kind, "apiVersion": resource.group_version, "metadata": meta}
        return json_answer({**answer, "items": deleted})

    def _renderer(self, request: Request, target: Target) -> Renderer:
        return Renderer(request, target.resource, self._store.clock)


def _is_allowed(target: Target) -> bool:
    """True when the verb fits what the path leads to: an object, a part of one, or a collection."""
    if target.subresource:
        return target.verb in _VERBS_OF_PARTS[target.subresource]
    if target.verb in ("create", "deletecollection") and target.resource.namespaced and not target.namespace:
        return False
    is_about_one = target.verb in ("get", "update", "patch", "delete")
    return target.verb in target.resource.verbs and is_about_one is bool(target.name)


def _selection(request: Request, target: Target) -> Selection:
    query = request.query_params
    return parse_selection(
        target.resource, target.namespace, query.get("labelSelector", ""), query.get("fieldSelector", "")
    )


def _check_field_manager(request: Request) -> None:
    if not request.query_params.get("fieldManager"):
        problem = FieldProblem.required("fieldManager", "is required for apply patch")
        message = f'PatchOptions.meta.k8s.io "" is invalid: {problem.field}: {problem.text}'
        raise ApiFailure(422, "Invalid", message)
