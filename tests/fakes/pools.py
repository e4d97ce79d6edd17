"""The pools, instances and changes of the fake cloud."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from exoscaler.core.model import (
    ConditionStatus,
    GroupDescription,
    GroupKind,
    GroupReading,
    Node,
    NodeCondition,
    Pool,
    PoolState,
)
from exoscaler.core.operations.model import CloudOperationState

PROVIDER_ID_PREFIX = "exoscale://"
NODEPOOL_LABEL = "node.exoscale.net/nodepool-id"


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds after a change was accepted. The operation ends first, the pool is free later, as on Exoscale."""

    appears: float = 4
    """A new instance is listed as a member."""
    operation: float = 8
    """The operation ends."""
    settles: float = 12
    """The pool is ``running`` again."""
    registers: float = 30
    """A new instance is a node."""
    ready: float = 40
    """That node is ready."""
    leaves: float = 10
    """An evicted instance is no member any more."""
    node_gone: float | None = 15
    """The cloud's controller deletes its Node; None for never."""


class Standing(StrEnum):
    """How far an instance has come."""

    COMING = "coming"
    ALIVE = "alive"
    LEAVING = "leaving"


@dataclass(slots=True)
class Instance:
    """A machine; `boots` says whether it ever becomes a node, `has_joined` whether it did."""

    id: str
    name: str
    standing: Standing = Standing.COMING
    boots: bool = True
    has_joined: bool = False


@dataclass(slots=True)
class FakePool:
    """A pool; `size` is the target, `instances` are all that have not left, by id."""

    id: str
    name: str
    node: Node
    size: int
    kind: GroupKind = GroupKind.SKS_NODEPOOL
    min_available: int = 0
    state: PoolState = PoolState.RUNNING
    instances: dict[str, Instance] = field(default_factory=dict)
    changing: str = ""
    made: int = 0

    @property
    def members(self) -> tuple[str, ...]:
        return tuple(sorted(i.id for i in self.instances.values() if i.standing is not Standing.COMING))

    @property
    def staying(self) -> int:
        """How many instances it has or is about to have, those on their way out aside."""
        return sum(1 for instance in self.instances.values() if instance.standing is not Standing.LEAVING)

    @property
    def view(self) -> Pool:
        return Pool(self.size, self.members, self.state, self.state.value)

    @property
    def reading(self) -> GroupReading:
        sks = self.kind is GroupKind.SKS_NODEPOOL
        return GroupReading(
            id=self.id,
            kind=self.kind,
            name=self.name,
            pool=self.view,
            nodepool_id=f"nodepool-of-{self.name}" if sks else "",
            cluster_id="cluster" if sks else "",
            cluster_name="cluster" if sks else "",
            description=GroupDescription(),
            min_available=self.min_available,
        )

    def node_of(self, instance: Instance, *, born: datetime | None = None, ready: bool = True) -> Node:
        """The node that an instance is, born now or as long ago as the pool's first ones."""
        since = born or self.node.created_at
        status = ConditionStatus.TRUE if ready else ConditionStatus.FALSE
        labels = self.node.labels.with_entry("kubernetes.io/hostname", instance.name)
        return replace(
            self.node,
            name=instance.name,
            uid=str(uuid.uuid5(uuid.NAMESPACE_URL, instance.name)),
            created_at=since,
            provider_id=f"{PROVIDER_ID_PREFIX}{instance.id}",
            system_uuid=instance.id,
            labels=labels.with_entry(NODEPOOL_LABEL, f"nodepool-of-{self.name}"),
            conditions=(NodeCondition("Ready", status, since),),
        )


@dataclass(frozen=True, slots=True)
class SizeChange:
    """A call to `FakeCloud.set_size`."""

    group_id: str
    size: int


@dataclass(frozen=True, slots=True)
class Removal:
    """A call to `FakeCloud.remove_instances`."""

    group_id: str
    instance_ids: tuple[str, ...]


Mutation: TypeAlias = SizeChange | Removal


@dataclass(frozen=True, slots=True)
class Course:
    """How an accepted change runs: whether it has an effect, and how its operation ends."""

    effective: bool = True
    ends: CloudOperationState = CloudOperationState.SUCCESS
    detail: str = ""
    busy: bool = False
    quota: bool = False
