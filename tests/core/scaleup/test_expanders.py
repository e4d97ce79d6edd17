from __future__ import annotations

import pytest

from exoscaler.core.model import NodeGroup, Pod
from exoscaler.core.policy import ExpanderName
from exoscaler.core.scaleup.equivalence import classes_of
from exoscaler.core.scaleup.expanders import Option, choose, waste
from exoscaler.core.scaleup.packing import pack
from exoscaler.core.scheduling import Place, Template, TemplateSource
from tests.builders import make_group, make_node, make_pod

_LEAST_WASTE, _MOST_PODS = ExpanderName.LEAST_WASTE, ExpanderName.MOST_PODS
_LEAST_NODES, _RANDOM = ExpanderName.LEAST_NODES, ExpanderName.RANDOM
_PODS = [make_pod(f"p{i}", cpu="1", memory="1Gi") for i in range(4)]


def _option(name: str, *, cpu: str = "4", memory: str = "16Gi", pods: list[Pod] | None = None) -> Option:
    group: NodeGroup = make_group(name)
    empty = Place.of(make_node(f"{name}/template", cpu=cpu, memory=memory), group_id=group.id)
    packing = pack(classes_of(pods or _PODS), empty, 99)
    return Option(group, Template(group.id, empty, TemplateSource.HEALTHY_NODE, "a"), packing)


def _chosen(options: list[Option], *chain: ExpanderName, seed: str = "1") -> str:
    best = choose(options, chain, seed)
    assert best is not None
    return best.group.name


def test_most_pods_takes_the_group_that_helps_most() -> None:
    # R77
    assert _chosen([_option("a", pods=_PODS[:2]), _option("b")], _MOST_PODS) == "b"


def test_least_nodes_takes_the_group_that_needs_fewest() -> None:
    # R78
    assert _chosen([_option("a", cpu="2"), _option("b", cpu="4")], _LEAST_NODES) == "b"


def test_least_waste_takes_the_group_that_leaves_least_idle() -> None:
    # R79: half of 8 cores idle against none of 4; memory alike
    assert _chosen([_option("a", cpu="8", memory="8Gi"), _option("b", cpu="4", memory="8Gi")], _LEAST_WASTE) == "b"


def test_waste_is_the_sum_of_idle_shares_of_cpu_and_memory() -> None:
    # R79: 2 nodes of 3 cores and 8 GiB for 4 cores and 4 GiB
    assert waste(_option("a", cpu="3", memory="8Gi")) == pytest.approx(2 / 6 + 12 / 16)


def test_memory_can_outweigh_cpu() -> None:
    # R79: a sum, not "CPU first, memory on ties"
    cpu_tight = _option("a", cpu="4", memory="64Gi")
    memory_tight = _option("b", cpu="5", memory="4Gi")

    assert _chosen([cpu_tight, memory_tight], _LEAST_WASTE) == "b"


def test_each_expander_narrows_what_the_one_before_left() -> None:
    # R75
    few = _option("few", pods=_PODS[:2], cpu="2", memory="2Gi")
    wasteful = _option("wasteful", cpu="32")
    tight = _option("tight", cpu="4")

    assert _chosen([few, wasteful, tight], _LEAST_WASTE) == "few"
    assert _chosen([few, wasteful, tight], _MOST_PODS, _LEAST_WASTE) == "tight"


def test_what_is_equal_to_the_end_is_decided_by_name() -> None:
    options = [_option("b"), _option("c"), _option("a")]

    assert _chosen(options, _LEAST_WASTE, _MOST_PODS) == "a"
    assert _chosen(options) == "a"


def test_chance_is_repeatable_and_does_choose_differently_over_time() -> None:
    # R76
    options = [_option(name) for name in "abc"]
    drawn = [_chosen(options, _RANDOM, seed=str(number)) for number in range(60)]

    assert drawn == [_chosen(options[::-1], _RANDOM, seed=str(number)) for number in range(60)]
    assert set(drawn) == {"a", "b", "c"}


def test_without_an_option_nothing_is_chosen() -> None:
    assert choose([], [_LEAST_WASTE], "1") is None
