"""The corner of a Kubernetes API that ``kubectl apply`` of one Secret walks through, on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SECRETS = "/api/v1/namespaces/kube-system/secrets"

_GROUP_VERSION_KIND = [{"group": "", "version": "v1", "kind": "Secret"}]
_VALIDATES_FIELDS = {
    "parameters": [{"name": "fieldValidation", "in": "query"}],
    "x-kubernetes-action": "patch",
    "x-kubernetes-group-version-kind": _GROUP_VERSION_KIND[0],
}
_DISCOVERY: dict[str, dict[str, Any]] = {
    "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.0"},
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "groupVersion": "v1",
        "resources": [
            {
                "name": "secrets",
                "singularName": "secret",
                "namespaced": True,
                "kind": "Secret",
                "verbs": ["create", "get", "patch"],
            }
        ],
    },
    "/openapi/v3": {"paths": {"api/v1": {"serverRelativeURL": "/openapi/v3/api/v1?hash=1"}}},
    "/openapi/v3/api/v1": {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "v1"},
        "paths": {"/api/v1/namespaces/{namespace}/secrets/{name}": {"patch": _VALIDATES_FIELDS}},
        "components": {
            "schemas": {
                "io.k8s.api.core.v1.Secret": {
                    "type": "object",
                    "x-kubernetes-group-version-kind": _GROUP_VERSION_KIND,
                }
            }
        },
    },
}


@dataclass
class SecretApi:
    """Secrets by name, and whether the server refuses to change one."""

    url: str = ""
    secrets: dict[str, dict[str, Any]] = field(default_factory=dict)
    refuses_changes: bool = False

    def read(self, path: str) -> tuple[int, dict[str, Any]]:
        if path in _DISCOVERY:
            return 200, _DISCOVERY[path]
        secret = self.secrets.get(path.removeprefix(f"{SECRETS}/"))
        return (200, secret) if secret else (404, _failure(404, "NotFound", "not found"))

    def create(self, secret: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.secrets[secret["metadata"]["name"]] = secret
        return 201, secret

    def patch(self, path: str, change: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if self.refuses_changes:
            return 403, _failure(403, "Forbidden", "secrets is forbidden")
        secret = self.secrets[path.removeprefix(f"{SECRETS}/")]
        secret["data"].update(change.get("data", {}))
        secret["metadata"]["annotations"].update(change.get("metadata", {}).get("annotations", {}))
        return 200, secret


def _failure(code: int, reason: str, message: str) -> dict[str, Any]:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }


@contextmanager
def serving() -> Iterator[SecretApi]:
    """Serves a SecretApi on a free port of loopback."""
    api = SecretApi()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(*api.read(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            self._answer(*api.create(self._body()))

        def do_PATCH(self) -> None:
            self._answer(*api.patch(self.path.partition("?")[0], self._body()))

        def _body(self) -> dict[str, Any]:
            content: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            return content

        def _answer(self, status: int, content: dict[str, Any]) -> None:
            body = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
