"""Changes of nodes while others change them, too; what they come to is in the cluster's contract."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.kubernetes import KubernetesCluster, node_changes
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.core.model import Node
from exoscaler.core.model.taints import TO_BE_DELETED
from exoscaler.core.operations.effects import DeleteNode, TaintNode, UntaintNode
from exoscaler.errors import Conflict, Denied, NotFound, RateLimited, Rejected, TimedOut, Unavailable
from exoscaler.sandbox.kubernetes import FaultKind, FaultRule
from tests.adapters.kubernetes.stub import Stub, failure, success
from tests.adapters.kubernetes.worlds import World
from tests.builders import make_node, taint

VALUE = "1764590400"


def marking(node: Node) -> TaintNode:
    return TaintNode(node.name, node.uid, VALUE, cordon=True, operation_id="op-1")


def unmarking(node: Node) -> UntaintNode:
    return UntaintNode(node.name, node.uid, VALUE, uncordon=True)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[int], None], decision: str = "marking") -> list[int]:
    """Let others act between our reading of a node and our patch of it; returns the rounds, as they happen."""
    original: Callable[..., Any] = getattr(node_changes, decision)
    rounds: list[int] = []

    def interrupted(*args: Any) -> Any:
        rounds.append(len(rounds))
        act(rounds[-1])
        return original(*args)

    monkeypatch.setattr(node_changes, decision, interrupted)
    return rounds


def label(world: World, name: str, **labels: str) -> None:
    world.api.patch("v1", "nodes", name, {"metadata": {"labels": labels}})


def add_taint(world: World, name: str, key: str) -> None:
    taints = world.raw_node(name)["spec"].get("taints") or []
    added = [*taints, {"key": key, "effect": "NoExecute", "timeAdded": "2026-12-01T12:00:00Z"}]
    world.api.patch("v1", "nodes", name, {"spec": {"taints": added}})


def test_taint_and_what_others_change_at_the_same_time_both_survive(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = world.add_node(make_node("a", taints=[taint("dedicated", "db")]))

    def others(this_round: int) -> None:
        if this_round == 0:
            add_taint(world, "a", "node.kubernetes.io/unreachable")
        elif this_round == 1:
            label(world, "a", zone="1")

    rounds = meanwhile(monkeypatch, others)
    world.cluster.taint(marking(node))
    assert rounds == [0, 1, 2]
    changed = world.cluster.node("a")
    assert [found.key for found in changed.taints] == ["dedicated", "node.kubernetes.io/unreachable", TO_BE_DELETED]
    assert changed.labels["zone"] == "1"
    assert changed.unschedulable


def test_untaint_and_what_others_change_at_the_same_time_both_survive(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = world.add_node(make_node("a"))
    world.cluster.taint(marking(node))
    meanwhile(monkeypatch, lambda n: None if n else add_taint(world, "a", "maintenance"), "unmarking")
    world.cluster.untaint(unmarking(node))
    changed = world.cluster.node("a")
    assert [found.key for found in changed.taints] == ["maintenance"]
    assert not changed.unschedulable


def test_fields_of_taints_that_are_not_known_here_survive(world: World) -> None:
    node = world.add_node(make_node("a"))
    add_taint(world, "a", "maintenance")
    before = world.raw_node("a")["spec"]["taints"]
    assert "timeAdded" in before[0]
    world.cluster.taint(marking(node))
    world.cluster.untaint(unmarking(node))
    assert world.raw_node("a")["spec"]["taints"] == before


def test_many_writers_at_once_lose_nothing(world: World) -> None:
    node = world.add_node(make_node("a"))
    cluster = world.connect(SystemClock()).cluster
    stop = threading.Event()
    written: list[str] = []

    def keep_labelling() -> None:
        while not stop.wait(0.01):
            name = f"label-{len(written)}"
            label(world, "a", **{name: "x"})
            written.append(name)

    others = threading.Thread(target=keep_labelling)
    others.start()
    try:
        for _ in range(10):
            # On a slow machine all rounds may meet a change; giving up is right then, losing anything never is.
            with suppress(Conflict):
                cluster.taint(marking(node))
                cluster.untaint(unmarking(node))
    finally:
        stop.set()
        others.join()
    cluster.untaint(unmarking(node))
    changed = world.cluster.node("a")
    assert written
    assert set(written) <= set(changed.labels)
    assert changed.taints == ()
    assert not changed.unschedulable


def test_node_that_others_keep_changing_is_left_to_the_next_tick(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    node = world.add_node(make_node("a"))
    rounds = meanwhile(monkeypatch, lambda n: label(world, "a", n=str(n)))
    with pytest.raises(Conflict, match="patch nodes a"):
        world.cluster.taint(marking(node))
    assert len(rounds) == node_changes.ROUNDS
    assert world.cluster.node("a").taints == ()
    assert len(world.clock.pauses) == node_changes.ROUNDS - 1


def test_node_that_is_replaced_meanwhile_is_not_tainted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    node = world.add_node(make_node("a"))

    def replaced(_: int) -> None:
        world.api.delete("v1", "nodes", "a")
        world.add_node(make_node("a"))

    meanwhile(monkeypatch, replaced)
    with pytest.raises(NotFound, match="another node"):
        world.cluster.taint(marking(node))
    assert world.cluster.node("a").taints == ()


def test_node_that_goes_meanwhile_is_not_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    node = world.add_node(make_node("a"))
    meanwhile(monkeypatch, lambda _: world.api.delete("v1", "nodes", "a"))
    with pytest.raises(NotFound):
        world.cluster.taint(marking(node))


def test_mark_of_another_autoscaler_that_comes_meanwhile_is_respected(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = world.add_node(make_node("a"))
    theirs = {"key": TO_BE_DELETED, "value": "1", "effect": "NoSchedule"}

    def others(this_round: int) -> None:
        if this_round == 0:
            world.api.patch("v1", "nodes", "a", {"spec": {"taints": [theirs]}})

    rounds = meanwhile(monkeypatch, others)
    with pytest.raises(Conflict, match=f"{TO_BE_DELETED}=1, which others have set"):
        world.cluster.taint(marking(node))
    assert rounds == [0, 1], "there is no point in waiting for others to take their mark back"
    assert world.raw_node("a")["spec"]["taints"] == [theirs]


@pytest.mark.parametrize("kind", [FaultKind.DROP, FaultKind.HANG])
def test_patch_whose_answer_is_lost_is_found_or_repeated(world: World, kind: FaultKind) -> None:
    node = world.add_node(make_node("a"))
    world.fault(FaultRule(kind=kind, verb="patch", resource="nodes"))
    world.connect(timeout=timedelta(seconds=0.3)).cluster.taint(marking(node))
    changed = world.cluster.node("a")
    assert [found.value for found in changed.taints] == [VALUE]
    patches = world.operations().count("patch nodes")
    assert patches == (1 if kind is FaultKind.DROP else 2), "what arrived is found, what did not is sent again"


def test_passing_failures_are_bridged_and_lasting_ones_raised(world: World) -> None:
    node = world.add_node(make_node("a"))
    world.fault(FaultRule(verb="get", resource="nodes", status=503, times=2))
    world.fault(FaultRule(verb="patch", resource="nodes", status=429, retry_after=1, times=2))
    world.cluster.taint(marking(node))
    assert len(world.clock.pauses) == 4
    world.fault(FaultRule(verb="patch", resource="nodes", status=503, times=0))
    with pytest.raises(Unavailable):
        world.cluster.untaint(unmarking(node))


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Denied), (403, Denied), (400, Rejected), (422, Rejected), (404, NotFound)]
)
def test_failure_that_will_not_pass_is_raised_at_once(world: World, status: int, kind: type[Exception]) -> None:
    node = world.add_node(make_node("a"))
    world.fault(FaultRule(verb="patch", resource="nodes", status=status, times=0))
    with pytest.raises(kind):
        world.cluster.taint(marking(node))
    assert world.clock.pauses == []


def test_server_that_wants_a_long_pause_is_left_to_the_next_tick(world: World) -> None:
    node = world.add_node(make_node("a"))
    world.fault(FaultRule(verb="patch", resource="nodes", status=429, retry_after=30, times=0))
    with pytest.raises(RateLimited):
        world.cluster.taint(marking(node))
    assert world.clock.pauses == []


def test_nothing_is_sent_when_there_is_nothing_to_do(world: World) -> None:
    node = world.add_node(make_node("a"))
    world.cluster.taint(marking(node))
    world.sandbox.calls.clear()
    world.cluster.taint(marking(node))
    world.cluster.untaint(UntaintNode("a", node.uid, "another", uncordon=True))
    assert world.operations() == ["get nodes", "get nodes"]


class TestDeleting:
    def test_refusal_for_the_sake_of_the_uid_is_told_from_others(self, world: World) -> None:
        node = world.add_node(make_node("a"))
        world.fault(FaultRule(verb="delete", resource="nodes", status=409))
        with pytest.raises(Conflict, match="delete nodes a"):
            world.cluster.delete_node(DeleteNode("a", node.uid))
        world.cluster.delete_node(DeleteNode("a", "another uid"))
        assert [found.name for found in world.cluster.nodes()] == ["a"]

    def test_node_that_goes_while_its_deletion_is_refused_is_gone(self, world: World) -> None:
        world.fault(FaultRule(verb="delete", resource="nodes", status=409))
        world.cluster.delete_node(DeleteNode("a", "uid"))
        assert world.operations() == ["delete nodes", "get nodes"]

    @pytest.mark.parametrize(("kind", "error"), [(FaultKind.DROP, Unavailable), (FaultKind.HANG, TimedOut)])
    def test_lost_answer_is_told_to_the_caller(self, world: World, kind: FaultKind, error: type[Exception]) -> None:
        node = world.add_node(make_node("a"))
        world.fault(FaultRule(kind=kind, verb="delete", resource="nodes"))
        cluster = world.connect(timeout=timedelta(seconds=0.3)).cluster
        with pytest.raises(error):
            cluster.delete_node(DeleteNode("a", node.uid))
        assert world.operations().count("delete nodes") == 1
        cluster.delete_node(DeleteNode("a", node.uid))
        assert cluster.nodes() == ()


def test_patch_is_bound_to_the_very_node_that_was_read(stub: Stub, access: Access) -> None:
    found = {
        "metadata": {"name": "a", "uid": "u", "resourceVersion": "41"},
        "spec": {"taints": [{"key": "x", "effect": "NoSchedule", "colour": "blue"}]},
    }
    stub.answers(success(found), failure(404))
    with pytest.raises(NotFound):
        KubernetesCluster(access).taint(TaintNode("a", "u", VALUE, cordon=False, operation_id="op-1"))
    assert stub.requests[1].body == {
        "metadata": {"uid": "u", "resourceVersion": "41", "annotations": {"exoscaler.dev/scale-down": "op-1"}},
        "spec": {
            "taints": [
                {"key": "x", "effect": "NoSchedule", "colour": "blue"},
                {"key": TO_BE_DELETED, "value": VALUE, "effect": "NoSchedule"},
            ]
        },
    }
