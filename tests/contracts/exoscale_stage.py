"""The Exoscale adapter on the sandbox's API over real HTTP.

Simulated time stands still until a test moves it on, so that every state in between can be looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.exoscale import ExoscaleCloud, provider
from exoscaler.core.model import CloudReading, GroupReading, NodeGroup
from exoscaler.core.operations.model import CloudOperation
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from exoscaler.ports.provider import CloudConnection
from exoscaler.sandbox.exoscale import (
    ExoscaleSandbox,
    InstanceSpec,
    OperationId,
    Scenario,
    Taint,
)
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import KEY, LONG, SECRET, ManualClock, nodepool_spec, pool_spec, scenario


class QuickClock(SystemClock):
    """Pauses between attempts are not waited for."""

    def pause(self, duration: timedelta) -> None:
        assert duration >= timedelta(0)


@dataclass
class Stage:
    """A sandbox, the adapter on it, and the hands of time."""

    sandbox: ExoscaleSandbox
    clock: ManualClock
    cloud: ExoscaleCloud

    def nodes(self) -> list[NodeIdentity]:
        """What the cluster would say of the machines that are there."""
        return [NodeIdentity(m.name, m.id, m.nodepool_id) for m in self.sandbox.cloud.machines()]

    def read(self, *known: NodeGroup, unmanaged: Sequence[str] = ()) -> CloudReading:
        return self.cloud.read_groups(self.nodes(), KnownCloud(known, tuple(unmanaged)))

    def group(self, name: str) -> NodeGroup:
        """The group as the cache would know it."""
        assert not self.sandbox.faults.status(), "groups are read before faults are set"
        return cached(next(group for group in self.read().groups if group.name == name))

    def pass_time(self) -> None:
        self.clock.advance(LONG)

    def ended(self, operation: CloudOperation) -> CloudOperation:
        self.pass_time()
        return self.cloud.read_operation(operation.id)

    def counts(self) -> dict[OperationId, int]:
        return self.sandbox.calls.counts()


def cached(reading: GroupReading) -> NodeGroup:
    return NodeGroup(
        id=reading.id,
        kind=reading.kind,
        name=reading.name,
        pool=reading.pool,
        min_size=1,
        max_size=10,
        read_at=datetime(2026, 12, 1, tzinfo=UTC),
        nodepool_id=reading.nodepool_id,
        cluster_id=reading.cluster_id,
    )


ACCOUNT = scenario(
    nodepool_spec("general", 2, labels={"tier": "web", "owner": "a/b"}, min_available=1),
    nodepool_spec("tainted", 0, taints={"dedicated": Taint(value="gpu", effect="NoExecute")}, kubelet_max_pods=60),
    nodepool_spec("spread", 1, anti_affinity_groups=("apart",)),
    pools=(pool_spec("batch", 1),),
    instances=(InstanceSpec(name="bastion", instance_type="standard.small"),),
    quotas={"instance": 20},
)


@contextmanager
def staged(
    account: Scenario = ACCOUNT,
    *,
    secret: str = SECRET,
    allowed: Sequence[OperationId] | None = None,
    **connection: Any,
) -> Iterator[Stage]:
    clock = ManualClock()
    sandbox = ExoscaleSandbox(clock, key=KEY, secret=SECRET, scenario=account, allowed_operations=allowed)
    with HttpServer(sandbox.app) as server:
        link = CloudConnection(f"{server.url}/v2", SecretStr(KEY), SecretStr(secret), **connection)
        cloud = provider(link, QuickClock(), lambda _: None)
        try:
            yield Stage(sandbox, clock, cloud)
        finally:
            cloud.close()


CHANGES: dict[str, Callable[[Stage, NodeGroup], CloudOperation]] = {
    "grow": lambda stage, group: stage.cloud.set_size(group, group.pool.size + 2),
    "evict": lambda stage, group: stage.cloud.remove_instances(group, group.pool.members[:1]),
}
both_kinds = pytest.mark.parametrize("name", ["general", "batch"])
both_changes = pytest.mark.parametrize("change", CHANGES)
