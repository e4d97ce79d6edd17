"""Builders: a clock moved by hand, small accounts, a sandbox served over HTTP with the official client on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import requests
from exoscale.api.v2 import Client
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale import (
    Cloud,
    ClusterSpec,
    ExoscaleSandbox,
    Fault,
    Faults,
    NodepoolSpec,
    OperationId,
    PoolSpec,
    Scenario,
    Timing,
)
from exoscaler.sandbox.exoscale.operations import Operation
from exoscaler.sandbox.exoscale.resources import Instance, Nodepool, Pool
from exoscaler.sandbox.machines.view import MachineState

KEY = "EXO0123456789abcdef01234567"
SECRET = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_abcdef"
NOBODY = "00000000-0000-4000-8000-000000000000"
LONG = 10_000.0
"""Simulated seconds after which everything that was going to happen has happened."""


class ManualClock(SandboxClock):
    """Simulated time stands still until `advance`; the wall clock, which signatures need, is real."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 1_000.0

    def monotonic(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds


def nodepool_spec(name: str = "general", size: int = 1, **options: Any) -> NodepoolSpec:
    return NodepoolSpec(name=name, size=size, instance_type=options.pop("instance_type", "standard.medium"), **options)


def pool_spec(name: str = "batch", size: int = 1, **options: Any) -> PoolSpec:
    return PoolSpec(name=name, size=size, instance_type=options.pop("instance_type", "standard.large"), **options)


def scenario(*nodepools: NodepoolSpec, pools: tuple[PoolSpec, ...] = (), **options: Any) -> Scenario:
    """One cluster with these nodepools."""
    return Scenario(clusters=(ClusterSpec(name="demo", nodepools=nodepools),), pools=pools, **options)


class World:
    """A cloud model on a clock moved by hand, without HTTP."""

    def __init__(self, account: Scenario, *faults: Fault, seed: int = 0) -> None:
        self.clock = ManualClock()
        self.faults = Faults(self.clock)
        self.cloud = Cloud(self.clock, self.faults, account, seed=seed)
        for fault in faults:
            self.faults.add(fault)

    def nodepool(self, name: str = "general") -> Nodepool:
        with self.cloud.at_present() as account:
            every = [each for cluster in account.clusters.values() for each in cluster.nodepools]
            return next(each for each in every if each.name == name)

    def pool(self, name: str = "general") -> Pool:
        with self.cloud.at_present() as account:
            standalone = [each for each in account.pools.values() if each.name == name]
        return standalone[0] if standalone else self.nodepool(name).pool

    def nodepool_state(self, name: str = "general") -> str:
        nodepool = self.nodepool(name)
        with self.cloud.at_present() as account:
            return account.state_of(nodepool)

    def members(self, name: str = "general") -> list[Instance]:
        pool = self.pool(name)
        with self.cloud.at_present() as account:
            return account.members(pool)

    def states(self, name: str = "general") -> list[MachineState]:
        return [member.state for member in self.members(name)]

    def scale(self, size: int, name: str = "general") -> Operation:
        nodepool = self.nodepool(name)
        return self.cloud.scale_nodepool(nodepool.cluster_id, nodepool.id, size)

    def evict(self, *instance_ids: str, name: str = "general") -> Operation:
        nodepool = self.nodepool(name)
        return self.cloud.evict_nodepool_members(nodepool.cluster_id, nodepool.id, instance_ids)

    def operation(self, operation: Operation) -> Operation:
        with self.cloud.at_present() as account:
            return account.operations.get(operation.id)

    def usage(self, resource: str = "instance") -> int:
        with self.cloud.at_present() as account:
            return account.usage(resource)

    def pass_time(self, seconds: float = LONG) -> None:
        self.clock.advance(seconds)


@dataclass
class Served:
    """A sandbox behind a real socket. `api` is the official client; `http` its session, which signs requests."""

    sandbox: ExoscaleSandbox
    clock: ManualClock
    url: str
    api: Any
    http: requests.Session

    def call(self, method: str, path: str, **options: Any) -> requests.Response:
        """A signed request below ``/v2``."""
        return self.http.request(method, f"{self.url}/v2{path}", **options)

    def control(self, method: str, path: str, **options: Any) -> requests.Response:
        """A request to the sandbox's own controls."""
        return requests.request(method, f"{self.url}/_sandbox{path}", timeout=10, **options)

    def cluster(self) -> Any:
        return self.api.list_sks_clusters()["sks-clusters"][0]

    def nodepool(self, name: str = "general") -> Any:
        return next(each for each in self.cluster()["nodepools"] if each["name"] == name)

    def nodepool_path(self, name: str = "general") -> str:
        return f"/sks-cluster/{self.cluster()['id']}/nodepool/{self.nodepool(name)['id']}"

    def scale(self, size: int, name: str = "general") -> Any:
        return self.api.scale_sks_nodepool(
            id=self.cluster()["id"], sks_nodepool_id=self.nodepool(name)["id"], size=size
        )


class FrontDoor:
    """An application that hands every request to the one behind it: a server starts more slowly than a sandbox."""

    def __init__(self) -> None:
        self.url = ""
        self.behind: ASGIApp = PlainTextResponse("no sandbox here", 503)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.behind(scope, receive, send)


FRONT_DOOR = FrontDoor()


@contextmanager
def served(
    account: Scenario, *, secret: str = SECRET, allowed: tuple[OperationId, ...] | None = None
) -> Iterator[Served]:
    clock = ManualClock()
    sandbox = ExoscaleSandbox(clock, key=KEY, secret=SECRET, scenario=account, allowed_operations=allowed)
    FRONT_DOOR.behind = sandbox.app
    client = Client(KEY, secret, url=f"{FRONT_DOOR.url}/v2")
    try:
        yield Served(sandbox, clock, FRONT_DOOR.url, client, client.http_client)
    finally:
        client.http_client.close()


def eventually(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait for a condition that another thread or process brings about."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.01)


QUICK = Timing(boot_jitter=0.0)
"""Everything takes its average time."""
