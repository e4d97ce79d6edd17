"""Carrying out what a removal asks of the cluster, and feeding back what happened."""

from __future__ import annotations

from dataclasses import dataclass, replace

from exoscaler import logs
from exoscaler.app.invocation import Invocation
from exoscaler.core.operations import shrink_step
from exoscaler.core.operations.effects import (
    DeleteNode,
    Effect,
    EvictionResult,
    EvictPod,
    TaintNode,
    UntaintNode,
)
from exoscaler.core.operations.model import ShrinkOperation, ShrinkPhase
from exoscaler.core.state import CounterName
from exoscaler.errors import NotFound, RemoteError

log = logs.get("exoscaler.app.effects")


@dataclass(frozen=True, slots=True)
class Carried:
    """The operation after an effect, and what is to be counted."""

    operation: ShrinkOperation
    counted: CounterName | None = None


def carry_out(invocation: Invocation, operation: ShrinkOperation, effect: Effect) -> Carried:
    """Do it, and return the operation as it stands after that.

    What the cluster refuses, or does not answer, leaves the operation where it is; the next look tells what happened.
    """
    try:
        return _do(invocation, operation, effect)
    except NotFound as error:
        # The node or the pod is gone: the next look at the node draws the conclusion.
        log.info("the object is gone already", operation_id=operation.id, node=operation.node_name, detail=str(error))
        return Carried(replace(operation, look_at=None))
    except RemoteError as error:
        log.warning("the cluster did not do it", operation_id=operation.id, node=operation.node_name, detail=str(error))
        return Carried(shrink_step.hindered(operation, str(error), invocation.policy, invocation.now))


def _do(invocation: Invocation, operation: ShrinkOperation, effect: Effect) -> Carried:
    cluster = invocation.ports.cluster
    match effect:
        case TaintNode():
            cluster.taint(effect)
            return Carried(shrink_step.enter(operation, ShrinkPhase.TAINTED, invocation.now))
        case UntaintNode():
            cluster.untaint(effect)
            return Carried(shrink_step.rolled_back(operation, invocation.now))
        case EvictPod():
            return _evict(invocation, operation, effect)
        case DeleteNode():
            cluster.delete_node(effect)
            return Carried(replace(operation, look_at=None))
        case _:
            # Sizes and removals of instances go through the claim of the whole pool, never from here.
            raise TypeError(f"{type(effect).__name__} is not an effect on the cluster")


def _evict(invocation: Invocation, operation: ShrinkOperation, effect: EvictPod) -> Carried:
    pod = f"{effect.namespace}/{effect.name}"
    try:
        result = invocation.ports.cluster.evict(effect)
    except RemoteError as error:
        if not effect.best_effort:
            raise
        log.info("a DaemonSet pod was not evicted", operation_id=operation.id, pod=pod, detail=str(error))
        return Carried(operation)
    log.info("eviction", operation_id=operation.id, node=operation.node_name, pod=pod, result=result.value)
    if result is EvictionResult.ACCEPTED:
        return Carried(operation, CounterName.PODS_EVICTED)
    if effect.best_effort or result is EvictionResult.GONE:
        return Carried(operation)
    return Carried(replace(operation, detail=f"eviction of {pod}: {result.value}"), CounterName.EVICTIONS_REFUSED)
