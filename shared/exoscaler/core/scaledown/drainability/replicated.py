"""A pod that nothing would make again must not be moved (R131-8)."""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block

KNOWN_CONTROLLERS = frozenset({"ReplicationController", "Job", "ReplicaSet", "StatefulSet"})


def replicated(pod: Pod, context: DrainContext) -> Verdict | None:
    """Block on a bare pod; with ``skip-nodes-with-custom-controller-pods`` also on one of an unknown controller."""
    if pod.owner is None:
        return block(BlockingPod.NOT_REPLICATED)
    unknown = pod.owner.kind not in KNOWN_CONTROLLERS
    if unknown and context.policy.skip_nodes_with_custom_controller_pods:
        return block(BlockingPod.NOT_REPLICATED)
    return None
