"""Quantities as they travel to amounts in integers, and what a pod asks for by the scheduler's own rules (R201)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import lru_cache

from exoscaler.adapters.kubernetes import wire
from exoscaler.core.model import FrozenMap, Resources
from exoscaler.core.model.quantity import milli, whole
from exoscaler.core.model.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS

_SIDECAR = "Always"
_HUGE_PAGES = "hugepages-"
_NAMED = (CPU, MEMORY, EPHEMERAL_STORAGE, PODS)

# A cluster spells few quantities, over and over.
_milli: Callable[[str], int] = lru_cache(maxsize=4096)(milli)
_whole: Callable[[str], int] = lru_cache(maxsize=4096)(whole)


def resources(amounts: wire.Amounts | None) -> Resources:
    """Amounts in integers, each rounded up (R213).

    Raises:
        ValueError: one is not a quantity.
    """
    if not amounts:
        return Resources()
    counted = {name: _milli(str(text)) if name == CPU else _whole(str(text)) for name, text in amounts.items()}
    return Resources(
        cpu=counted.get(CPU, 0),
        memory=counted.get(MEMORY, 0),
        ephemeral_storage=counted.get(EPHEMERAL_STORAGE, 0),
        pods=counted.get(PODS, 0),
        extended=FrozenMap({name: amount for name, amount in counted.items() if name not in _NAMED}),
    )


def effective_requests(spec: wire.PodSpec, status: wire.PodStatus) -> Resources:
    """What the scheduler counts for the pod, overhead included (R201).

    Containers and sidecars run together; each init container runs beside the sidecars declared before it; the pod needs
    the largest of these. Requests of the pod as a whole replace that sum for CPU, memory and huge pages. While a pod is
    being resized in place, the largest of wanted, allocated and actual amounts counts, or of the last two when the
    kubelet has said that the wanted ones can never be.

    Raises:
        ValueError: one of the amounts is not a quantity.
    """
    wanted_counts = not resize_is_infeasible(status)
    needs = _container_needs(status, wanted_counts=wanted_counts)
    total = _sum(needs(container) for container in spec.containers or ())
    sidecars = Resources()
    peak = Resources()
    for container in spec.init_containers or ():
        need = needs(container)
        if container.restart_policy == _SIDECAR:
            total += need
            sidecars += need
            peak = peak.at_least(sidecars)
        else:
            peak = peak.at_least(need + sidecars)
    total = total.at_least(peak)
    if spec.resources is not None and spec.resources.requests:
        total = _with_pod_level(total, spec.resources.requests, status, wanted_counts=wanted_counts)
    return total + resources(spec.overhead) if spec.overhead else total


def resize_is_infeasible(status: wire.PodStatus) -> bool:
    """Whether the kubelet has said that what the pod wants can never be on its node."""
    pending = next((c for c in status.conditions or () if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"


def _container_needs(status: wire.PodStatus, *, wanted_counts: bool) -> Callable[[wire.Container], Resources]:
    reported = {s.name: s for s in (*(status.container_statuses or ()), *(status.init_container_statuses or ()))}

    def needs(container: wire.Container) -> Resources:
        wanted = resources(container.resources.requests) if container.resources is not None else Resources()
        report = reported.get(container.name)
        if report is None or report.resources is None:
            return wanted
        held = resources(report.resources.requests).at_least(resources(report.allocated_resources))
        return held.at_least(wanted) if wanted_counts else held

    return needs


def _with_pod_level(
    total: Resources, requests: wire.Amounts, status: wire.PodStatus, *, wanted_counts: bool
) -> Resources:
    names = frozenset(name for name in requests if name in (CPU, MEMORY) or name.startswith(_HUGE_PAGES))
    amount = resources(_only(names, requests))
    if status.resources is not None:
        actual = resources(_only(names, status.resources.requests))
        held = actual.at_least(resources(_only(names, status.allocated_resources)))
        amount = held.at_least(amount) if wanted_counts else held
    huge_pages = {name: amount.extended.get(name, 0) for name in names if name.startswith(_HUGE_PAGES)}
    return replace(
        total,
        cpu=amount.cpu if CPU in names else total.cpu,
        memory=amount.memory if MEMORY in names else total.memory,
        extended=FrozenMap({**total.extended, **huge_pages}) if huge_pages else total.extended,
    )


def _only(names: AbstractSet[str], amounts: wire.Amounts | None) -> wire.Amounts:
    return {name: text for name, text in (amounts or {}).items() if name in names}


def _sum(parts: Iterable[Resources]) -> Resources:
    total = Resources()
    for part in parts:
        total += part
    return total
