"""Killing an invocation at every single call with an effect, and losing the state there (I5, I6).

A killed process does nothing more, not even give its claim back. The ticks that follow must bring about the same world
as if nothing had happened: sizes, nodes, no taint left, no operation in flight, every pod on a node, nothing bought
twice. `Auditor` checks the other invariants at every change that is asked of the cloud.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

import pytest

from exoscaler.core.operations.model import ShrinkPhase
from exoscaler.core.state import Payload
from tests.app.auditor import Auditor
from tests.app.crashing import Ending, KillSwitch, Moment, StateLoss, Switch, live
from tests.app.stories import BOTH_AT_ONCE, ROLL_BACK, STORIES, Story
from tests.app.wired import CallKind

T = TypeVar("T")

FEWEST_POINTS = {
    "grow": 10,
    "shrink-empty": 20,
    "shrink-drain": 20,
    "both-at-once": 30,
    "grow-then-shrink": 30,
    "never-registers": 30,
    "roll-back": 30,
}
"""How many crash points each story has at least, so that none silently comes to test nothing."""

UNREADABLE = Payload({"operations.json": '{"version": 1, "growing": 17}'})


@cache
def undisturbed(story: Story) -> tuple[Ending, tuple[str, ...]]:
    """How the story ends when nothing happens, and the calls with effects until it has come to rest."""
    ending, switch = live(story, Switch()), Switch()
    live(story, switch, until=ending)
    return ending, tuple(switch.visited)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_story_comes_to_rest_by_itself(story: Story) -> None:
    ending, visited = undisturbed(story)

    assert ending.at_rest
    assert all(pool.marked == 0 for pool in ending.pools.values())
    assert all(pool.size == pool.members == pool.nodes for pool in ending.pools.values())
    assert len(visited) >= FEWEST_POINTS[story.name]


def test_stories_go_the_ways_that_they_are_told_for() -> None:
    both_ways: list[str] = []

    class Watch(Switch):
        def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
            if world.state.operations.growing and world.state.operations.shrinking:
                both_ways.append(label)
            return super().around(label, kind, call)

    world = BOTH_AT_ONCE.setting()
    live(BOTH_AT_ONCE, Watch(), world=world)
    assert both_ways

    world = ROLL_BACK.setting()
    live(ROLL_BACK, Switch(), world=world)
    removals = world.state.operations.ended_shrinking
    assert {removal.phase for removal in removals} == {ShrinkPhase.ROLLED_BACK, ShrinkPhase.REMOVED}


@pytest.mark.parametrize("moment", Moment, ids=str)
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_dying_at_any_call_ends_in_the_same_world(story: Story, moment: Moment) -> None:  # I5
    expected, visited = undisturbed(story)
    reached = 0
    for at in range(1, len(visited) + 1):
        switch = KillSwitch(at, moment)
        ending = live(story, switch, until=expected)
        where = f"killed {moment.value} call {at}, {visited[at - 1]}"
        assert ending.at_rest, where
        assert ending.pools == expected.pools, where
        assert ending.made == expected.made, where
        reached += len(switch.visited) >= at

    assert reached == len(visited) >= FEWEST_POINTS[story.name]
    print(f"{story.name}: {reached} crash points {moment.value} the call")  # noqa: T201 - shown with -s


@pytest.mark.parametrize(
    ("story", "left"),
    [*((story, None) for story in STORIES), (BOTH_AT_ONCE, UNREADABLE)],
    ids=[*(f"{story.name}-deleted" for story in STORIES), "both-at-once-unreadable"],
)
def test_losing_the_state_at_any_call_is_survived_without_a_hasty_removal(
    story: Story, left: Payload | None
) -> None:  # I6
    expected, visited = undisturbed(story)
    for at in range(1, len(visited) + 1):
        world = story.setting()
        switch = StateLoss(at, Moment.AFTER, world=world, auditor=Auditor(world), left=left)
        ending = live(story, switch, world=world, until=expected)
        where = f"state lost after call {at}, {visited[at - 1]}"
        assert ending.at_rest, where
        assert ending.pools == expected.pools, where
