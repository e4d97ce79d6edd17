"""R1: bounds of node groups, with Exoscale's twist on the minimum."""

from __future__ import annotations

import pytest

from exoscaler.core.model import NodeBounds
from tests.settings.doors import load, mistake, mistakes, settings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:5:pool-a", NodeBounds(1, 5, "pool-a")),
        ("3:3:pool-a", NodeBounds(3, 3, "pool-a")),
        ("1:5:a:b:c", NodeBounds(1, 5, "a:b:c")),
        ("1:5:my pool", NodeBounds(1, 5, "my pool")),
        ("1:5:b7c2a7de-0000-4000-8000-0123456789ab", NodeBounds(1, 5, "b7c2a7de-0000-4000-8000-0123456789ab")),
        (" 1 : 5 : pool-a ", NodeBounds(1, 5, "pool-a")),
    ],
)
def test_min_max_name_is_read(text: str, expected: NodeBounds) -> None:
    assert settings(f"--nodes={text}").nodes == (expected,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("pool-a", "a node group is written min:max:name, e.g. 1:5:pool-a"),
        ("1:5", "a node group is written min:max:name, e.g. 1:5:pool-a"),
        ("", "a node group is written min:max:name, e.g. 1:5:pool-a"),
        ("one:5:pool-a", "the minimum is not a whole number"),
        ("1.5:5:pool-a", "the minimum is not a whole number"),
        ("1:many:pool-a", "the maximum is not a whole number"),
        ("1:5:", "the name is empty"),
        ("1:5:  ", "the name is empty"),
        ("5:1:pool-a", "the maximum 1 is below the minimum 5"),
        ("01:5:pool-a", "the minimum is not a whole number"),
    ],
)
def test_mistake_shows_the_text_and_what_would_be_right(text: str, told: str) -> None:
    found = mistake(f"--nodes={text}")

    assert found.startswith("--nodes=")
    assert text in found
    assert told in found


@pytest.mark.parametrize("minimum", [0, -3])
def test_minimum_below_one_is_raised_with_a_warning(minimum: int) -> None:
    loaded = load(f"--nodes={minimum}:5:pool-a")

    assert loaded.settings.nodes == (NodeBounds(1, 5, "pool-a"),)
    assert loaded.warnings == (
        f"--nodes={minimum}:5:pool-a: the minimum {minimum} counts as 1; set --scale-to-zero to let a group be empty",
    )


def test_minimum_of_zero_stays_when_groups_may_be_empty() -> None:
    loaded = load("--nodes=0:5:pool-a", "--scale-to-zero")

    assert loaded.settings.nodes == (NodeBounds(0, 5, "pool-a"),)
    assert loaded.warnings == ()


def test_minimum_below_zero_is_a_mistake_when_groups_may_be_empty() -> None:
    assert mistake("--nodes=-1:5:pool-a", "--scale-to-zero") == "--nodes=-1:5:pool-a: the minimum must be 0 or more"


def test_maximum_is_compared_with_the_raised_minimum() -> None:
    assert mistake("--nodes=0:0:pool-a") == "--nodes=0:0:pool-a: the maximum 0 is below the minimum 1"


def test_group_without_any_node_is_allowed_when_groups_may_be_empty() -> None:
    assert settings("--nodes=0:0:pool-a", "--scale-to-zero").nodes == (NodeBounds(0, 0, "pool-a"),)


def test_name_used_twice_is_a_mistake_at_its_second_place() -> None:
    found = mistake("--nodes=1:5:pool-a", "--nodes=1:9:pool-b", "--nodes=2:3:pool-a")

    assert found == "--nodes=2:3:pool-a: the group pool-a has bounds already; name each group once"


def test_every_group_is_checked_although_another_is_unreadable() -> None:
    found = mistakes("--nodes=nonsense", "--nodes=5:1:pool-a", "--nodes=1:5:pool-b", "--nodes=1:6:pool-b")

    assert [line.partition(": ")[0] for line in found] == [
        "--nodes=nonsense",
        "--nodes=5:1:pool-a",
        "--nodes=1:6:pool-b",
    ]


def test_groups_keep_the_order_in_which_they_are_written() -> None:
    names = ["c", "a", "b"]

    assert [bounds.name for bounds in settings(*(f"--nodes=1:2:{name}" for name in names)).nodes] == names
