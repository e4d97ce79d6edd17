"""How many nodes a group may lose (R106, R125, I1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import ShrinkOperation, ShrinkPhase
from exoscaler.core.policy import Policy
from exoscaler.core.scaledown.headcount import leaving_instances, spare
from exoscaler.core.state import OperationsDocument
from tests.builders import instance_id, make_group, make_node, make_removal

NODES = [make_node(name) for name in "abcd"]
POLICY = Policy()


def group(*, size: int | None = None, min_size: int = 1) -> NodeGroup:
    return make_group(nodes=NODES, size=size, min_size=min_size)


def removal(phase: ShrinkPhase, number: int = 0) -> ShrinkOperation:
    return make_removal(group(), NODES[number], phase=phase)


def left(*operations: ShrinkOperation, of: NodeGroup | None = None) -> int:
    ended = tuple(op for op in operations if op.ended)
    in_flight = tuple(op for op in operations if not op.ended)
    document = OperationsDocument(shrinking=in_flight, ended_shrinking=ended)
    return spare(of or group(), leaving_instances(document), POLICY)


def test_group_may_lose_what_it_has_above_its_minimum() -> None:
    assert left() == 3
    assert left(of=group(min_size=4)) == 0
    assert left(of=group(min_size=6)) == -2


@pytest.mark.parametrize(
    "phase",
    [
        ShrinkPhase.PLANNED,
        ShrinkPhase.TAINTED,
        ShrinkPhase.DRAINING,
        ShrinkPhase.DRAINED,
        ShrinkPhase.EVICTING,
        ShrinkPhase.REMOVED,  # the cache may be older than the removal
    ],
)
def test_node_that_goes_or_went_counts_as_gone(phase: ShrinkPhase) -> None:  # K7
    assert left(removal(phase)) == 2


@pytest.mark.parametrize("phase", [ShrinkPhase.ROLLING_BACK, ShrinkPhase.ROLLED_BACK])
def test_node_that_stays_after_all_counts_as_there(phase: ShrinkPhase) -> None:
    assert left(removal(phase)) == 3


def test_instance_that_the_pool_has_lost_already_is_not_counted_twice() -> None:
    after = make_group(nodes=NODES[1:])
    assert left(removal(ShrinkPhase.EVICTING), of=after) == 2


def test_removals_of_several_nodes_add_up() -> None:
    assert left(*(removal(ShrinkPhase.DRAINING, number) for number in range(3))) == 0


def test_instances_that_are_missing_are_no_reserve() -> None:
    # The pool wants six and has four: with a minimum of four it may lose none.
    assert left(of=group(size=6, min_size=4)) == 0


def test_pool_that_wants_fewer_than_it_has_is_as_large_as_it_wants_to_be() -> None:
    assert left(of=group(size=2)) == 1


def test_last_node_stays_unless_groups_may_be_empty() -> None:
    alone = make_group(members=[instance_id("a")], min_size=0)
    assert spare(alone, frozenset(), POLICY) == 0
    assert spare(alone, frozenset(), replace(POLICY, scale_to_zero=True)) == 1
