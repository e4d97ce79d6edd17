"""The Kubernetes cluster behind the port: reads it, and changes single nodes and pods."""

from __future__ import annotations

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import malformed
from exoscaler.adapters.kubernetes.calls import DAEMON_SETS, DISRUPTION_BUDGETS, NODES, PODS, Call, Verb
from exoscaler.adapters.kubernetes.decoding import budget_reader, daemonset_reader, node_reader, pod_reader
from exoscaler.adapters.kubernetes.event_writer import write_event
from exoscaler.adapters.kubernetes.evictions import evict_pod
from exoscaler.adapters.kubernetes.lists import read_list, report
from exoscaler.adapters.kubernetes.node_changes import delete_node, taint_node, untaint_node
from exoscaler.core.model import ClusterSnapshot, Node, Pod
from exoscaler.core.operations.effects import DeleteNode, EvictionResult, EvictPod, TaintNode, UntaintNode
from exoscaler.ports.cluster import ClusterEvent

_UNFINISHED = "status.phase!=Succeeded,status.phase!=Failed"
DEFAULT_PAGE_SIZE = 500
"""What kubectl uses: big enough that pages do not matter, small enough that one is a few megabytes."""


class KubernetesCluster:
    """Implements `exoscaler.ports.cluster.Cluster` on the API server. Safe to use from several threads."""

    def __init__(self, access: Access, *, page_size: int = DEFAULT_PAGE_SIZE) -> None:
        self._access = access
        self._page_size = page_size

    def snapshot(self) -> ClusterSnapshot:
        """Nodes, then pods, then budgets and DaemonSets; finished pods are left out, they hold nothing (R12).

        Raises:
            RemoteError: any of it could not be read whole.
        """
        taken_at = self._access.clock.now()
        # Nodes before pods: a node that joins in between is missing, so its pods seem to be nowhere and too little is
        # bought, which the next look corrects. The other way round, pods that were bound to it in between would still
        # seem to wait, and a node would be bought for them.
        nodes = self.nodes()
        pods = self._pods(_UNFINISHED)
        budgets = read_list(self._access, DISRUPTION_BUDGETS, budget_reader(), page_size=self._page_size)
        daemonsets = read_list(self._access, DAEMON_SETS, daemonset_reader(), page_size=self._page_size)
        return ClusterSnapshot(nodes, pods, taken_at, budgets, daemonsets)

    def nodes(self) -> tuple[Node, ...]:
        """All nodes."""
        return read_list(self._access, NODES, node_reader(), page_size=self._page_size)

    def node(self, name: str) -> Node:
        """One node, from the API server itself.

        Raises:
            NotFound: there is none of that name.
        """
        call = Call(Verb.GET, NODES, name=name)
        content = self._access.read(call)
        try:
            found, contained = node_reader().one(content)
        except ValueError as error:
            raise malformed(call, error) from error
        report(NODES, [contained] if contained is not None else [])
        if found is None:
            raise malformed(call, "it is no node")
        return found

    def pods_on(self, node_name: str) -> tuple[Pod, ...]:
        """All pods bound to the node, finished ones too, from the API server itself and not from a cache."""
        return self._pods(f"spec.nodeName={node_name}")

    def taint(self, change: TaintNode) -> None:
        """Taint and cordon in one write that loses no concurrent change; see `taint_node`."""
        taint_node(self._access, change)

    def untaint(self, change: UntaintNode) -> None:
        """Undo `taint`; see `untaint_node`."""
        untaint_node(self._access, change)

    def evict(self, change: EvictPod) -> EvictionResult:
        """Ask a pod to leave; see `evict_pod`."""
        return evict_pod(self._access, change)

    def delete_node(self, change: DeleteNode) -> None:
        """Delete the Node object; see `delete_node`."""
        delete_node(self._access, change)

    def publish(self, event: ClusterEvent) -> None:
        """Write an event or count it up; see `write_event`."""
        write_event(self._access, event)

    def _pods(self, fields: str) -> tuple[Pod, ...]:
        return read_list(self._access, PODS, pod_reader(), page_size=self._page_size, fields=fields)
