"""A kube-system pod without a disruption budget is left alone for a while (R131-9).

Upstream lets such a pod move once it is older than the time-out, and then asks none of the rules that follow. Here they
are asked: age says nothing about local storage or about an annotation that forbids eviction.
"""

from __future__ import annotations

from exoscaler.core.model import Pod
from exoscaler.core.reasons import BlockingPod
from exoscaler.core.scaledown.drainability.rule import DrainContext, Verdict, block

SYSTEM_NAMESPACE = "kube-system"


def system(pod: Pod, context: DrainContext) -> Verdict | None:
    """Block on a kube-system pod that no budget covers and that is not older than the time-out."""
    policy = context.policy
    if not policy.skip_nodes_with_system_pods or pod.namespace != SYSTEM_NAMESPACE:
        return None
    if context.budgets is None or context.budgets.covering(pod):
        return None
    is_young = pod.created_at + policy.blocking_system_pod_timeout >= context.now
    return block(BlockingPod.UNMOVABLE_KUBE_SYSTEM) if is_young else None
