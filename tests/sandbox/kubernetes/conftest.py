from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import kubernetes.client
import pytest
from kubernetes.client import ApiClient
from starlette.types import ASGIApp, Receive, Scope, Send

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes import HttpObjectClient, KubernetesSandbox, ObjectStore, StoreClient, write_kubeconfig
from exoscaler.sandbox.server import HttpServer


class _Switch:
    """Serves the sandbox of the running test, so that one server does for all of them."""

    def __init__(self) -> None:
        self.app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self.app is not None
        await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def _switched_server() -> Iterator[tuple[_Switch, str]]:
    switch = _Switch()
    with HttpServer(switch) as server:
        yield switch, server.url


@pytest.fixture
def sandbox() -> KubernetesSandbox:
    return KubernetesSandbox(SandboxClock())


@pytest.fixture
def store(sandbox: KubernetesSandbox) -> ObjectStore:
    return sandbox.store


@pytest.fixture
def cluster(sandbox: KubernetesSandbox) -> StoreClient:
    """The sandbox in process, to arrange what a test needs and to look at what came of it."""
    return sandbox.client


@pytest.fixture
def url(sandbox: KubernetesSandbox, _switched_server: tuple[_Switch, str]) -> str:
    switch, url = _switched_server
    switch.app = sandbox.app
    return url


@pytest.fixture
def http(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=10) as client:
        yield client


@pytest.fixture
def remote(url: str) -> Iterator[HttpObjectClient]:
    """The sandbox over HTTP, through the client that its controllers use for any cluster."""
    with HttpObjectClient(url, timeout=10) as client:
        yield client


@pytest.fixture
def official(url: str) -> Iterator[ApiClient]:
    """The official client, to make typed APIs from."""
    configuration = kubernetes.client.Configuration()
    configuration.host = url
    configuration.retries = False
    with ApiClient(configuration) as client:
        yield client


Kubectl = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def kubectl_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl-cache")


@pytest.fixture
def kubectl_command(url: str, tmp_path: Path, kubectl_cache: Path) -> list[str]:
    binary = shutil.which("kubectl")
    if binary is None:
        pytest.skip("kubectl is not installed: what it makes of the sandbox cannot be tested")
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", url)
    return [binary, f"--kubeconfig={kubeconfig}", f"--cache-dir={kubectl_cache}"]


@pytest.fixture
def kubectl(kubectl_command: list[str]) -> Kubectl:
    """Runs kubectl on the sandbox; fails the test when kubectl fails, unless told not to check."""

    def run(*arguments: str, stdin: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*kubectl_command, *arguments], input=stdin, capture_output=True, text=True, timeout=30, check=False
        )
        if check:
            assert done.returncode == 0, done.stderr
        return done

    return run
