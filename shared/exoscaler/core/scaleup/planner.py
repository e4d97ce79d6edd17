"""Planning growth: which groups to grow, to what size, for which pods, and why not for the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from exoscaler.core.model import Pod
from exoscaler.core.plan import GrowthPlan, HelpedPod, SkippedPod
from exoscaler.core.reasons import PodSkip
from exoscaler.core.scaleup.equivalence import PodClass, classes_of
from exoscaler.core.scaleup.expanders import Option, choose
from exoscaler.core.scaleup.orders import Orders
from exoscaler.core.scaleup.outlook import Outlook, look_ahead
from exoscaler.core.scaleup.packing import pack
from exoscaler.core.scaleup.pending import Pending, pending_pods, scheduling_rank
from exoscaler.core.scaleup.placing import fill, settle_on_existing
from exoscaler.core.scaleup.pod_delay import is_too_young
from exoscaler.core.scaleup.verdicts import unhelped
from exoscaler.core.scaleup.waves import Wave, waves
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger


def plan_growth(scene: Scene, ledger: Ledger, outlook: Outlook | None = None) -> GrowthPlan:
    """Plan the scale-up half of an evaluation.

    Groups below their minimum are raised to it (R98). Waiting pods are promised room on nodes that exist, then on those
    that are coming; for the rest groups are chosen one after the other, each with its pods, until no group helps any
    more: one evaluation may grow several groups. What no group helps gets a verdict from each.

    `ledger` is the one of `ledger_for(scene)`. All promises and all ordered nodes are entered into it, so that whatever
    is planned next counts with them.
    """
    outlook = outlook or look_ahead(scene)
    pending = pending_pods(scene)
    orders = Orders(scene, outlook, ledger)
    to_minimum = _raise_to_minimum(scene, orders)
    found = _find_room(pending, scene, outlook, to_minimum, ledger)
    grown_for, left = _grow(classes_of(found.left), scene, outlook, orders, ledger)
    return GrowthPlan(
        operations=orders.operations(),
        helped=tuple(sorted((*found.helped, *grown_for), key=_rank)),
        unhelped=unhelped(left, scene, outlook, orders),
        skipped=tuple(sorted((*pending.skipped, *found.skipped), key=_rank)),
    )


def _rank(entry: HelpedPod | SkippedPod) -> tuple[int, datetime, str]:
    return scheduling_rank(entry.pod)


def _raise_to_minimum(scene: Scene, orders: Orders) -> tuple[Wave, ...]:
    if not scene.policy.growth.enforce_min_size:
        return ()
    ordered = (orders.raise_to_minimum(group) for group in scene.groups)
    return tuple(wave for wave in ordered if wave is not None)


@dataclass(frozen=True, slots=True)
class _Room:
    """Pods that raising groups to their minimum helps, pods that ask for nothing more, and pods to order for."""

    helped: tuple[HelpedPod, ...]
    skipped: tuple[SkippedPod, ...]
    left: tuple[Pod, ...]


def _find_room(pending: Pending, scene: Scene, outlook: Outlook, to_minimum: Sequence[Wave], ledger: Ledger) -> _Room:
    """Young pods take room like others; that they order nothing is decided last (R22, R28)."""
    existing = settle_on_existing((*pending.asking, *pending.daemons, *pending.displaced), ledger)
    waiting = [pod for pod in pending.asking if pod.uid not in existing]
    upcoming = {found.pod.uid for found in fill(waves(scene, outlook), waiting, ledger)}
    waiting = [pod for pod in waiting if pod.uid not in upcoming]
    helped = fill(to_minimum, waiting, ledger)
    for_minimum = {found.pod.uid for found in helped}

    skipped = [SkippedPod(pod, PodSkip.DAEMONSET) for pod in pending.daemons]
    left: list[Pod] = []
    for pod in pending.asking:
        if pod.uid in existing:
            skipped.append(SkippedPod(pod, PodSkip.FITS_EXISTING))
        elif pod.uid in upcoming:
            skipped.append(SkippedPod(pod, PodSkip.FITS_UPCOMING))
        elif pod.uid not in for_minimum:
            if is_too_young(pod, scene.policy.growth, scene.now):
                skipped.append(SkippedPod(pod, PodSkip.TOO_YOUNG))
            else:
                left.append(pod)
    return _Room(helped, tuple(skipped), tuple(left))


def _grow(
    classes: Sequence[PodClass], scene: Scene, outlook: Outlook, orders: Orders, ledger: Ledger
) -> tuple[list[HelpedPod], Sequence[PodClass]]:
    """Order nodes for pods, group by group; the pods helped and the classes of those that no group helps.

    Each round promises a place to at least one pod, so the rounds end. What would fit a group and found no place
    there met a limit, which the rounds that follow only make tighter.
    """
    helped: list[HelpedPod] = []
    growth = scene.policy.growth
    seed = str(scene.state.observations.evaluations)
    while classes and (chosen := choose(_options(classes, scene, outlook, orders), growth.expanders, seed)):
        names = orders.add_for_pods(chosen.group, chosen.packing.node_count)
        for name, load in zip(names, chosen.packing.loads(), strict=True):
            ledger.place_all(load, name)
            helped.extend(HelpedPod(pod, chosen.group.id) for pod in load)
        classes = chosen.packing.left
    return helped, classes


def _options(classes: Sequence[PodClass], scene: Scene, outlook: Outlook, orders: Orders) -> Iterable[Option]:
    """The groups that could help at least one pod, each with what it would take (R74)."""
    for group in scene.groups:
        cap, template = orders.cap_for_pods(group), outlook.templates[group.id]
        if template is None or not cap.nodes:
            continue
        packing = pack(classes, template.empty, cap.nodes)
        if packing.placed:
            yield Option(group, template, packing)
