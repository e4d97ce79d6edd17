"""Eviction: the deletion of a pod that asks its disruption budget first."""

from __future__ import annotations

from dataclasses import replace

from exoscaler.sandbox.kubernetes.conditions import find_condition, set_condition
from exoscaler.sandbox.kubernetes.deletion import DeleteOptions, check_preconditions
from exoscaler.sandbox.kubernetes.failures import ApiFailure, forbidden, too_many_requests
from exoscaler.sandbox.kubernetes.json_values import clone, metadata, number, section, text
from exoscaler.sandbox.kubernetes.label_selectors import selector_of
from exoscaler.sandbox.kubernetes.object_metadata import rfc3339
from exoscaler.sandbox.kubernetes.resources import BUDGETS, PODS
from exoscaler.sandbox.kubernetes.store import ObjectStore
from exoscaler.sandbox.objects import JsonObject

MOST_DISRUPTED_PODS = 2000
"""Evictions that may wait for the budget's controller to notice them."""

_REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
_TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
_SECONDS_UNTIL_PROCESSED = 10


def evict_pod(store: ObjectStore, namespace: str, name: str, options: DeleteOptions) -> None:
    """Evict a pod: take one disruption from its budget, then delete it.

    A pod that has not started, has ended or is being deleted needs no budget; neither does an unready one whose
    budget is met without it, or whose budget always lets unhealthy pods go.

    Raises:
        ApiFailure: 404 no such pod, 409 preconditions, 429 the budget allows no disruption now, 500 several budgets.
    """
    with store.storage.lock:
        pod = store.current(PODS, name, namespace=namespace)
        check_preconditions(PODS, pod, options)
        if not _goes_unasked(pod):
            _ask_budget(store, pod, dry_run=options.dry_run)
            pod = _announce(store, pod, dry_run=options.dry_run)
        store.delete(PODS, name, replace(options, version=""), namespace=namespace)


def _goes_unasked(pod: JsonObject) -> bool:
    return text(pod, "status.phase") in ("Pending", "Succeeded", "Failed") or "deletionTimestamp" in metadata(pod)


def _ask_budget(store: ObjectStore, pod: JsonObject, *, dry_run: bool) -> None:
    budgets = _budgets_of(store, pod)
    if not budgets:
        return
    if len(budgets) > 1:
        raise ApiFailure(500, "", _TWO_BUDGETS)
    (budget,) = budgets
    if not _is_ready(pod) and _lets_unhealthy_go(budget):
        return
    _check(budget)
    if not dry_run:
        _take_one(store, budget, metadata(pod)["name"])


def _budgets_of(store: ObjectStore, pod: JsonObject) -> list[JsonObject]:
    namespace, labels = metadata(pod)["namespace"], metadata(pod).get("labels") or {}
    found: list[JsonObject] = []
    for key, budget in store.storage.view(BUDGETS.key).objects.items():
        selector = selector_of(section(section(budget, "spec"), "selector"))
        if key[0] == namespace and selector is not None and selector.requirements and selector.matches(labels):
            found.append(budget)
    return found


def _is_ready(pod: JsonObject) -> bool:
    return find_condition(section(pod, "status"), "Ready").get("status") == "True"


def _lets_unhealthy_go(budget: JsonObject) -> bool:
    if section(budget, "spec").get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = section(budget, "status")
    desired = number(status, "desiredHealthy")
    return 0 < desired <= number(status, "currentHealthy")


def _check(budget: JsonObject) -> None:
    name, status = metadata(budget)["name"], section(budget, "status")
    if number(status, "observedGeneration") < number(metadata(budget), "generation"):
        cause = f"The disruption budget {name} is still being processed by the server."
        raise too_many_requests(_REFUSED, causes=[_cause(cause)], retry_after=_SECONDS_UNTIL_PROCESSED)
    allowed = number(status, "disruptionsAllowed")
    if allowed < 0:
        raise forbidden(BUDGETS, name, "pdb disruptions allowed is negative")
    if len(section(status, "disruptedPods")) > MOST_DISRUPTED_PODS:
        raise forbidden(BUDGETS, name, "too many evictions wait for the budget's controller")
    if allowed == 0:
        needs, has = number(status, "desiredHealthy"), number(status, "currentHealthy")
        cause = f"The disruption budget {name} needs {needs} healthy pods and has {has} currently"
        raise too_many_requests(_REFUSED, causes=[_cause(cause)])


def _cause(message: str) -> JsonObject:
    return {"reason": "DisruptionBudget", "message": message}


def _take_one(store: ObjectStore, budget: JsonObject, pod_name: str) -> None:
    taken = clone(budget)
    meta, status = metadata(taken), taken["status"]
    now = rfc3339(store.clock.now())
    status["disruptionsAllowed"] = number(status, "disruptionsAllowed") - 1
    status["disruptedPods"] = {**section(status, "disruptedPods"), pod_name: now}
    if status["disruptionsAllowed"] == 0:
        condition = {
            "type": "DisruptionAllowed",
            "status": "False",
            "reason": "InsufficientPods",
            "message": "",
            "observedGeneration": number(status, "observedGeneration"),
        }
        set_condition(status, condition, now)
    store.storage.write(BUDGETS.key, (meta["namespace"], meta["name"]), taken)


def _announce(store: ObjectStore, pod: JsonObject, *, dry_run: bool) -> JsonObject:
    """Mark the pod as the target of a disruption, so that its owner does not count it as a failure."""
    marked = clone(pod)
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    set_condition(marked["status"], condition, rfc3339(store.clock.now()))
    meta = metadata(marked)
    return pod if dry_run else store.storage.write(PODS.key, (meta["namespace"], meta["name"]), marked)
