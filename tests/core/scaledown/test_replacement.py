"""Whether all pods of a node would find another place, with everything promised so far (R117, R118)."""

from __future__ import annotations

from collections.abc import Sequence

from exoscaler.core.model import Constraint, Pod
from exoscaler.core.scaledown.replacement import Relocation
from exoscaler.core.scheduling import Ledger, Origin, Place
from tests.builders import make_node, make_pod, taint


def place(name: str, *pods: Pod, cpu: str = "4", origin: Origin = Origin.EXISTING, destination: bool = True) -> Place:
    return Place.of(make_node(name, cpu=cpu), pods, origin=origin, destination=destination)


def on(node: str, count: int, *, cpu: str = "1", prefix: str = "") -> list[Pod]:
    return [make_pod(f"{prefix}{node}-{number}", node=node, cpu=cpu) for number in range(count)]


def names(pods: Sequence[Pod]) -> list[str]:
    return sorted(pod.name for pod in pods)


def test_pods_move_to_a_node_with_room() -> None:
    moving = on("a", 2)
    ledger = Ledger([place("a", *moving), place("b", *on("b", 1))])

    assert Relocation(ledger).empty("a", moving) is None
    assert names(ledger.pods_on("b")) == ["a-0", "a-1", "b-0"]


def test_emptied_node_stays_present_and_takes_no_more_pods() -> None:  # R117-2, pain 1
    moving = on("a", 2)
    ledger = Ledger([place("a", *moving), place("b")])
    Relocation(ledger).empty("a", moving)

    assert "a" in ledger
    assert ledger.pods_on("a") == ()
    assert ledger.destinations() == ("b",)


def test_all_pods_move_or_none() -> None:  # R117-3, K6
    moving = on("a", 4)
    ledger = Ledger([place("a", *moving), place("b", *on("b", 1))])
    homeless = Relocation(ledger).empty("a", moving)

    assert homeless is not None
    assert homeless.text == "default/a-3: 1 Insufficient cpu"
    assert names(ledger.pods_on("a")) == names(moving)
    assert names(ledger.pods_on("b")) == ["b-0"]
    assert ledger.destinations() == ("a", "b")


def test_pods_spread_over_several_nodes() -> None:
    moving = on("a", 4)
    ledger = Ledger([place("a", *moving), place("b", *on("b", 2)), place("c", *on("c", 2))])
    assert Relocation(ledger).empty("a", moving) is None
    assert (len(ledger.pods_on("b")), len(ledger.pods_on("c"))) == (4, 4)


def test_hole_is_promised_once() -> None:  # R118, pain 29
    ledger = Ledger([place("a", *on("a", 1)), place("b", *on("b", 1)), place("c", *on("c", 3))])
    relocation = Relocation(ledger, last=["a", "b"])

    assert relocation.empty("a", on("a", 1)) is None
    # What is left for b is a, which is going, and c, which is full now.
    homeless = relocation.empty("b", on("b", 1))
    assert homeless is not None
    assert homeless.text == "default/b-0: 1 Insufficient cpu"


def test_node_does_not_take_its_own_pods_back() -> None:
    moving = on("a", 1)
    homeless = Relocation(Ledger([place("a", *moving)])).empty("a", moving)
    assert homeless is not None
    assert homeless.why == "there is no other node"


def test_nodes_that_may_go_themselves_are_tried_last() -> None:
    moving = on("a", 1)
    ledger = Ledger([place("a", *moving), place("b"), place("c")])
    Relocation(ledger, last=["a", "b"]).empty("a", moving)
    assert names(ledger.pods_on("c")) == ["a-0"]


def test_node_that_received_pods_may_go_too_and_they_move_on() -> None:  # R118
    ledger = Ledger([place("a", *on("a", 1)), place("b"), place("c", *on("c", 3))])
    relocation = Relocation(ledger)
    relocation.empty("a", on("a", 1))
    received = ledger.pods_on("b")
    assert names(received) == ["a-0"]

    assert relocation.empty("b", received) is None
    assert names(ledger.pods_on("c")) == ["a-0", "c-0", "c-1", "c-2"]


def test_nodes_that_are_still_to_come_are_no_destination() -> None:  # R117-3
    moving = on("a", 1)
    places = [place("a", *moving), place("b", origin=Origin.UPCOMING), place("c", origin=Origin.ORDERED)]
    assert Relocation(Ledger(places)).empty("a", moving) is not None


def test_nodes_on_their_way_out_are_no_destination() -> None:
    moving = on("a", 1)
    assert Relocation(Ledger([place("a", *moving), place("b", destination=False)])).empty("a", moving) is not None


def test_reason_counts_the_obstacles_by_node() -> None:
    moving = on("a", 1, cpu="2")
    tainted = Place.of(make_node("t", taints=[taint("dedicated", "db")]))
    ledger = Ledger([place("a", *moving), tainted, *(place(n, *on(n, 3)) for n in ("b", "c"))])
    homeless = Relocation(ledger).empty("a", moving)
    assert homeless is not None
    assert homeless.why == "2 Insufficient cpu, 1 node(s) had untolerated taint(s)"


def test_higher_priority_chooses_first() -> None:  # R23
    low = make_pod("a", node="n", cpu="2", priority=0, age=900)
    high = make_pod("z", node="n", cpu="3", priority=9)
    ledger = Ledger([place("n", low, high, cpu="8"), place("b"), place("c", *on("c", 2))])
    assert Relocation(ledger).empty("n", [low, high]) is None
    assert names(ledger.pods_on("b")) == ["z"]


def test_pod_with_a_constraint_that_is_not_modelled_cannot_be_proven_to_fit() -> None:
    pod = make_pod("p", node="a", unmodelled=[Constraint.TOPOLOGY_SPREAD, Constraint.HOST_PORT])
    homeless = Relocation(Ledger([place("a", pod), place("b")])).empty("a", [pod])
    assert homeless is not None
    assert homeless.text == "default/p: cannot simulate: topology spread (DoNotSchedule), a host port"


def test_pod_is_not_sent_where_an_anti_affine_one_of_its_namespace_might_keep_it_out() -> None:  # R208
    loner = make_pod("loner", node="b", unmodelled=[Constraint.POD_ANTI_AFFINITY])
    pod = make_pod("p", node="a")
    homeless = Relocation(Ledger([place("a", pod), place("b", loner)])).empty("a", [pod])
    assert homeless is not None
    assert "anti-affinity" in homeless.why

    stranger = make_pod("q", node="a", namespace="elsewhere")
    assert Relocation(Ledger([place("a", stranger), place("b", loner)])).empty("a", [stranger]) is None


def test_empty_node_needs_no_place() -> None:
    ledger = Ledger([place("a")])
    assert Relocation(ledger).empty("a", []) is None
    assert ledger.destinations() == ()


def test_what_one_search_has_proven_is_not_searched_for_again() -> None:
    nodes = [place(f"n{i}", *on(f"n{i}", 4)) for i in range(4)]
    relocation = Relocation(Ledger(nodes))
    first = relocation.empty("n0", on("n0", 4))
    second = relocation.empty("n1", on("n1", 4))
    assert first is not None
    assert second is not None
    assert (first.pod.name, second.pod.name) == ("n0-0", "n1-0")
    assert first.why == second.why


def test_search_that_could_not_ask_the_nodes_own_room_does_not_close_it_to_others() -> None:
    # Pods of n0 fit nowhere else; n0 itself has room for the pod of n1.
    ledger = Ledger([place("n0", *on("n0", 2)), place("n1", *on("n1", 1), cpu="1"), place("n2", *on("n2", 4))])
    relocation = Relocation(ledger)
    assert relocation.empty("n0", on("n0", 2)) is not None
    assert relocation.empty("n1", on("n1", 1)) is None
    assert names(ledger.pods_on("n0")) == ["n0-0", "n0-1", "n1-0"]


def test_search_that_failed_for_want_of_what_others_took_proves_nothing() -> None:
    # With the pod before it, the pod of n0 has no room; the like one of n1 has it, for it comes alone.
    big, small = make_pod("big", node="n0", cpu="3", priority=9), make_pod("small", node="n0", cpu="2")
    like = make_pod("like", node="n1", cpu="2")
    ledger = Ledger([place("n0", big, small, cpu="5"), place("n1", like, cpu="2"), place("n2")])
    relocation = Relocation(ledger)
    assert relocation.empty("n0", [big, small]) is not None
    assert relocation.empty("n1", [like]) is None
