"""Everything that one evaluation looks at, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from exoscaler.core.membership import Membership, tie
from exoscaler.core.model import ClusterSnapshot, NodeGroup
from exoscaler.core.policy import Policy
from exoscaler.core.state import State


@dataclass(frozen=True)
class Scene:
    """What is known, what is wanted and what time it is.

    Attributes:
        decision_id: names this evaluation in logs, events and operations; also seeds what is chosen by chance.
    """

    snapshot: ClusterSnapshot
    state: State
    policy: Policy
    now: datetime
    decision_id: str

    @cached_property
    def groups(self) -> tuple[NodeGroup, ...]:
        """The known groups, sorted by name and id, so that every choice has one order."""
        return tuple(sorted(self.state.node_groups.groups.values(), key=lambda group: (group.name, group.id)))

    @cached_property
    def membership(self) -> Membership:
        """Which node belongs to which group."""
        return tie(self.snapshot.nodes, self.groups, self.policy.provider_id_prefix)
