"""What every cluster keeps to: the one behind the API, and the one in memory that other tests rely on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from exoscaler.core.model import DaemonSet, DisruptionBudget, Node, PodPhase, SchedulerVerdict, Taint
from exoscaler.core.model.taints import TO_BE_DELETED
from exoscaler.core.operations.effects import DeleteNode, EvictionResult, EvictPod, TaintNode, UntaintNode
from exoscaler.errors import Conflict, NotFound
from exoscaler.ports.cluster import ClusterEvent, EventType, SubjectKind
from tests.builders import make_budget, make_node, make_pod, taint
from tests.contracts.harness import ClusterHarness

OPERATION = "exoscaler.dev/scale-down"
CORDONED = "exoscaler.dev/cordoned"
WEB = {"app": "web"}


def marking(node: Node, *, value: str = "1764590400", cordon: bool = True, operation: str = "op-1") -> TaintNode:
    return TaintNode(node.name, node.uid, value, cordon, operation)


def unmarking(node: Node, *, value: str = "1764590400", uncordon: bool = True) -> UntaintNode:
    return UntaintNode(node.name, node.uid, value, uncordon)


def marks(node: Node) -> list[Taint]:
    return [found for found in node.taints if found.key == TO_BE_DELETED]


class TestReading:
    def test_snapshot_holds_what_is_there(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", labels={"zone": "1"}, taints=[taint("dedicated", "db")]))
        running = cluster.add_pod(make_pod("runs", node="a", labels=WEB))
        pending = cluster.add_pod(make_pod("waits"))
        cluster.add_budget(make_budget("web", labels=WEB, allowed=2))
        cluster.add_daemonset(DaemonSet("kube-system", "agent", "uid", 3))
        snapshot = cluster.cluster.snapshot()
        assert snapshot.nodes == (node,)
        assert set(snapshot.pods) == {running, pending}
        assert snapshot.budgets == (make_budget("web", labels=WEB, allowed=2),)
        assert [(found.name, found.ready) for found in snapshot.daemonsets] == [("agent", 3)]
        assert node.labels["zone"] == "1"
        assert (pending.verdict, pending.node_name) == (SchedulerVerdict.UNSCHEDULABLE, "")

    def test_finished_pods_hold_nothing_and_are_not_in_the_snapshot(self, cluster: ClusterHarness) -> None:
        # R12
        cluster.add_node(make_node("a"))
        running = cluster.add_pod(make_pod("runs", node="a"))
        done = cluster.add_pod(make_pod("done", node="a", phase=PodPhase.SUCCEEDED))
        failed = cluster.add_pod(make_pod("failed", node="a", phase=PodPhase.FAILED))
        assert cluster.cluster.snapshot().pods == (running,)
        assert set(cluster.cluster.pods_on("a")) == {running, done, failed}

    def test_pods_on_a_node_are_those_bound_to_it(self, cluster: ClusterHarness) -> None:
        cluster.add_node(make_node("a"))
        cluster.add_node(make_node("ab"))
        here = cluster.add_pod(make_pod("here", node="a"))
        cluster.add_pod(make_pod("there", node="ab"))
        cluster.add_pod(make_pod("nowhere"))
        assert cluster.cluster.pods_on("a") == (here,)
        assert cluster.cluster.pods_on("gone") == ()

    def test_node_is_read_by_name(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.add_node(make_node("b"))
        assert cluster.cluster.node("a") == node
        assert {found.name for found in cluster.cluster.nodes()} == {"a", "b"}
        with pytest.raises(NotFound):
            cluster.cluster.node("c")


class TestTainting:
    def test_node_is_tainted_cordoned_and_signed(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", taints=[taint("dedicated", "db")], annotations={"note": "mine"}))
        cluster.cluster.taint(marking(node))
        tainted = cluster.cluster.node("a")
        assert tainted.taints == (taint("dedicated", "db"), taint(TO_BE_DELETED, "1764590400"))
        assert tainted.unschedulable
        assert tainted.annotations == {"note": "mine", OPERATION: "op-1", CORDONED: "true"}

    def test_node_is_left_schedulable_when_no_cordon_is_asked_for(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node, cordon=False))
        tainted = cluster.cluster.node("a")
        assert len(marks(tainted)) == 1
        assert not tainted.unschedulable
        assert CORDONED not in tainted.annotations

    def test_cordon_of_a_person_is_not_claimed(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", unschedulable=True))
        cluster.cluster.taint(marking(node))
        assert CORDONED not in cluster.cluster.node("a").annotations
        cluster.cluster.untaint(unmarking(node))
        assert cluster.cluster.node("a") == node

    def test_sign_of_an_earlier_cordon_does_not_make_a_later_one_ours(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", unschedulable=True, annotations={CORDONED: "true"}))
        cluster.cluster.taint(marking(node))
        assert CORDONED not in cluster.cluster.node("a").annotations
        cluster.cluster.untaint(unmarking(node))
        assert cluster.cluster.node("a").unschedulable

    def test_tainting_again_changes_nothing(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node))
        once = cluster.cluster.node("a")
        cluster.cluster.taint(marking(node))
        assert cluster.cluster.node("a") == once

    def test_node_that_a_person_uncordoned_is_not_cordoned_again(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node))
        cluster.change_node("a", unschedulable=False)
        cluster.cluster.taint(marking(node))
        assert not cluster.cluster.node("a").unschedulable

    def test_mark_of_another_autoscaler_is_respected(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", taints=[taint(TO_BE_DELETED, "1700000000")]))
        with pytest.raises(Conflict, match="1700000000"):
            cluster.cluster.taint(marking(node))
        assert cluster.cluster.node("a") == node

    def test_another_node_of_the_same_name_is_not_tainted(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        successor = cluster.replace_node(make_node("a"))
        assert successor.uid != node.uid
        with pytest.raises(NotFound):
            cluster.cluster.taint(marking(node))
        assert cluster.cluster.node("a") == successor

    def test_node_that_is_gone_cannot_be_tainted(self, cluster: ClusterHarness) -> None:
        with pytest.raises(NotFound):
            cluster.cluster.taint(marking(make_node("a")))


class TestUntainting:
    def test_node_is_as_it_was_before(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a", taints=[taint("dedicated", "db")], annotations={"note": "mine"}))
        cluster.cluster.taint(marking(node))
        cluster.cluster.untaint(unmarking(node))
        assert cluster.cluster.node("a") == node

    def test_untainting_again_changes_nothing(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.untaint(unmarking(node))
        assert cluster.cluster.node("a") == node

    def test_mark_of_another_value_stays_with_all_that_belongs_to_it(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node, value="1700000000", operation="op-2"))
        marked = cluster.cluster.node("a")
        cluster.cluster.untaint(unmarking(node, value="1764590400"))
        assert cluster.cluster.node("a") == marked

    def test_cordon_stays_unless_it_is_to_go(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node))
        cluster.cluster.untaint(unmarking(node, uncordon=False))
        left = cluster.cluster.node("a")
        assert left.unschedulable
        assert not marks(left)
        assert OPERATION not in left.annotations

    def test_node_that_a_person_uncordoned_stays_schedulable(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.taint(marking(node))
        cluster.change_node("a", unschedulable=False)
        cluster.cluster.untaint(unmarking(node))
        assert cluster.cluster.node("a") == node

    def test_taint_that_a_person_removed_leaves_the_rest_to_be_undone(self, cluster: ClusterHarness) -> None:
        signed = {OPERATION: "op-1", CORDONED: "true", "note": "mine"}
        node = cluster.add_node(make_node("a", unschedulable=True, annotations=signed))
        cluster.cluster.untaint(unmarking(node))
        left = cluster.cluster.node("a")
        assert not left.unschedulable
        assert left.annotations == {"note": "mine"}

    def test_node_that_is_gone_or_replaced_is_nothing_to_untaint(self, cluster: ClusterHarness) -> None:
        cluster.cluster.untaint(unmarking(make_node("never")))
        node = cluster.add_node(make_node("a"))
        successor = cluster.replace_node(make_node("a", taints=[taint(TO_BE_DELETED, "1764590400")]))
        cluster.cluster.untaint(unmarking(node))
        assert marks(cluster.cluster.node("a")) == marks(successor)


class TestEvicting:
    @pytest.fixture(autouse=True)
    def one_node(self, cluster: ClusterHarness) -> None:
        cluster.add_node(make_node("a"))

    def test_evicted_pod_is_terminating(self, cluster: ClusterHarness) -> None:
        pod = cluster.add_pod(make_pod("p", node="a"))
        assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.ACCEPTED
        (left,) = cluster.cluster.pods_on("a")
        assert left.is_terminating

    def test_pod_that_is_terminating_may_be_evicted_again(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget(labels=WEB, allowed=1))
        pod = cluster.add_pod(make_pod("p", node="a", labels=WEB))
        for _ in range(2):
            assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.ACCEPTED

    def test_pod_that_is_gone_or_replaced_is_gone(self, cluster: ClusterHarness) -> None:
        assert cluster.cluster.evict(EvictPod("default", "never", "uid", 30)) is EvictionResult.GONE
        pod = cluster.add_pod(make_pod("p", node="a"))
        assert cluster.cluster.evict(EvictPod("default", "p", f"not-{pod.uid}", 30)) is EvictionResult.GONE
        (left,) = cluster.cluster.pods_on("a")
        assert not left.is_terminating

    def test_budget_without_room_refuses(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget(labels=WEB, allowed=0))
        pod = cluster.add_pod(make_pod("p", node="a", labels=WEB))
        assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.REFUSED
        (left,) = cluster.cluster.pods_on("a")
        assert not left.is_terminating

    def test_budget_is_used_up_by_evictions(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget(labels=WEB, allowed=1))
        pods = [cluster.add_pod(make_pod(name, node="a", labels=WEB)) for name in ("p", "q")]
        results = [cluster.cluster.evict(EvictPod("default", pod.name, pod.uid, 30)) for pod in pods]
        assert results == [EvictionResult.ACCEPTED, EvictionResult.REFUSED]
        assert cluster.cluster.snapshot().budgets[0].disruptions_allowed == 0

    def test_pod_under_several_budgets_is_refused(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget("one", labels=WEB, allowed=1))
        cluster.add_budget(make_budget("two", labels=WEB, allowed=1))
        pod = cluster.add_pod(make_pod("p", node="a", labels=WEB))
        assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.REFUSED

    def test_budget_of_another_namespace_or_label_does_not_count(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget("elsewhere", namespace="kube-system", labels=WEB, allowed=0))
        cluster.add_budget(make_budget("other", labels={"app": "other"}, allowed=0))
        cluster.add_budget(DisruptionBudget("default", "none", None, 0))
        pod = cluster.add_pod(make_pod("p", node="a", labels=WEB))
        assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.ACCEPTED

    def test_pod_that_has_not_started_needs_no_budget(self, cluster: ClusterHarness) -> None:
        cluster.add_budget(make_budget(labels=WEB, allowed=0))
        pod = cluster.add_pod(make_pod("p", node="a", labels=WEB, phase=PodPhase.PENDING))
        assert cluster.cluster.evict(EvictPod("default", "p", pod.uid, 30)) is EvictionResult.ACCEPTED


class TestDeletingNodes:
    def test_node_is_deleted(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        cluster.cluster.delete_node(DeleteNode("a", node.uid))
        assert cluster.cluster.nodes() == ()

    def test_node_that_is_gone_is_success(self, cluster: ClusterHarness) -> None:
        cluster.cluster.delete_node(DeleteNode("never", "uid"))
        assert cluster.cluster.nodes() == ()

    def test_another_node_of_the_same_name_is_kept(self, cluster: ClusterHarness) -> None:
        node = cluster.add_node(make_node("a"))
        successor = cluster.replace_node(make_node("a"))
        cluster.cluster.delete_node(DeleteNode("a", node.uid))
        assert cluster.cluster.nodes() == (successor,)


def test_events_can_be_published_about_nodes_pods_and_config_maps(cluster: ClusterHarness) -> None:
    for kind, namespace in [(SubjectKind.NODE, ""), (SubjectKind.POD, "default"), (SubjectKind.CONFIG_MAP, "default")]:
        event = ClusterEvent(kind, "subject", "ScaleDown", "node removed", EventType.NORMAL, namespace)
        cluster.cluster.publish(event)
        cluster.cluster.publish(replace(event, type=EventType.WARNING))
