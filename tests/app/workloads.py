"""What keeps a fake cluster alive: controllers that make pods anew, kubelets that end them, a scheduler."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exoscaler.core.model import Node, Pod, PodPhase, SchedulerVerdict
from exoscaler.core.scheduling import Place, can_take_pods, why_not
from exoscaler.ports.clock import Clock
from tests.builders import make_pod
from tests.fakes.cluster import FakeCluster


@dataclass(slots=True)
class Deployment:
    """So many pods alike; `made` counts those it ever had."""

    name: str
    replicas: int
    cpu: str
    group: str = ""
    grace_seconds: int = 30
    made: int = 0


class Workloads:
    """Moves the pods of a fake cluster on to the clock's time: the ended go, the missing come, the waiting find nodes.

    Nodes are filled in order of their names.
    """

    def __init__(self, cluster: FakeCluster, clock: Clock) -> None:
        self._cluster = cluster
        self._clock = clock
        self._deployments: dict[str, Deployment] = {}

    def run(self, name: str, replicas: int, *, cpu: str = "1500m", group: str = "", grace_seconds: int = 30) -> None:
        """Have this many pods of a deployment, on nodes of one group if it is named."""
        known = self._deployments.get(name)
        if known is None:
            self._deployments[name] = Deployment(name, replicas, cpu, group, grace_seconds)
        else:
            known.replicas = replicas

    def settle(self) -> None:
        """One round of everything."""
        self._reap()
        for deployment in self._deployments.values():
            self._scale(deployment)
        self._schedule()

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """The pods that have no node."""
        return tuple(pod for pod in self._cluster.all_pods if not pod.is_bound)

    def _reap(self) -> None:
        now = self._clock.now()
        names = {node.name for node in self._cluster.all_nodes}
        for pod in self._cluster.all_pods:
            over = pod.deleted_at is not None and pod.deleted_at <= now
            if over or (pod.is_bound and pod.node_name not in names):
                self._cluster.remove_pod(pod.namespace, pod.name)

    def _scale(self, deployment: Deployment) -> None:
        mine = [p for p in self._cluster.all_pods if p.owner is not None and p.owner.name == deployment.name]
        staying = sorted((p for p in mine if not p.is_terminating), key=lambda p: (p.is_bound, p.name))
        for _ in range(deployment.replicas - len(staying)):
            deployment.made += 1
            self._cluster.put_pod(self._pod(deployment))
        for pod in staying[: max(0, len(staying) - deployment.replicas)]:
            self._cluster.remove_pod(pod.namespace, pod.name)

    def _pod(self, deployment: Deployment) -> Pod:
        pod = make_pod(
            f"{deployment.name}-{deployment.made:03d}",
            owner=deployment.name,
            cpu=deployment.cpu,
            labels={"app": deployment.name},
            node_selector={"group": deployment.group} if deployment.group else {},
            grace_seconds=deployment.grace_seconds,
        )
        return replace(pod, created_at=self._clock.now())

    def _schedule(self) -> None:
        for pod in self.waiting:
            node = self._place_for(pod)
            if node is None:
                self._cluster.put_pod(replace(pod, verdict=SchedulerVerdict.UNSCHEDULABLE))
                continue
            bound = replace(pod, node_name=node.name, phase=PodPhase.RUNNING, verdict=SchedulerVerdict.SCHEDULED)
            self._cluster.put_pod(bound)

    def _place_for(self, pod: Pod) -> Node | None:
        for node in sorted(self._cluster.all_nodes, key=lambda n: n.name):
            on_it = [p for p in self._cluster.all_pods if p.node_name == node.name and not p.is_finished]
            if can_take_pods(node) and not why_not(pod, Place.of(node, on_it)):
                return node
        return None
