from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.core.model import Constraint, Pod
from exoscaler.core.reasons import Obstacle
from exoscaler.core.scheduling import Ledger, Origin, Place
from tests.builders import make_node, make_pod


def _ledger(*cores: int) -> Ledger:
    return Ledger(Place.of(make_node(f"n{i}", cpu=str(cpu))) for i, cpu in enumerate(cores))


def test_a_promise_takes_room_and_taking_the_pod_out_gives_it_back() -> None:
    ledger, pod = _ledger(2), make_pod(cpu="1500m")
    before = ledger.at("n0").free

    ledger.place(pod, "n0")
    assert ledger.pods_on("n0") == (pod,)
    assert [reason.short_by for reason in ledger.why_not(pod, "n0")] == [1000]

    ledger.take_out([pod], "n0")
    assert ledger.pods_on("n0") == ()
    assert ledger.at("n0").free == before


def test_taking_out_a_pod_that_is_not_there_changes_nothing() -> None:
    ledger = _ledger(2)
    before = ledger.at("n0")
    ledger.take_out([make_pod()], "n0")

    assert ledger.at("n0") == before


def test_what_happens_on_a_fork_stays_there() -> None:
    ledger = _ledger(2, 2)
    fork = ledger.fork()
    fork.place(make_pod(), "n0")
    fork.exclude("n1")
    fork.add(Place.of(make_node("n2")))
    fork.remove("n1")

    assert ledger.pods_on("n0") == ()
    assert ledger.destinations() == ("n0", "n1")
    assert "n2" not in ledger
    assert fork.destinations() == ("n0", "n2")


def test_what_happens_to_a_ledger_after_a_fork_does_not_reach_the_fork() -> None:
    ledger = _ledger(2)
    fork = ledger.fork()
    ledger.place(make_pod(), "n0")

    assert fork.pods_on("n0") == ()


def test_the_first_node_in_order_of_entry_wins() -> None:
    ledger = Ledger(Place.of(make_node(name)) for name in ("b", "c", "a"))

    assert ledger.first_fit(make_pod()) == "b"
    assert ledger.first_fit(make_pod(), among=["a", "c"]) == "a"
    assert ledger.first_fit(make_pod(cpu="99")) is None
    assert ledger.pods_on("b") == ()


def test_an_excluded_node_is_present_but_gets_nothing() -> None:
    ledger = _ledger(2, 2)
    ledger.exclude("n0")

    assert [place.name for place in ledger.places] == ["n0", "n1"]
    assert ledger.first_fit(make_pod()) == "n1"
    assert ledger.first_fit(make_pod(), among=["n0"]) is None

    ledger.admit("n0")
    assert ledger.first_fit(make_pod()) == "n0"


def test_destinations_can_be_asked_for_by_how_real_they_are() -> None:
    ledger = _ledger(2)
    ledger.add(Place.of(make_node("coming"), origin=Origin.UPCOMING))
    ledger.add(Place.of(make_node("going"), destination=False))

    assert ledger.destinations(Origin.EXISTING) == ("n0",)
    assert ledger.destinations(Origin.UPCOMING, Origin.ORDERED) == ("coming",)
    assert ledger.destinations() == ("n0", "coming")


def test_a_node_cannot_be_entered_twice() -> None:
    with pytest.raises(ValueError, match="n0"):
        _ledger(2).add(Place.of(make_node("n0")))


def test_a_node_that_is_not_there_cannot_be_promised() -> None:
    with pytest.raises(KeyError):
        _ledger(2).place(make_pod(), "missing")


def test_settling_takes_pods_in_the_order_given_and_names_those_left() -> None:
    ledger = _ledger(2, 1)
    large, small, last = make_pod("large", cpu="2"), make_pod("small", cpu="1"), make_pod("last", cpu="1")
    settlement = ledger.settle([small, large, last])

    assert settlement.placed == ((small, "n0"), (last, "n0"))
    assert settlement.left == (large,)


def test_room_that_a_large_pod_did_not_find_is_still_found_by_a_small_one_after_it() -> None:
    ledger = _ledger(1, 2)
    pods = [make_pod("l", cpu="2"), make_pod("s", cpu="1"), make_pod("l2", cpu="2"), make_pod("s2", cpu="100m")]
    settlement = ledger.settle(pods)

    assert [name for _, name in settlement.placed] == ["n1", "n0"]
    assert [pod.name for pod in settlement.left] == ["l2", "s2"]


def test_a_pod_that_cannot_be_simulated_settles_nowhere() -> None:
    ledger = _ledger(2)
    pod = make_pod(unmodelled=[Constraint.POD_AFFINITY])

    assert ledger.settle([pod]).left == (pod,)
    assert ledger.why_not(pod, "n0")[0].obstacle is Obstacle.CANNOT_SIMULATE


def test_what_was_settled_on_a_fork_can_be_entered() -> None:
    ledger = _ledger(2, 2)
    fork = ledger.fork()
    settlement = fork.settle([make_pod(f"p{i}", cpu="800m") for i in range(4)])
    ledger.enter(settlement.placed)

    assert ledger.places == fork.places
    assert not settlement.left


_PODS = st.lists(st.sampled_from([100, 400, 700, 1000, 2500]), max_size=20).map(
    lambda sizes: [make_pod(f"p{i}", cpu=f"{size}m") for i, size in enumerate(sizes)]
)


@given(_PODS, st.lists(st.integers(0, 3), max_size=5))
def test_settling_is_first_fit_one_pod_after_the_other(pods: list[Pod], cores: list[int]) -> None:
    ledger, naive = _ledger(*cores), _ledger(*cores)
    settlement = ledger.settle(pods)
    expected = []
    for pod in pods:
        name = naive.first_fit(pod)
        if name is not None:
            naive.place(pod, name)
            expected.append((pod, name))

    assert list(settlement.placed) == expected
    assert ledger.places == naive.places
    for place in ledger.places:
        assert place.free.cpu >= 0
        assert place.free.cpu == place.node.allocatable.cpu - sum(pod.spec.requests.cpu for pod in place.pods)
