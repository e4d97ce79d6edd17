"""Requests about what hangs on an object: scale, binding, eviction, log, token; and reviews of access."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from uuid import uuid4

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from exoscaler.sandbox.kubernetes.eviction import evict_pod
from exoscaler.sandbox.kubernetes.failures import bad_request, method_not_allowed
from exoscaler.sandbox.kubernetes.json_values import entries, metadata, number, section, text
from exoscaler.sandbox.kubernetes.object_metadata import rfc3339
from exoscaler.sandbox.kubernetes.patches import edit_of
from exoscaler.sandbox.kubernetes.pod_binding import bind_pod
from exoscaler.sandbox.kubernetes.scaling import rescale, scale_of
from exoscaler.sandbox.kubernetes.serving.answers import json_answer, success_status
from exoscaler.sandbox.kubernetes.serving.bodies import media_type, read_object, read_value
from exoscaler.sandbox.kubernetes.serving.paths import Target
from exoscaler.sandbox.kubernetes.serving.queries import delete_options, dry_run
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject

_TOKEN_SECONDS = 3600


class SubresourceRequests:
    """Answers requests that are about a part or an action of an object."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._by_target: dict[tuple[str, str], Callable[[Request, Target], Awaitable[Response]]] = {
            ("scale", "get"): self._get_scale,
            ("scale", "update"): self._put_scale,
            ("scale", "patch"): self._patch_scale,
            ("binding", "create"): self._bind,
            ("eviction", "create"): self._evict,
            ("log", "get"): self._log,
            ("token", "create"): self._issue_token,
        }
        self._by_kind: dict[str, Callable[[Request, Target], Awaitable[Response]]] = {
            "Binding": self._bind,
            "SelfSubjectAccessReview": self._review_access,
            "SelfSubjectRulesReview": self._review_rules,
        }

    def handles(self, target: Target) -> bool:
        """True for what is not about an object as a whole or its status."""
        return target.subresource not in ("", "status", "finalize") or target.resource.kind in self._by_kind

    async def answer(self, request: Request, target: Target) -> Response:
        """Do what the request asks.

        Raises:
            ApiFailure: what the API answers instead.
        """
        handle = self._by_target.get((target.subresource, target.verb))
        if not target.subresource and target.verb == "create":
            handle = self._by_kind.get(target.resource.kind)
        if handle is None:
            raise method_not_allowed()
        return await handle(request, target)

    async def _get_scale(self, _request: Request, target: Target) -> Response:
        return json_answer(scale_of(self._store.get(target.resource, target.name, namespace=target.namespace)))

    async def _put_scale(self, request: Request, target: Target) -> Response:
        body = await read_object(request)
        return self._rescale(request, target, lambda _current: body)

    async def _patch_scale(self, request: Request, target: Target) -> Response:
        return self._rescale(request, target, edit_of(media_type(request), await read_value(request), "Scale"))

    def _rescale(self, request: Request, target: Target, edit: Callable[[JsonObject], JsonObject]) -> Response:
        change = partial(rescale, self._store, target.resource, target.name, edit, namespace=target.namespace)
        return json_answer(change(dry_run=dry_run(request.query_params)))

    async def _bind(self, request: Request, target: Target) -> Response:
        body = await read_object(request)
        name = target.name or text(body, "metadata.name")
        node = text(body, "target.name")
        if text(body, "metadata.name") not in ("", name):
            raise bad_request("name in URL does not match name in Binding object")
        if not node:
            raise bad_request("target.name: Required value")
        bind_pod(self._store, target.namespace, name, node, dry_run=dry_run(request.query_params))
        return json_answer({**success_status(), "code": 201}, 201)

    async def _evict(self, request: Request, target: Target) -> Response:
        body = await read_object(request)
        if text(body, "metadata.name") != target.name:
            raise bad_request("name in URL does not match name in Eviction object")
        options = delete_options(request.query_params, section(body, "deleteOptions"))
        evict_pod(self._store, target.namespace, target.name, options)
        return json_answer({**success_status(), "code": 201}, 201)

    async def _log(self, request: Request, target: Target) -> Response:
        pod = self._store.get(target.resource, target.name, namespace=target.namespace)
        names = [str(container.get("name")) for container in entries(section(pod, "spec"), "containers")]
        container = request.query_params.get("container") or names[0]
        if container not in names:
            raise bad_request(f"container {container} is not valid for pod {target.name}")
        if text(pod, "status.phase") == "Pending":
            raise bad_request(f'container "{container}" in pod "{target.name}" is waiting to start')
        return PlainTextResponse(f"{target.namespace}/{target.name} {container}: the sandbox runs no real containers\n")

    async def _issue_token(self, request: Request, target: Target) -> Response:
        account = self._store.get(target.resource, target.name, namespace=target.namespace)
        body = await read_object(request, required=False)
        seconds = number(section(body, "spec"), "expirationSeconds", _TOKEN_SECONDS)
        expires = rfc3339(self._store.clock.now() + timedelta(seconds=seconds))
        meta = {"name": target.name, "namespace": target.namespace, "uid": metadata(account)["uid"]}
        return json_answer(
            {
                "kind": "TokenRequest",
                "apiVersion": "authentication.k8s.io/v1",
                "metadata": meta,
                "spec": {**section(body, "spec"), "expirationSeconds": seconds},
                "status": {"token": f"sandbox.{uuid4().hex}", "expirationTimestamp": expires},
            },
            201,
        )

    async def _review_access(self, request: Request, target: Target) -> Response:
        return json_answer(await _reviewed(request, target, {"allowed": True, "reason": "the sandbox allows all"}), 201)

    async def _review_rules(self, request: Request, target: Target) -> Response:
        everything = ["*"]
        status = {
            "resourceRules": [{"verbs": everything, "apiGroups": everything, "resources": everything}],
            "nonResourceRules": [{"verbs": everything, "nonResourceURLs": everything}],
            "incomplete": False,
        }
        return json_answer(await _reviewed(request, target, status), 201)


async def _reviewed(request: Request, target: Target, status: JsonObject) -> JsonObject:
    body = await read_object(request)
    head = {"kind": target.resource.kind, "apiVersion": target.resource.group_version, "metadata": {}}
    return {**head, "spec": section(body, "spec"), "status": status}
