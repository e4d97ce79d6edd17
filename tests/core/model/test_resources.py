from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model import FrozenMap, Resources
from tests.builders import resources

_AMOUNTS = st.integers(-(10**12), 10**12)
_RESOURCES = st.builds(
    Resources,
    _AMOUNTS,
    _AMOUNTS,
    _AMOUNTS,
    _AMOUNTS,
    st.dictionaries(st.sampled_from(["nvidia.com/gpu", "hugepages-2Mi", "x/y"]), _AMOUNTS).map(FrozenMap),
)


def _amounts(value: Resources) -> dict[str, int]:
    return {name: amount for name, amount in value.items() if amount}


@given(_RESOURCES, _RESOURCES)
def test_what_is_added_and_taken_away_again_leaves_the_same_amounts(one: Resources, other: Resources) -> None:
    assert _amounts(one + other - other) == _amounts(one)
    assert _amounts(one + other) == _amounts(other + one)


@given(_RESOURCES, st.integers(0, 50))
def test_scaling_is_repeated_addition(one: Resources, factor: int) -> None:
    total = Resources()
    for _ in range(factor):
        total += one
    assert _amounts(one.scaled(factor)) == _amounts(total)


def test_an_extended_resource_that_only_one_side_has_counts_as_none_on_the_other() -> None:
    left = resources(cpu="1") - resources(nvidia_com__gpu=2)

    assert left.cpu == 1000
    assert left.extended["nvidia.com/gpu"] == -2


def test_the_larger_amount_of_each_is_kept() -> None:
    one = resources(cpu="2", memory="1Gi", nvidia_com__gpu=1)
    other = resources(cpu="1", memory="2Gi", pods=5)

    assert one.at_least(other) == resources(cpu="2", memory="2Gi", pods=5, nvidia_com__gpu=1)


def test_resources_are_listed_in_one_order() -> None:
    named = dict(resources(cpu="1", b__x=1, a__x=2).items())

    assert list(named) == ["cpu", "memory", "ephemeral-storage", "pods", "a/x", "b/x"]
