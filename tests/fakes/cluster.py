"""A cluster of core records in memory, with the API server's manners: uids, budgets, graceful deletion."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from exoscaler.core.model import (
    ClusterSnapshot,
    DaemonSet,
    DisruptionBudget,
    FrozenMap,
    Node,
    Pod,
    PodPhase,
    Taint,
    TaintEffect,
)
from exoscaler.core.model.nodes import CORDONED_MARK, OPERATION_MARK
from exoscaler.core.model.taints import TO_BE_DELETED
from exoscaler.core.operations.effects import DeleteNode, Effect, EvictionResult, EvictPod, TaintNode, UntaintNode
from exoscaler.errors import Conflict, ExoscalerError, NotFound
from exoscaler.ports.clock import Clock
from exoscaler.ports.cluster import ClusterEvent
from tests.fakes.clock import FakeClock


class FakeCluster:
    """Implements `exoscaler.ports.cluster.Cluster`. Thread-safe.

    Nothing in it moves by itself: an evicted pod is terminating until `finish_terminating`, and nobody makes it again.

    Attributes:
        effects: every change that was asked for, in order, whatever became of it.
        events: every event that was published, in order.
        looks: how often each reading method was called.
    """

    def __init__(
        self,
        nodes: Iterable[Node] = (),
        pods: Iterable[Pod] = (),
        *,
        budgets: Iterable[DisruptionBudget] = (),
        daemonsets: Iterable[DaemonSet] = (),
        clock: Clock | None = None,
    ) -> None:
        self._lock = threading.RLock()
        self._clock = clock or FakeClock()
        self._nodes = {node.name: node for node in nodes}
        self._pods = {(pod.namespace, pod.name): pod for pod in pods}
        self._budgets = {(budget.namespace, budget.name): budget for budget in budgets}
        self._daemonsets = {(daemonset.namespace, daemonset.name): daemonset for daemonset in daemonsets}
        self._failures: dict[str, list[ExoscalerError]] = {}
        self.effects: list[Effect] = []
        self.events: list[ClusterEvent] = []
        self.looks: dict[str, int] = {}

    # What a test sees of the cluster and does to it; none of it counts as a look.

    @property
    def all_nodes(self) -> tuple[Node, ...]:
        """Every node there is."""
        with self._lock:
            return tuple(self._nodes.values())

    @property
    def all_pods(self) -> tuple[Pod, ...]:
        """Every pod there is, finished ones too."""
        with self._lock:
            return tuple(self._pods.values())

    def put_node(self, node: Node) -> None:
        """Add the node, or change it."""
        with self._lock:
            self._nodes[node.name] = node

    def change_node(self, name: str, **changes: Any) -> None:
        """Change fields of a node that is there."""
        with self._lock:
            self._nodes[name] = replace(self._nodes[name], **changes)

    def remove_node(self, name: str) -> None:
        """Take the node away, and its pods with it."""
        with self._lock:
            del self._nodes[name]
            self._pods = {key: pod for key, pod in self._pods.items() if pod.node_name != name}

    def put_pod(self, pod: Pod) -> None:
        """Add the pod, or change it."""
        with self._lock:
            self._pods[pod.namespace, pod.name] = pod

    def remove_pod(self, namespace: str, name: str) -> None:
        """Take the pod away."""
        with self._lock:
            del self._pods[namespace, name]

    def put_budget(self, budget: DisruptionBudget) -> None:
        """Add the budget, or change it."""
        with self._lock:
            self._budgets[budget.namespace, budget.name] = budget

    def put_daemonset(self, daemonset: DaemonSet) -> None:
        """Add the DaemonSet, or change it."""
        with self._lock:
            self._daemonsets[daemonset.namespace, daemonset.name] = daemonset

    def finish_terminating(self) -> None:
        """Let every pod that is being deleted end now."""
        with self._lock:
            self._pods = {key: pod for key, pod in self._pods.items() if not pod.is_terminating}

    def fail(self, method: str, *errors: ExoscalerError) -> None:
        """Let the next calls of a method fail with these errors, one each, with nothing done."""
        self._failures.setdefault(method, []).extend(errors)

    # The port.

    def snapshot(self) -> ClusterSnapshot:
        with self._lock:
            self._look("snapshot")
            pods = tuple(pod for pod in self._pods.values() if not pod.is_finished)
            return ClusterSnapshot(
                tuple(self._nodes.values()),
                pods,
                self._clock.now(),
                tuple(self._budgets.values()),
                tuple(self._daemonsets.values()),
            )

    def nodes(self) -> tuple[Node, ...]:
        with self._lock:
            self._look("nodes")
            return tuple(self._nodes.values())

    def node(self, name: str) -> Node:
        with self._lock:
            self._look("node")
            if name not in self._nodes:
                raise NotFound("get nodes", name, status=404)
            return self._nodes[name]

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        with self._lock:
            self._look("pods_on")
            return tuple(pod for pod in self._pods.values() if pod.node_name == node_name)

    def taint(self, change: TaintNode) -> None:
        with self._lock:
            self._act("taint", change)
            node = self._nodes.get(change.node_name)
            if node is None or node.uid != change.node_uid:
                raise NotFound("get nodes", change.node_name, status=404)
            values = [taint.value for taint in node.taints if taint.key == TO_BE_DELETED]
            if change.value in values:
                return
            if values:
                raise Conflict("patch nodes", change.node_name, detail=f"the node carries {TO_BE_DELETED}={values[0]}")
            mark = Taint(TO_BE_DELETED, TaintEffect.NO_SCHEDULE, change.value)
            cordons = change.cordon and not node.unschedulable
            annotations = node.annotations.without(CORDONED_MARK)
            annotations = annotations.with_entry(OPERATION_MARK, change.operation_id)
            if cordons:
                annotations = annotations.with_entry(CORDONED_MARK, "true")
            self._nodes[node.name] = replace(
                node,
                taints=(*node.taints, mark),
                annotations=annotations,
                unschedulable=node.unschedulable or cordons,
            )

    def untaint(self, change: UntaintNode) -> None:
        with self._lock:
            self._act("untaint", change)
            node = self._nodes.get(change.node_name)
            if node is None or node.uid != change.node_uid:
                return
            kept = tuple(t for t in node.taints if (t.key, t.value) != (TO_BE_DELETED, change.value))
            node = replace(node, taints=kept)
            if not any(taint.key == TO_BE_DELETED for taint in kept):
                node = _without_annotations(node, uncordon=change.uncordon)
            self._nodes[node.name] = node

    def evict(self, change: EvictPod) -> EvictionResult:
        with self._lock:
            self._act("evict", change)
            key = (change.namespace, change.name)
            pod = self._pods.get(key)
            if pod is None or pod.uid != change.uid:
                return EvictionResult.GONE
            if pod.is_terminating:
                return EvictionResult.ACCEPTED
            if pod.phase is PodPhase.RUNNING and not self._take_from_budget(pod):
                return EvictionResult.REFUSED
            self._pods[key] = replace(pod, deleted_at=self._clock.now() + timedelta(seconds=change.grace_seconds))
            return EvictionResult.ACCEPTED

    def delete_node(self, change: DeleteNode) -> None:
        with self._lock:
            self._act("delete_node", change)
            node = self._nodes.get(change.node_name)
            if node is not None and node.uid == change.node_uid:
                del self._nodes[node.name]

    def publish(self, event: ClusterEvent) -> None:
        with self._lock:
            self._fail_if_asked("publish")
            self.events.append(event)

    def _take_from_budget(self, pod: Pod) -> bool:
        covering = [budget for budget in self._budgets.values() if budget.covers(pod)]
        if not covering:
            return True
        if len(covering) > 1 or covering[0].disruptions_allowed < 1:
            return False
        (budget,) = covering
        self.put_budget(replace(budget, disruptions_allowed=budget.disruptions_allowed - 1))
        return True

    def _look(self, method: str) -> None:
        self.looks[method] = self.looks.get(method, 0) + 1
        self._fail_if_asked(method)

    def _act(self, method: str, effect: Effect) -> None:
        self.effects.append(effect)
        self._fail_if_asked(method)

    def _fail_if_asked(self, method: str) -> None:
        if self._failures.get(method):
            raise self._failures[method].pop(0)


def _without_annotations(node: Node, *, uncordon: bool) -> Node:
    annotations: FrozenMap[str] = node.annotations.without(OPERATION_MARK)
    unschedulable = node.unschedulable
    if uncordon and annotations.get(CORDONED_MARK) is not None:
        unschedulable = unschedulable and annotations[CORDONED_MARK] != "true"
        annotations = annotations.without(CORDONED_MARK)
    return replace(node, annotations=annotations, unschedulable=unschedulable)
