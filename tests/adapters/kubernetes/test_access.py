"""Where the cluster is, who we are, and what that costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from kubernetes.config import incluster_config

from exoscaler import __version__
from exoscaler.adapters.kubernetes import connect, credentials
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.calls import CONFIG_MAPS, DAEMON_SETS, NODES, PODS, Call, Verb
from exoscaler.adapters.kubernetes.endpoint import Endpoint
from exoscaler.errors import Denied, SettingsError
from tests.adapters.kubernetes.manifests import node_manifest
from tests.adapters.kubernetes.stub import Stub, open_access, success, write_config
from tests.builders import make_node
from tests.fakes.clock import FakeClock

NODE = success(node_manifest(make_node("a")))


@pytest.mark.parametrize(
    ("call", "method", "path"),
    [
        (Call(Verb.LIST, NODES), "GET", "/api/v1/nodes"),
        (Call(Verb.LIST, PODS, query={"limit": "5", "continue": ""}), "GET", "/api/v1/pods?limit=5"),
        (
            Call(Verb.LIST, PODS, query={"fieldSelector": "spec.nodeName=a,status.phase!=Failed"}),
            "GET",
            "/api/v1/pods?fieldSelector=spec.nodeName%3Da%2Cstatus.phase%21%3DFailed",
        ),
        (Call(Verb.LIST, DAEMON_SETS), "GET", "/apis/apps/v1/daemonsets"),
        (Call(Verb.GET, CONFIG_MAPS, "ns", "c"), "GET", "/api/v1/namespaces/ns/configmaps/c"),
        (Call(Verb.CREATE, CONFIG_MAPS, "ns", "c", body={}), "POST", "/api/v1/namespaces/ns/configmaps"),
        (Call(Verb.CREATE, PODS, "ns", "p", "eviction", body={}), "POST", "/api/v1/namespaces/ns/pods/p/eviction"),
        (Call(Verb.PATCH, NODES, name="a", body={}), "PATCH", "/api/v1/nodes/a"),
        (Call(Verb.DELETE, NODES, name="a/../b?x#y"), "DELETE", "/api/v1/nodes/a%2F..%2Fb%3Fx%23y"),
    ],
)
def test_call_goes_to_the_path_of_its_resource(call: Call, method: str, path: str) -> None:
    assert (call.method, call.path) == (method, path)


def test_call_carries_who_asks_and_what_is_sent(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    kubeconfig = write_config(tmp_path / "config", stub.url, {"token": "t0ken"})
    with open_access(kubeconfig, clock) as access:
        access.ask(Call(Verb.GET, NODES, name="a"))
        access.ask(Call(Verb.PATCH, NODES, name="a", body={"metadata": {"annotations": {"x": None, "y": "ü"}}}))
        access.ask(Call(Verb.CREATE, CONFIG_MAPS, "ns", "c", body={"data": {}}))
    get, patch, create = stub.requests
    assert get.headers["user-agent"] == f"exoscaler/{__version__}"
    assert get.headers["authorization"] == "Bearer t0ken"
    assert get.headers["accept"] == "application/json"
    assert "content-type" not in get.headers
    assert get.body is None
    assert patch.headers["content-type"] == "application/merge-patch+json"
    assert patch.body == {"metadata": {"annotations": {"x": None, "y": "ü"}}}, "null means: take it away"
    assert create.headers["content-type"] == "application/json"


def test_connections_are_used_again(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    with open_access(write_config(tmp_path / "config", stub.url), clock) as access:
        for _ in range(3):
            access.ask(Call(Verb.LIST, NODES))
    assert len({request.connection for request in stub.requests}) == 1


def test_access_that_was_closed_opens_again(stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
    with open_access(write_config(tmp_path / "config", stub.url), clock) as access:
        access.ask(Call(Verb.LIST, NODES))
        access.close()
        access.close()
        access.ask(Call(Verb.LIST, NODES))
    assert len(stub.requests) == 2


def test_proxy_of_the_environment_is_not_asked_for_a_server_on_this_machine(
    stub: Stub, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    for host in (stub.url, stub.url.replace("127.0.0.1", "localhost")):
        with open_access(write_config(tmp_path / "config", host, {"token": "t"}), clock) as access:
            assert access.ask(Call(Verb.LIST, NODES)).ok


class TestKubeconfig:
    def test_file_of_the_setting_comes_first(self, stub: Stub, clock: FakeClock, tmp_path: Path) -> None:
        stub.answers(NODE)
        kubeconfig = write_config(tmp_path / "config", stub.url)
        with connect(clock, kubeconfig=str(kubeconfig), user_agent="mine/1") as connection:
            assert connection.cluster.node("a") == make_node("a")
        assert stub.requests[0].headers["user-agent"] == "mine/1"

    def test_default_file_is_used_when_none_is_set(
        self, stub: Stub, clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stub.answers(NODE)
        kubeconfig = write_config(tmp_path / "config", stub.url)
        monkeypatch.setattr(credentials, "KUBE_CONFIG_DEFAULT_LOCATION", f"{tmp_path}/missing:{kubeconfig}")
        with connect(clock) as connection:
            assert connection.cluster.node("a").name == "a"

    @pytest.mark.parametrize(
        "content",
        ["", "{", "- a list", "text", "apiVersion: v1\nkind: Config\ncurrent-context: gone\ncontexts: []\n", "a: {b"],
    )
    def test_file_that_is_none_is_a_mistake_in_the_settings(
        self, content: str, clock: FakeClock, tmp_path: Path
    ) -> None:
        kubeconfig = tmp_path / "config"
        kubeconfig.write_text(content)
        with connect(clock, kubeconfig=str(kubeconfig)) as connection, pytest.raises(SettingsError) as refusal:
            connection.cluster.nodes()
        assert str(kubeconfig) in str(refusal.value)

    def test_missing_file_is_a_mistake_in_the_settings(self, clock: FakeClock, tmp_path: Path) -> None:
        missing = tmp_path / "missing"
        with connect(clock, kubeconfig=str(missing)) as connection, pytest.raises(SettingsError, match=str(missing)):
            connection.cluster.nodes()

    def test_certificate_that_is_missing_is_a_mistake_in_the_settings(self, clock: FakeClock, tmp_path: Path) -> None:
        kubeconfig = write_config(
            tmp_path / "config", "https://127.0.0.1:1", None, **{"certificate-authority": "ca.crt"}
        )
        with connect(clock, kubeconfig=str(kubeconfig)) as connection, pytest.raises(SettingsError, match=r"ca\.crt"):
            connection.cluster.nodes()


class TestServiceAccount:
    @pytest.fixture
    def account(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The files of a pod's service account, and no kubeconfig."""
        (tmp_path / "token").write_text("first")
        (tmp_path / "ca.crt").write_text("certificate")
        monkeypatch.setattr(credentials, "KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "missing"))
        monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
        monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        return tmp_path

    @pytest.fixture
    def client(self, account: Path) -> Iterator[Any]:
        client: Any = credentials.open_client("", "exoscaler/test", 4)
        yield client
        client.close()

    def test_service_account_is_used_when_there_is_no_kubeconfig(self, account: Path, client: Any) -> None:
        assert client.configuration.host == "https://10.0.0.1:443"
        assert client.configuration.ssl_ca_cert == str(account / "ca.crt")
        assert self.token(client) == "bearer first"

    def test_token_is_read_again_when_it_is_due(self, account: Path, client: Any) -> None:
        (account / "token").write_text("second")
        assert self.token(client) == "bearer first"
        self.make_due(client)
        assert self.token(client) == "bearer second"

    def test_token_that_cannot_be_read_any_more_is_a_matter_of_credentials(
        self, account: Path, clock: FakeClock
    ) -> None:
        access = Access(Endpoint(), clock)
        self.make_due(access._opened()._client)
        (account / "token").unlink()
        with pytest.raises(Denied, match=r"list nodes: .*the credentials cannot be renewed"):
            access.ask(Call(Verb.LIST, NODES))
        access.close()

    def test_nothing_usable_is_a_mistake_that_names_all_places(
        self, account: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
        with connect(clock) as connection, pytest.raises(SettingsError) as refusal:
            connection.cluster.nodes()
        for place in ("setting kubeconfig", "KUBECONFIG", "~/.kube/config", "service account"):
            assert place in str(refusal.value)

    @staticmethod
    def token(client: Any) -> str:
        headers: dict[str, str] = {}
        client.update_params_for_auth(headers, [], ["BearerToken"], "/", "GET", None)
        return headers["authorization"]

    @staticmethod
    def make_due(client: Any) -> None:
        """Let the minute pass after which the library reads the token again."""
        hook = client.configuration.refresh_api_key_hook
        loader = next(cell.cell_contents for cell in hook.__closure__)
        loader.token_expires_at -= timedelta(minutes=2)


def run_python(code: str) -> list[str]:
    """The lines that a fresh interpreter prints, with every warning an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_nothing_slow_is_imported_before_the_first_call() -> None:
    code = (
        "import sys\n"
        "from exoscaler.adapters.clock import SystemClock\n"
        "from exoscaler.adapters.kubernetes import connect\n"
        "with connect(SystemClock()) as connection:\n"
        "    connection.cluster, connection.state_store('kube-system')\n"
        "print([name for name in ('kubernetes', 'urllib3', 'yaml', 'requests') if name in sys.modules])\n"
    )
    assert run_python(code) == ["[]"]


def test_typed_models_are_never_imported(stub: Stub, tmp_path: Path) -> None:
    stub.answers(NODE)
    kubeconfig = write_config(tmp_path / "config", stub.url)
    code = (
        "import sys\n"
        "from exoscaler.adapters.clock import SystemClock\n"
        "from exoscaler.adapters.kubernetes import connect\n"
        f"with connect(SystemClock(), kubeconfig={str(kubeconfig)!r}) as connection:\n"
        "    print(connection.cluster.node('a').name)\n"
        "print('kubernetes.client.models.v1_pod' in sys.modules, 'kubernetes.client.api.core_v1_api' in sys.modules)\n"
    )
    assert run_python(code) == ["a", "False False"]
