"""Tokens at the server's door, and kubeconfigs at the client's."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import kubernetes.client
import kubernetes.config
import pytest
import yaml
from pydantic import SecretStr

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes import HttpObjectClient, KubeconfigError, KubernetesSandbox, write_kubeconfig
from exoscaler.sandbox.objects import ObjectError
from exoscaler.sandbox.server import HttpServer

TOKEN = SecretStr("open-sesame")
CERTIFICATES = Path(__file__).parents[2] / "recorded" / "kubernetes" / "certificates"


@pytest.fixture(scope="module")
def guarded() -> Iterator[str]:
    """The URL of a sandbox that asks for a token."""
    with HttpServer(KubernetesSandbox(SandboxClock(), token=TOKEN).app) as server:
        yield server.url


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic open-sesame", "Bearer", "open-sesame"])
def test_request_without_the_token_is_unauthorized(guarded: str, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header}
    for path in ("/api/v1/nodes", "/api", "/_sandbox/faults", "/openapi/v3"):
        answer = httpx.get(guarded + path, headers=headers)
        status = answer.json()
        assert (answer.status_code, status["kind"], status["reason"]) == (401, "Status", "Unauthorized")


def test_request_with_the_token_passes_and_health_needs_none(guarded: str) -> None:
    headers = {"Authorization": f"Bearer {TOKEN.get_secret_value()}"}
    assert httpx.get(f"{guarded}/api/v1/nodes", headers=headers).status_code == 200
    assert httpx.get(f"{guarded}/healthz").status_code == 200


def test_written_kubeconfig_lets_both_clients_in(guarded: str, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "kubeconfig", guarded, TOKEN)
    assert path.stat().st_mode & 0o077 == 0
    with HttpObjectClient.from_kubeconfig(path) as client:
        assert len(client.list("v1", "namespaces")) == 4
    load: Any = kubernetes.config.new_client_from_config  # untyped upstream
    with load(str(path)) as official:
        assert len(kubernetes.client.CoreV1Api(official).list_namespace().items) == 4


def test_client_without_the_token_is_told_so(guarded: str, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "kubeconfig", guarded)
    with HttpObjectClient.from_kubeconfig(path) as client, pytest.raises(ObjectError) as caught:
        client.list("v1", "namespaces")
    assert (caught.value.status, caught.value.reason) == (401, "Unauthorized")


class _ApiOverTls(BaseHTTPRequestHandler):
    """Answers with who asks: the subject of the client's certificate and the Authorization header."""

    def do_GET(self) -> None:
        peer: Any = self.connection  # an SSL socket, which the handler is not typed for
        subject = (peer.getpeercert() or {}).get("subject", ())
        names = [value for relative in subject for key, value in relative if key == "commonName"]
        labels = {"client": names[0] if names else "", "authorization": self.headers.get("Authorization", "")}
        content = json.dumps({"kind": "Node", "apiVersion": "v1", "metadata": {"labels": labels}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the name is the base class's
        pass


@pytest.fixture
def tls_server() -> Iterator[str]:
    """The URL of a server that shows a certificate of the tests' authority and takes client certificates of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / "server.pem", CERTIFICATES / "server.key")
    context.load_verify_locations(CERTIFICATES / "authority.pem")
    context.verify_mode = ssl.CERT_OPTIONAL
    with ThreadingHTTPServer(("127.0.0.1", 0), _ApiOverTls) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def _kubeconfig(tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any]) -> Path:
    content = {
        "current-context": "here",
        "contexts": [
            {"name": "here", "context": {"cluster": "c", "user": "u"}},
            {"name": "elsewhere", "context": {"cluster": "gone", "user": "u"}},
        ],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(content))
    return path


def _seen(path: Path) -> dict[str, str]:
    with HttpObjectClient.from_kubeconfig(path) as client:
        labels: dict[str, str] = client.get("v1", "nodes", "n")["metadata"]["labels"]
        return labels


def _embedded(name: str) -> str:
    return base64.b64encode((CERTIFICATES / name).read_bytes()).decode()


def test_certificates_are_read_from_files_and_from_the_kubeconfig_itself(tls_server: str, tmp_path: Path) -> None:
    for name in ("authority.pem", "client.pem", "client.key"):
        (tmp_path / name).write_bytes((CERTIFICATES / name).read_bytes())
    files = _kubeconfig(
        tmp_path,
        {"server": tls_server, "certificate-authority": "authority.pem"},
        {"client-certificate": "client.pem", "client-key": "client.key"},
    )
    assert _seen(files) == {"client": "exoscaler-tests", "authorization": ""}
    inside = _kubeconfig(
        tmp_path,
        {"server": tls_server, "certificate-authority-data": _embedded("authority.pem")},
        {"client-certificate-data": _embedded("client.pem"), "client-key-data": _embedded("client.key")},
    )
    assert _seen(inside) == {"client": "exoscaler-tests", "authorization": ""}


def test_server_of_an_unknown_authority_is_refused_unless_told_otherwise(tls_server: str, tmp_path: Path) -> None:
    with pytest.raises(ObjectError, match="CERTIFICATE_VERIFY_FAILED") as caught:
        _seen(_kubeconfig(tmp_path, {"server": tls_server}, {}))
    assert caught.value.reason == "Unreachable"
    insecure = _kubeconfig(tmp_path, {"server": tls_server, "insecure-skip-tls-verify": True}, {"token": "t"})
    assert _seen(insecure) == {"client": "", "authorization": "Bearer t"}


def test_tokens_in_files_and_passwords_are_sent(tls_server: str, tmp_path: Path) -> None:
    cluster = {"server": tls_server, "insecure-skip-tls-verify": True}
    (tmp_path / "token").write_text("from-a-file\n")
    assert _seen(_kubeconfig(tmp_path, cluster, {"tokenFile": "token"}))["authorization"] == "Bearer from-a-file"
    basic = _seen(_kubeconfig(tmp_path, cluster, {"username": "me", "password": "pass"}))["authorization"]
    assert basic == f"Basic {base64.b64encode(b'me:pass').decode()}"


@pytest.mark.parametrize(
    ("cluster", "user", "told"),
    [
        ({"server": "127.0.0.1:1"}, {}, "needs a server URL"),
        ({"server": "https://x", "certificate-authority-data": "???"}, {}, "certificate or key cannot be used"),
        ({"server": "https://x", "certificate-authority": "missing.pem"}, {}, "certificate or key cannot be used"),
        ({"server": "https://x"}, {"exec": {"command": "login"}}, "needs exec"),
        ({"server": "https://x"}, {"tokenFile": "missing"}, "token file"),
    ],
)
def test_kubeconfig_that_cannot_be_used_says_why(
    tmp_path: Path, cluster: dict[str, Any], user: dict[str, Any], told: str
) -> None:
    path = _kubeconfig(tmp_path, cluster, user)
    with pytest.raises(KubeconfigError, match=told) as caught:
        HttpObjectClient.from_kubeconfig(path)
    assert str(path) in str(caught.value)


def test_missing_file_or_context_is_named(tmp_path: Path) -> None:
    with pytest.raises(KubeconfigError, match="cannot be read"):
        HttpObjectClient.from_kubeconfig(tmp_path / "missing")
    path = _kubeconfig(tmp_path, {"server": "http://x"}, {})
    with pytest.raises(KubeconfigError, match="no context named 'nowhere'"):
        HttpObjectClient.from_kubeconfig(path, "nowhere")
    with pytest.raises(KubeconfigError, match="no cluster named 'gone'"):
        HttpObjectClient.from_kubeconfig(path, "elsewhere")
    path.write_text("- just\n- a list\n")
    with pytest.raises(KubeconfigError, match="an object with clusters"):
        HttpObjectClient.from_kubeconfig(path)


def test_unreachable_server_is_told_with_the_request(tmp_path: Path) -> None:
    message = "GET /api/v1/nodes/n got no answer"
    with (
        HttpObjectClient("http://127.0.0.1:9", timeout=2) as client,
        pytest.raises(ObjectError, match=message) as caught,
    ):
        client.get("v1", "nodes", "n")
    assert (caught.value.status, caught.value.reason) == (503, "Unreachable")


def test_secrets_do_not_show(tmp_path: Path, guarded: str) -> None:
    sandbox = KubernetesSandbox(SandboxClock(), token=TOKEN)
    with HttpObjectClient(guarded, token=TOKEN) as client:
        assert TOKEN.get_secret_value() not in f"{sandbox!r} {vars(sandbox)!r} {client!r}"
