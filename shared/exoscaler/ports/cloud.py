"""The cloud that owns the node groups.

Every method may raise a `exoscaler.errors.RemoteError`; what each means is said at the method. None of them waits
for a change to finish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from exoscaler.core.model import CloudReading, GroupReading, NodeGroup, Pool
from exoscaler.core.operations.model import CloudOperation

__all__ = ["Cloud", "CloudReading", "GroupReading", "KnownCloud", "NodeIdentity"]


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """What is needed to find the group of a node.

    Attributes:
        instance_id: lower-case; None when nothing identifies an instance of this provider.
        nodepool_id: the value of the node label that names its nodepool; empty without one.
        control_plane: whether the node is marked as part of the control plane.
    """

    node_name: str
    instance_id: str | None
    nodepool_id: str = ""
    control_plane: bool = False


@dataclass(frozen=True, slots=True)
class KnownCloud:
    """What the last reading found, to be brought up to date."""

    groups: tuple[NodeGroup, ...] = ()
    unmanaged: tuple[str, ...] = ()


class Cloud(Protocol):
    """One account in one zone."""

    provider_id_prefix: str
    """What precedes an instance id in a node's provider id."""
    nodepool_label: str
    """The node label that names the nodepool a node came from; nodes without one are looked up by instance."""

    def read_groups(self, nodes: Sequence[NodeIdentity], known: KnownCloud) -> CloudReading:
        """Find and read the groups behind these nodes and those of the same clusters.

        O(pools) calls. Failures of parts are contained in the result; raises only `Denied` when the credentials are
        refused as a whole, and nothing else.
        """

    def read_pool(self, group: NodeGroup) -> Pool:
        """The group's pool now. Raises `NotFound` when it does not exist any more."""

    def set_size(self, group: NodeGroup, size: int) -> CloudOperation:
        """Ask for an absolute size.

        Raises:
            Conflict: the pool is being changed; nothing happened.
            QuotaExceeded, Denied, Rejected, NotFound: refused; nothing happened.
            RateLimited: nothing happened.
            Unavailable, TimedOut: it may have happened; read the pool to know.
        """

    def remove_instances(self, group: NodeGroup, instance_ids: Sequence[str]) -> CloudOperation:
        """Take these members out of the pool and delete them; the pool's size sinks by their number.

        Never repeated by itself. Raises as `set_size`; `NotFound` also when one of the instances is gone already.
        """

    def read_operation(self, operation_id: str) -> CloudOperation:
        """A change's progress; state ``forgotten`` when the cloud does not know it any more."""

    def instance_is_leaving(self, instance_id: str) -> bool:
        """Whether the instance is gone or on its way out."""

    def close(self) -> None:
        """Give back connections; nothing is called afterwards."""
