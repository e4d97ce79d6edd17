"""Asks pods to leave, through the eviction subresource.

Source: https://kubernetes.io/docs/concepts/scheduling-eviction/api-eviction/
"""

from __future__ import annotations

import msgspec

from exoscaler import logs
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import DISRUPTION_BUDGET, NAMESPACE_TERMINATING, Answer, malformed
from exoscaler.adapters.kubernetes.calls import PODS, Call, JsonObject, Verb
from exoscaler.core.operations.effects import EvictionResult, EvictPod
from exoscaler.errors import NotFound

_MANY_BUDGETS = "more than one PodDisruptionBudget"
_log = logs.get("exoscaler.adapters.kubernetes")


class _Metadata(msgspec.Struct):
    uid: str


class _Pod(msgspec.Struct):
    metadata: _Metadata


def evict_pod(access: Access, change: EvictPod) -> EvictionResult:
    """Ask once for the pod of this uid to leave.

    A pod that is gone, or whose name another pod has now, is gone. A budget that allows no disruption, or several
    budgets on one pod, which the API cannot serve, refuse. A namespace that is being deleted takes the pod with it, so
    the refusal to evict from it counts as accepted.

    Raises:
        RemoteError: any other failure; the eviction may have taken effect if the error says so.
    """
    answer = access.ask(_call(change))
    if answer.ok:
        return EvictionResult.ACCEPTED
    if answer.status == 404:
        return EvictionResult.GONE
    if answer.status == 409 and not _is_there(access, change):
        return EvictionResult.GONE
    result = _refusal(answer)
    if result is None:
        raise answer.error()
    return result


def _call(change: EvictPod) -> Call:
    eviction: JsonObject = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": change.name, "namespace": change.namespace},
        "deleteOptions": {"gracePeriodSeconds": change.grace_seconds, "preconditions": {"uid": change.uid}},
    }
    return Call(Verb.CREATE, PODS, namespace=change.namespace, name=change.name, subresource="eviction", body=eviction)


def _refusal(answer: Answer) -> EvictionResult | None:
    """What a failure means that is no failure of the call; None when it is one."""
    failure = answer.failure()
    # The server's own overload is a 429, too, but without the cause.
    if answer.status == 429 and failure.has_cause(DISRUPTION_BUDGET):
        return EvictionResult.REFUSED
    if answer.status == 500 and _MANY_BUDGETS in failure.message:
        _log.warning("several disruption budgets cover one pod; it cannot be evicted", pod=answer.call.target)
        return EvictionResult.REFUSED
    if answer.status == 403 and failure.has_cause(NAMESPACE_TERMINATING):
        return EvictionResult.ACCEPTED
    return None


def _is_there(access: Access, change: EvictPod) -> bool:
    """Whether the pod of this uid still exists: a 409 does not say whether it was the uid that stood against it."""
    call = Call(Verb.GET, PODS, namespace=change.namespace, name=change.name)
    try:
        return msgspec.json.decode(access.read(call), type=_Pod).metadata.uid == change.uid
    except NotFound:
        return False
    except msgspec.DecodeError as error:
        raise malformed(call, error) from error
