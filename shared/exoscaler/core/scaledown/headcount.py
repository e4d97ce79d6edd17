"""How many nodes a group keeps once everything that is under way has happened."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import Policy
from exoscaler.core.state import OperationsDocument


def leaving_instances(operations: OperationsDocument) -> frozenset[str]:
    """Instances that an operation removes, or has removed.

    The cache of pools may be older than the last removal: what it still lists although it is gone does not count.
    """
    gone = (op.instance_id for op in operations.ended_shrinking if op.phase is ShrinkPhase.REMOVED)
    return frozenset((*instances_of(operations.shrinking), *gone))


def instances_of(operations: Iterable[ShrinkOperation]) -> frozenset[str]:
    """The instances that these operations remove; one whose removal is being undone stays."""
    return frozenset(op.instance_id for op in operations if is_removing(op))


def is_removing(operation: ShrinkOperation) -> bool:
    """Whether the operation still means to remove its instance."""
    return not operation.ended and operation.phase is not ShrinkPhase.ROLLING_BACK


def spare(group: NodeGroup, leaving: frozenset[str], policy: Policy) -> int:
    """How many more nodes the group may lose besides `leaving`; zero or less when none (R106, R125).

    A pool whose size is larger than the number of its members has lost instances, or has yet to get them: it may lose
    no more than it has.
    """
    return remaining(group, leaving) - floor(group, policy)


def remaining(group: NodeGroup, leaving: frozenset[str]) -> int:
    """How many members the group has without `leaving`. An instance that is no member any more is not counted twice."""
    pool = group.pool
    return min(pool.size, len(pool.members)) - sum(instance in leaving for instance in pool.members)


def floor(group: NodeGroup, policy: Policy) -> int:
    """The least size of the group."""
    return max(group.min_size, policy.smallest_group)
