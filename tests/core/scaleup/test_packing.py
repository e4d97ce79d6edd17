from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exoscaler.core.model import Constraint, Pod, Resources
from exoscaler.core.scaleup.equivalence import classes_of
from exoscaler.core.scaleup.packing import Packing, pack, score
from exoscaler.core.scaleup.pending import scheduling_order
from exoscaler.core.scheduling import Place, why_not
from tests.bench.workload import TEMPLATE_ALLOCATABLE, estimator_pods
from tests.builders import make_node, make_pod, resources

_FRESH = Place.of(make_node("template", cpu="4", memory="16Gi"))
_ANY = 10_000


def _pack(pods: list[Pod], most: int = _ANY, fresh: Place = _FRESH, open_places: tuple[Place, ...] = ()) -> Packing:
    return pack(classes_of(scheduling_order(pods)), fresh, most, open_places)


def _names(packing: Packing) -> list[list[str]]:
    return [[pod.name for pod in load] for load in packing.loads()]


def _left(packing: Packing) -> list[str]:
    return [pod.name for alike in packing.left for pod in alike.pods]


def test_nodes_are_filled_one_after_the_other() -> None:
    packing = _pack([make_pod(f"p{i}", cpu="1500m") for i in range(5)])

    assert packing.node_count == 3
    assert packing.placed == 5
    assert _names(packing) == [["p0", "p1"], ["p2", "p3"], ["p4"]]
    assert packing.demand == resources(cpu="7500m", memory="320Mi", pods=5)


def test_the_most_demanding_pods_are_placed_first() -> None:
    # R68
    packing = _pack([make_pod("small", cpu="1"), make_pod("large", cpu="3"), make_pod("middle", cpu="2")])

    assert _names(packing) == [["large", "small"], ["middle"]]


def test_small_pods_go_to_gaps_on_earlier_nodes_not_only_the_last() -> None:
    # R70, and earlier nodes are tried again (unlike R71)
    pods = [make_pod(f"l{i}", cpu="3") for i in range(3)] + [make_pod(f"s{i}", cpu="1") for i in range(3)]

    assert _names(_pack(pods)) == [["l0", "s0"], ["l1", "s1"], ["l2", "s2"]]


@pytest.mark.parametrize(
    "pod",
    [
        make_pod(cpu="5"),
        make_pod(node_selector={"disk": "ssd"}),
        make_pod(unmodelled=[Constraint.TOPOLOGY_SPREAD]),
    ],
)
def test_a_pod_that_fits_no_new_node_opens_none(pod: Pod) -> None:
    packing = _pack([pod])

    assert (packing.node_count, packing.placed) == (0, 0)
    assert _left(packing) == [pod.name]


def test_a_pod_that_asks_for_nothing_still_counts_as_a_pod() -> None:
    tiny = Place.of(make_node("template", pods=2))
    packing = _pack([make_pod(f"p{i}", requests=Resources()) for i in range(5)], fresh=tiny)

    assert packing.node_count == 3


def test_what_every_node_runs_already_leaves_less_room() -> None:
    fresh = Place.of(make_node("template", cpu="4"), [make_pod("agent", cpu="1", owner_kind="DaemonSet")])

    assert _pack([make_pod(f"p{i}", cpu="2") for i in range(2)], fresh=fresh).node_count == 2


def test_no_more_nodes_than_allowed_are_opened_and_gaps_are_still_filled() -> None:
    # R69, R70
    pods = [make_pod(f"l{i}", cpu="3") for i in range(3)] + [make_pod(f"s{i}", cpu="500m") for i in range(3)]
    packing = _pack(pods, most=1)

    assert packing.node_count == 1
    assert _names(packing) == [["l0", "s0", "s1"]]
    assert _left(packing) == ["l1", "l2", "s2"]


def test_under_a_limit_the_important_come_before_the_large() -> None:
    large = [make_pod(f"l{i}", cpu="4") for i in range(2)]
    important = make_pod("important", cpu="1", priority=1000)
    packing = _pack([*large, important], most=2)

    assert _names(packing) == [["important"], ["l0"]]
    assert _left(packing) == ["l1"]


def test_without_a_limit_the_priority_does_not_cost_nodes() -> None:
    pods = [make_pod("l", cpu="3"), make_pod("s", cpu="1", priority=1000)]

    assert _pack(pods, most=1).node_count == 1
    assert _pack(pods).node_count == 1


def test_open_nodes_are_filled_before_new_ones() -> None:
    open_places = (Place.of(make_node("o1", cpu="2")), Place.of(make_node("o2", cpu="4")))
    packing = _pack([make_pod(f"p{i}", cpu="2") for i in range(4)], open_places=open_places)

    assert _names(packing) == [["p0"], ["p1", "p2"], ["p3"]]
    assert packing.node_count == 1


def test_the_score_adds_up_the_shares_of_cpu_and_memory() -> None:
    # R68
    pod = make_pod(cpu="1", memory="8Gi")

    assert score(pod, resources(cpu="4", memory="16Gi")) == pytest.approx(0.75)
    assert score(pod, resources(cpu="4")) == pytest.approx(0.25)
    assert score(pod, resources()) == 0


@pytest.mark.parametrize(
    ("pods", "kinds", "nodes"),
    [(1000, 1, 25), (1000, 10, 82), (1000, 100, 82), (5000, 1, 125), (5000, 10, 407), (5000, 100, 407)],
)
def test_as_few_nodes_as_the_reference_for_the_benchmark_workload(pods: int, kinds: int, nodes: int) -> None:
    fresh = Place.of(make_node("template", allocatable=TEMPLATE_ALLOCATABLE))
    packing = _pack(estimator_pods(pods, kinds), fresh=fresh)

    assert packing.placed == pods
    assert packing.node_count <= nodes


_POD = st.builds(
    lambda cpu, memory, priority: (cpu, memory, priority),
    st.sampled_from([0, 300, 700, 1100, 1900, 3900, 4500]),
    st.sampled_from([0, 1, 5, 9, 17]),
    st.sampled_from([0, 0, 0, 50]),
)
_PODS = st.lists(_POD, max_size=40).map(
    lambda specs: [
        make_pod(f"p{i:02}", cpu=f"{cpu}m", memory=f"{memory}Gi", priority=priority)
        for i, (cpu, memory, priority) in enumerate(specs)
    ]
)
_FEW_PODS = Place.of(make_node("template", cpu="4", memory="16Gi", pods=4))


@given(_PODS, st.integers(0, 12), st.lists(st.integers(0, 5), max_size=3))
def test_a_packing_can_be_replayed_pod_by_pod(pods: list[Pod], most: int, open_cores: list[int]) -> None:
    open_places = tuple(Place.of(make_node(f"o{i}", cpu=str(cores))) for i, cores in enumerate(open_cores))
    packing = _pack(pods, most, _FEW_PODS, open_places)
    loads = packing.loads()
    places = [*open_places, *[_FEW_PODS] * packing.node_count]

    assert packing.node_count <= most
    assert all(loads[len(open_places) :])  # no node without a pod, so never more nodes than pods
    assert len(loads) == len(places)
    for place, load in zip(places, loads, strict=True):
        filled = place
        for pod in load:
            assert why_not(pod, filled) == ()
            filled = filled.with_pods((pod,))
    placed = [pod.uid for load in loads for pod in load]
    assert len(placed) == len(set(placed)) == packing.placed
    assert sorted(placed + [pod.uid for alike in packing.left for pod in alike.pods]) == sorted(p.uid for p in pods)


@given(_PODS, st.integers(1, 12))
@example(  # two classes of one score
    [
        make_pod("p0", cpu="3900m", memory="1Gi"),
        make_pod("p1", cpu="1900m", memory="9Gi"),
        make_pod("p2", cpu="3900m", memory="1Gi"),
    ],
    1,
)
def test_packing_in_two_steps_gives_the_same_as_in_one(pods: list[Pod], first: int) -> None:
    # Upcoming nodes are filled this way: as they were when they were ordered.
    pods = [pod for pod in pods if not pod.spec.priority]
    whole = _pack(pods, fresh=_FEW_PODS)
    part = _pack(pods, first, _FEW_PODS)
    rest = pack(part.left, _FEW_PODS, _ANY)

    assert part.loads() + rest.loads() == whole.loads()


@given(_PODS, st.integers(0, 12))
def test_a_limit_that_is_no_limit_changes_nothing(pods: list[Pod], spare: int) -> None:
    free = _pack(pods, fresh=_FEW_PODS)

    assert _pack(pods, free.node_count + spare, _FEW_PODS).loads() == free.loads()
