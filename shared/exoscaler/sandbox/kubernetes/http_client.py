"""Any cluster as the sandbox's controllers see it, over HTTP: the sandbox's own or a real one."""

from __future__ import annotations

import ssl
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias
from urllib.parse import quote

import httpx
import msgspec
from pydantic import SecretStr

from exoscaler.sandbox.kubernetes.json_values import section, text
from exoscaler.sandbox.kubernetes.kubeconfig import read_kubeconfig
from exoscaler.sandbox.objects import JsonObject, ObjectError

PAGE_SIZE = 500
UNREACHABLE = "Unreachable"
"""The reason, with status 503, of a request that got no answer."""

_Objects: TypeAlias = list[JsonObject]
_MERGE_PATCH = "application/merge-patch+json"
_LIST_ATTEMPTS = 4
_TIMEOUT_SECONDS = 30.0


class HttpObjectClient:
    """An `ObjectClient` on an API server. Thread-safe; close it, or use it as a context manager.

    A request that gets no answer raises `ObjectError` with status 503 and reason ``Unreachable``; nothing is retried
    but a list whose pages expired while they were read.
    """

    def __init__(
        self,
        server: str,
        *,
        token: SecretStr | None = None,
        tls: ssl.SSLContext | None = None,
        basic: tuple[str, SecretStr] | None = None,
        timeout: float = _TIMEOUT_SECONDS,
    ) -> None:
        headers = {"User-Agent": "exoscaler-sandbox", "Accept": "application/json"}
        if token is not None:
            headers["Authorization"] = f"Bearer {token.get_secret_value()}"
        auth = httpx.BasicAuth(basic[0], basic[1].get_secret_value()) if basic else None
        verify: ssl.SSLContext | bool = tls if tls is not None else True
        # The environment's proxies are not for a cluster on loopback or in a private network.
        self._http = httpx.Client(
            base_url=server, headers=headers, auth=auth, verify=verify, timeout=timeout, trust_env=False
        )

    @classmethod
    def from_kubeconfig(cls, path: Path, context: str = "", *, timeout: float = _TIMEOUT_SECONDS) -> Self:
        """A client for the cluster that a kubeconfig's context leads to, the current one without `context`.

        Raises:
            KubeconfigError: the file cannot be used.
        """
        access = read_kubeconfig(path, context)
        basic = (access.user, access.password) if access.user and access.password else None
        return cls(access.server, token=access.token, tls=access.tls, basic=basic, timeout=timeout)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def list(
        self, group: str, plural: str, *, namespace: str = "", labels: str = "", fields: str = ""
    ) -> list[JsonObject]:
        """All objects of the resource that match both selectors, read in pages."""
        query = {"limit": str(PAGE_SIZE), "labelSelector": labels, "fieldSelector": fields}
        wanted = {name: value for name, value in query.items() if value}
        path = _path(group, plural, namespace)
        for attempt in range(1, _LIST_ATTEMPTS + 1):
            try:
                return self._all_pages(path, wanted, group)
            except ObjectError as error:
                if error.status != httpx.codes.GONE or attempt == _LIST_ATTEMPTS:
                    raise
        raise AssertionError("the loop returns or raises")

    def get(self, group: str, plural: str, name: str, *, namespace: str = "") -> JsonObject:
        """One object; 404 when it does not exist."""
        return self._call("GET", _path(group, plural, namespace, name))

    def create(self, group: str, plural: str, body: JsonObject, *, namespace: str = "") -> JsonObject:
        """Create an object; 409 AlreadyExists when the name is taken."""
        return self._call("POST", _path(group, plural, namespace), body)

    def update(
        self, group: str, plural: str, body: JsonObject, *, namespace: str = "", subresource: str = ""
    ) -> JsonObject:
        """Replace an object (or its ``status``); 409 Conflict when its resourceVersion is not the current one."""
        name = text(body, "metadata.name")
        return self._call("PUT", _path(group, plural, namespace, name, subresource), body)

    def patch(
        self,
        group: str,
        plural: str,
        name: str,
        body: JsonObject,
        *,
        namespace: str = "",
        subresource: str = "",
    ) -> JsonObject:
        """Apply a JSON merge patch."""
        path = _path(group, plural, namespace, name, subresource)
        return self._call("PATCH", path, body, content_type=_MERGE_PATCH)

    def delete(
        self,
        group: str,
        plural: str,
        name: str,
        *,
        namespace: str = "",
        grace_seconds: int | None = None,
        uid: str = "",
    ) -> None:
        """Delete an object; for pods gracefully unless `grace_seconds` is 0; 409 when `uid` is not the object's."""
        options: JsonObject = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        if uid:
            options["preconditions"] = {"uid": uid}
        self._call("DELETE", _path(group, plural, namespace, name), options)

    def bind(self, namespace: str, pod: str, node: str) -> None:
        """Bind a pod to a node through its ``binding`` subresource; 409 when it is bound already."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": target}
        self._call("POST", _path("v1", "pods", namespace, pod, "binding"), body)

    def _all_pages(self, path: str, query: dict[str, str], group: str) -> _Objects:
        found: _Objects = []
        token = ""
        while True:
            page = self._call("GET", path, query={**query, "continue": token} if token else query)
            kind = text(page, "kind").removesuffix("List")
            # Items of a list do not repeat their kind and version on the wire.
            found += [{"apiVersion": group, "kind": kind, **item} for item in page.get("items") or ()]
            token = str(section(page, "metadata").get("continue") or "")
            if not token:
                return found

    def _call(
        self,
        method: str,
        path: str,
        body: JsonObject | None = None,
        *,
        query: dict[str, str] | None = None,
        content_type: str = "application/json",
    ) -> JsonObject:
        content = msgspec.json.encode(body) if body is not None else None
        headers = {"Content-Type": content_type} if body is not None else {}
        try:
            answer = self._http.request(method, path, content=content, headers=headers, params=query)
        except httpx.HTTPError as error:
            message = f"{method} {path} got no answer: {type(error).__name__}: {error}"
            raise ObjectError(httpx.codes.SERVICE_UNAVAILABLE, UNREACHABLE, message) from error
        parsed = _parse(answer)
        if answer.is_success:
            return parsed
        message = text(parsed, "message") or f"{method} {path} was answered with {answer.status_code}"
        raise ObjectError(answer.status_code, text(parsed, "reason"), message)


def _path(group: str, plural: str, namespace: str = "", name: str = "", subresource: str = "") -> str:
    steps = ["apis" if "/" in group else "api", *group.split("/")]
    if namespace:
        steps += ["namespaces", namespace]
    steps += [step for step in (plural, name, subresource) if step]
    return "/" + "/".join(quote(step, safe="") for step in steps)


def _parse(answer: httpx.Response) -> JsonObject:
    """The object in an answer; what a proxy on the way says instead is none."""
    try:
        parsed = msgspec.json.decode(answer.content)
    except msgspec.DecodeError as error:
        if answer.is_success:
            message = f"{answer.request.method} {answer.request.url.path} was answered with no JSON"
            raise ObjectError(httpx.codes.BAD_GATEWAY, UNREACHABLE, message) from error
        return {}
    return parsed if isinstance(parsed, dict) else {}
