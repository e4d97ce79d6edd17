from __future__ import annotations

from dataclasses import replace

from exoscaler.core.model import NodeGroup, PoolState
from exoscaler.core.operations.model import GrowPhase, ShrinkPhase
from exoscaler.core.reasons import GrowFailure
from exoscaler.core.scaleup import ledger_for, look_ahead
from exoscaler.core.scaleup.waves import waves
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Origin
from exoscaler.core.state import Backoff
from tests.builders import (
    NOW,
    ago,
    instance_id,
    make_daemonset_pod,
    make_group,
    make_growth,
    make_node,
    make_pod,
    make_removal,
    make_scene,
    taint,
)


def test_every_node_is_in_the_ledger_but_not_every_one_is_a_destination() -> None:
    ready = make_node("ready")
    unmanaged = make_node("unmanaged")
    others = [
        make_node("cordoned", unschedulable=True),
        make_node("going", taints=[taint("ToBeDeletedByClusterAutoscaler", "1")]),
        make_node("unready", ready=False),
    ]
    group = make_group(nodes=[ready, *others])
    ledger = ledger_for(make_scene(group, nodes=[unmanaged, ready, *others]))

    assert [place.name for place in ledger.places] == ["cordoned", "going", "ready", "unmanaged", "unready"]
    assert ledger.destinations() == ("ready", "unmanaged")
    assert ledger.at("ready").group_id == group.id
    assert ledger.at("unmanaged").group_id == ""


def test_what_pods_request_is_taken_from_their_node_expendable_ones_aside() -> None:
    # R15, R16
    node = make_node("a", cpu="4")
    pods = [
        make_pod("running", node="a", cpu="1"),
        make_pod("terminating", node="a", cpu="500m", deleted_ago=1),
        make_pod("expendable", node="a", cpu="1", priority=-99),
        make_pod("homeless", node="b", cpu="1"),
    ]
    ledger = ledger_for(make_scene(make_group(nodes=[node]), nodes=[node], pods=pods))

    assert ledger.at("a").free.cpu == 2500
    assert {pod.name for pod in ledger.pods_on("a")} == {"running", "terminating"}


def test_a_nominated_pod_holds_room_on_its_node_even_beyond_what_is_there() -> None:
    # R16
    node = make_node("a", cpu="1")
    pods = [
        make_pod("nominated", cpu="3", nominated_node="a"),
        make_pod("to-nowhere", nominated_node="none"),
        make_pod("going", nominated_node="a", deleted_ago=1),
        make_pod("expendable", nominated_node="a", priority=-99),
    ]
    ledger = ledger_for(make_scene(make_group(nodes=[node]), nodes=[node], pods=pods))

    assert ledger.at("a").free.cpu == -2000
    assert [pod.name for pod in ledger.pods_on("a")] == ["nominated"]


def test_a_node_being_emptied_stays_present_without_the_pods_that_will_move() -> None:
    node, other = make_node("a"), make_node("b")
    group = make_group(nodes=[node, other])
    daemon = make_daemonset_pod("agent", node="a")
    scene = make_scene(
        group, nodes=[node, other], pods=[make_pod(node="a"), daemon], shrinking=[make_removal(group, node)]
    )
    ledger = ledger_for(scene)

    assert ledger.pods_on("a") == (daemon,)
    assert ledger.destinations() == ("b",)


def test_a_node_whose_removal_is_undone_keeps_its_pods_and_its_taint_decides() -> None:
    node = make_node("a")
    group = make_group(nodes=[node])
    removal = make_removal(group, node, phase=ShrinkPhase.ROLLING_BACK)
    ledger = ledger_for(make_scene(group, nodes=[node], pods=[make_pod(node="a")], shrinking=[removal]))

    assert len(ledger.pods_on("a")) == 1
    assert ledger.destinations() == ("a",)


def test_coming_nodes_are_in_the_ledger_as_they_will_be() -> None:
    # R37
    node = make_node("a", cpu="4", labels={"zone": "gva"})
    daemon = make_daemonset_pod("agent", node="a", cpu="300m")
    group = make_group(members=[instance_id("a"), "i-1"], size=3, state=PoolState.SCALING_UP)
    ledger = ledger_for(make_scene(group, nodes=[node], pods=[daemon]))
    coming = ledger.destinations(Origin.UPCOMING)

    assert coming == (f"{group.id}/i-1", f"{group.id}/to-come-0")
    assert all(ledger.at(name).free.cpu == 3700 for name in coming)
    assert all(ledger.at(name).node.labels["zone"] == "gva" for name in coming)
    assert len({ledger.at(name).node.labels["kubernetes.io/hostname"] for name in coming}) == 2


def test_a_starting_node_is_in_the_ledger_once_as_it_will_be() -> None:
    # R38
    old, young = make_node("old", cpu="4"), make_node("young", age=60, ready=False, cpu="1")
    ledger = ledger_for(make_scene(make_group(nodes=[old, young]), nodes=[old, young]))

    assert [place.name for place in ledger.places] == ["old", "young"]
    assert ledger.at("young").origin is Origin.UPCOMING
    assert ledger.at("young").free.cpu == 4000


def test_nothing_is_promised_on_what_a_backed_off_group_has_coming() -> None:
    old, young = make_node("old"), make_node("young", age=60, ready=False)
    group = make_group(members=[instance_id("old"), instance_id("young"), "i-1"])
    backoff = Backoff(seconds=300, until=ago(-60), failed_at=NOW, failure=GrowFailure.NEVER_READY)
    ledger = ledger_for(make_scene(group, nodes=[old, young], backoffs={group.id: backoff}))

    assert ledger.destinations() == ("old",)
    assert len(ledger) == 2


def test_without_a_template_nothing_is_promised_on_coming_nodes() -> None:
    ledger = ledger_for(make_scene(make_group(members=["i-1"])))

    assert len(ledger) == 0


# Waves


def _waves(scene: Scene) -> list[tuple[str, ...]]:
    return [wave.names for wave in waves(scene, look_ahead(scene))]


def _with_one_node(name: str, *members: str, size: int | None = None, min_size: int = 1) -> NodeGroup:
    return make_group(name, members=[instance_id(name), *members], size=size, min_size=min_size)


def test_nodes_are_filled_in_the_order_in_which_they_were_ordered() -> None:
    a, b = _with_one_node("a", "a-1", "a-2"), _with_one_node("b", "b-1")
    nodes = [make_node("a"), make_node("b")]
    growing = [
        make_growth(b, to=2, base_members=[instance_id("b")], base_size=1, phase=GrowPhase.PROVISIONING, number=1),
        make_growth(a, to=3, base_members=[instance_id("a"), "a-1"], base_size=2, number=2),
    ]

    assert _waves(make_scene(a, b, nodes=nodes, growing=growing)) == [
        ("id-of-a/a-1",),  # older than any growth in flight
        ("id-of-b/b-1",),
        ("id-of-a/a-2",),
    ]


def test_what_raised_groups_to_their_minimum_is_filled_before_what_was_ordered_for_pods() -> None:
    a = _with_one_node("a", min_size=3)
    b = _with_one_node("b", min_size=2)
    nodes = [make_node("a"), make_node("b")]
    growing = [make_growth(b, to=3, number=1), make_growth(a, to=4, number=2)]

    assert _waves(make_scene(a, b, nodes=nodes, growing=growing)) == [
        ("id-of-a/to-come-0", "id-of-a/to-come-1"),
        ("id-of-b/to-come-0",),
        ("id-of-b/to-come-1",),
        ("id-of-a/to-come-2",),
    ]


def test_an_earlier_decision_comes_before_a_later_ones_minimum() -> None:
    a, b = _with_one_node("a", min_size=2), _with_one_node("b")
    nodes = [make_node("a"), make_node("b")]
    growing = [make_growth(b, to=2, decision_id="first"), make_growth(a, to=2, decision_id="second")]

    assert _waves(make_scene(a, b, nodes=nodes, growing=growing)) == [("id-of-b/to-come-0",), ("id-of-a/to-come-0",)]


def test_registered_nodes_that_are_starting_come_first_in_their_wave() -> None:
    old, young = make_node("a"), make_node("young", age=60, ready=False)
    group = make_group("a", members=[instance_id("a"), instance_id("young"), "a-1"])
    growth = make_growth(group, to=3, base_size=1, base_members=[instance_id("a")])
    scene = make_scene(group, nodes=[old, young], growing=[growth])

    assert _waves(scene) == [("young", "id-of-a/a-1")]
    assert _waves(make_scene(group, nodes=[old, young])) == [("young", "id-of-a/a-1")]
    assert _waves(make_scene(replace(group, pool=replace(group.pool, members=(instance_id("a"),))), nodes=[old])) == []
