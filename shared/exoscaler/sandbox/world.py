"""A whole sandbox in one process: a cloud, a cluster, the machines between them, each part optional.

::

    with SandboxWorld.local(speed=20) as world:
        kubeconfig = world.write_kubeconfig(Path("kubeconfig"))
        ...  # EXOSCALE_API_ENDPOINT = world.exoscale_url
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import SecretStr

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers import CONTROLLER_GROUPS, Controller, ControllerLoop, Reader, build_controllers
from exoscaler.sandbox.exoscale import DEFAULT_SCENARIO, ExoscaleSandbox, Scenario
from exoscaler.sandbox.kubernetes import KubernetesSandbox, write_kubeconfig
from exoscaler.sandbox.kubernetes.resources import RESOURCES, Resource
from exoscaler.sandbox.machines import FleetTimings, MachineFleet, MachineView
from exoscaler.sandbox.objects import JsonObject, ObjectClient
from exoscaler.sandbox.server import HttpServer

SANDBOX_KEY = "EXOsandbox"
SANDBOX_SECRET = "sandbox-secret"  # noqa: S105 - made up, and documented for whoever tries the sandbox
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where a world listens; port 0 takes a free one."""

    host: str = LOOPBACK
    exoscale_port: int = 0
    kubernetes_port: int = 0


class SandboxWorld:
    """Serves what it is given and lets it live.

    With a `cloud`, the Exoscale API is served. With a `cluster`, the Kubernetes API is served. With a `client` (the
    cluster's own by default), the controllers of the groups in `only` run against it; with a `view` as well (the
    cloud's own by default), the cloud's machines take part in that cluster as nodes.

    Raises:
        ValueError: `only` names controllers that do not exist.
    """

    def __init__(
        self,
        clock: SandboxClock,
        *,
        cloud: ExoscaleSandbox | None = None,
        cluster: KubernetesSandbox | None = None,
        client: ObjectClient | None = None,
        view: MachineView | None = None,
        only: Collection[str] = CONTROLLER_GROUPS,
        timings: FleetTimings | None = None,
        listen: Addresses | None = None,
    ) -> None:
        self.clock = clock
        self.cloud = cloud
        self.cluster = cluster
        self.client = client or (cluster.client if cluster else None)
        view = view or (cloud.cloud if cloud else None)
        self._loop = self._controllers(view, only, timings)
        self._listen = listen or Addresses()
        self._exoscale: HttpServer | None = None
        self._kubernetes: HttpServer | None = None

    @classmethod
    def local(
        cls,
        *,
        speed: float = 1.0,
        scenario: Scenario = DEFAULT_SCENARIO,
        key: str = SANDBOX_KEY,
        secret: SecretStr | None = None,
        timings: FleetTimings | None = None,
    ) -> Self:
        """Both halves, on free ports of loopback."""
        clock = SandboxClock(speed)
        cloud = ExoscaleSandbox(clock, key=key, secret=secret or SecretStr(SANDBOX_SECRET), scenario=scenario)
        return cls(clock, cloud=cloud, cluster=KubernetesSandbox(clock), timings=timings)

    @property
    def exoscale_url(self) -> str:
        """The endpoint of the Exoscale API, with its version; empty while it is not served."""
        return f"{self._exoscale.url}/v2" if self._exoscale else ""

    @property
    def kubernetes_url(self) -> str:
        """The address of the Kubernetes API; empty while it is not served."""
        return self._kubernetes.url if self._kubernetes else ""

    def start(self) -> Self:
        """Serve and live; returns when both APIs answer.

        Raises:
            OSError: an address cannot be bound; nothing is left running.
            RuntimeError: a server did not come up; nothing is left running.
        """
        at = self._listen
        try:
            if self.cloud:
                self._exoscale = HttpServer(self.cloud.app, host=at.host, port=at.exoscale_port).start()
            if self.cluster:
                self._kubernetes = HttpServer(self.cluster.app, host=at.host, port=at.kubernetes_port).start()
        except (OSError, RuntimeError):
            self.stop()
            raise
        if self._loop:
            self._loop.start()
        return self

    def stop(self) -> None:
        """Stand still, then stop serving."""
        if self._loop:
            self._loop.stop()
        if self.cluster:
            # An open watch would hold the server for as long as it takes uvicorn to lose patience.
            self.cluster.end_watches()
        for server in (self._kubernetes, self._exoscale):
            if server:
                server.stop()
        self._kubernetes = self._exoscale = None

    def write_kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig for the cluster that is served."""
        return write_kubeconfig(path, self.kubernetes_url)

    def apply(self, manifests: Iterable[JsonObject]) -> None:
        """Create objects in the cluster, in the namespace ``default`` where they name none.

        Raises:
            ValueError: there is no cluster, or a manifest is of a kind that cannot be seeded.
            ObjectError: the cluster refused one.
        """
        if self.client is None:
            raise ValueError("there is no cluster to create objects in")
        for manifest in manifests:
            resource = _resource_of(manifest)
            namespace = (manifest.get("metadata") or {}).get("namespace") or "default"
            self.client.create(*resource.key, manifest, namespace=namespace if resource.namespaced else "")

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _controllers(
        self, view: MachineView | None, only: Collection[str], timings: FleetTimings | None
    ) -> ControllerLoop | None:
        if self.client is None:
            return None
        reader = Reader(self.client)
        fleet: tuple[Controller, ...] = ()
        if view is not None:
            fleet = (MachineFleet(view, self.client, reader, self.clock, timings=timings),)
        controllers = (*fleet, *build_controllers(self.client, reader, self.clock, only=only))
        return ControllerLoop(controllers, self.clock, name="world", before_round=reader.forget)


def _resource_of(manifest: object) -> Resource:
    fields = manifest if isinstance(manifest, dict) else {}
    version, kind = fields.get("apiVersion"), fields.get("kind")
    for resource in RESOURCES.values():
        if (resource.group_version, resource.kind) == (version, kind):
            return resource
    raise ValueError(f"a manifest names its apiVersion and its kind; the sandbox knows no {kind} in {version}")
