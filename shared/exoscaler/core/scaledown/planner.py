"""Planning removals: judge every node, simulate those that could go, accept those that go now."""

from __future__ import annotations

from collections.abc import Iterator

from exoscaler.core.model import Node, NodeGroup
from exoscaler.core.operations.model import ShrinkOperation
from exoscaler.core.plan import GrowthPlan, NodeVerdict, ShrinkPlan
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.candidates import Stays, why_not_candidate
from exoscaler.core.scaledown.cooldown import held_everywhere
from exoscaler.core.scaledown.departure import Departure, departure
from exoscaler.core.scaledown.drainability import DrainContext
from exoscaler.core.scaledown.orphans import orphans
from exoscaler.core.scaledown.pod_view import pod_view
from exoscaler.core.scaledown.replacement import replace_pods
from exoscaler.core.scaledown.round import Round, Unneeded
from exoscaler.core.scaledown.unregistered import long_unregistered
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger


def plan_shrink(scene: Scene, ledger: Ledger, growth: GrowthPlan) -> ShrinkPlan:
    """Decide which nodes are unneeded and which of them go now.

    Enters into `ledger` where the pods of unneeded nodes would go: the simulation is cumulative, so that two removals
    never count on the same hole (R118). Cool-downs and a doubtful list of pods forbid to act; a doubtful list also
    forbids to judge, so that no time runs on what was not seen.
    """
    view = pod_view(scene)
    if not view.complete:
        return ShrinkPlan(operations=orphans(scene), unneeded=_unjudged(scene), held=view.doubt)
    return _Planning(scene, ledger, growth).plan()


def _unjudged(scene: Scene) -> tuple[tuple[str, str], ...]:
    """An evaluation that could not look leaves the timers as they are."""
    return tuple((uid, node.name) for uid, node in scene.state.observations.unneeded.items())


class _Planning:
    """One planning; collects verdicts while it goes."""

    def __init__(self, scene: Scene, ledger: Ledger, growth: GrowthPlan) -> None:
        self._scene = scene
        self._ledger = ledger
        self._round = Round(scene, growth)
        self._held = held_everywhere(scene, growth)
        self._staying: list[NodeVerdict] = []
        self._cached: set[str] = set()

    def plan(self) -> ShrinkPlan:
        """Judge, simulate, accept."""
        undone = orphans(self._scene)
        going = {op.node_uid for op in (*self._scene.state.operations.shrinking, *undone)}
        candidates = [(n, g) for n, g in self._managed(going) if self._is_candidate(n, g)]
        unneeded = [found for node, group in self._in_order(candidates) if (found := self._simulate(node, group))]
        operations = tuple(op for found in self._empty_first(unneeded) if (op := self._decide(found)))
        never = long_unregistered(self._scene, (*undone, *operations))
        return ShrinkPlan(
            operations=(*undone, *operations, *never),
            unneeded=tuple((found.node.uid, found.node.name) for found in unneeded),
            staying=tuple(self._staying),
            cached=frozenset(self._cached),
            held=self._held,
        )

    def _managed(self, going: set[str]) -> Iterator[tuple[Node, NodeGroup]]:
        """Every node of a managed group that is not going already, by name; the others get their verdict here."""
        groups = {group.id: group for group in self._scene.groups}
        for node in sorted(self._scene.snapshot.nodes, key=lambda node: node.name):
            group_id = self._scene.membership.group_of(node.name)
            if group_id is None:
                self._stays(node, "", Stays(Unremovable.NOT_AUTOSCALED))
            elif node.uid not in going:
                yield node, groups[group_id]

    def _is_candidate(self, node: Node, group: NodeGroup) -> bool:
        stays = why_not_candidate(node, group, self._round.room(group), self._scene, self._ledger)
        if stays is None:
            return True
        self._stays(node, group.id, stays)
        if stays.reason is Unremovable.RECENTLY_UNREMOVABLE:
            self._cached.add(node.uid)
        return False

    def _in_order(self, candidates: list[tuple[Node, NodeGroup]]) -> list[tuple[Node, NodeGroup]]:
        """Empty ones first, then those that were unneeded before, so that verdicts do not flap; then by name (R106)."""
        before = self._scene.state.observations.unneeded
        return sorted(
            candidates,
            key=lambda c: (not self._departure(c[0]).is_empty, c[0].uid not in before, c[0].name),
        )

    def _departure(self, node: Node) -> Departure:
        context = DrainContext(self._scene.policy.shrink, self._scene.now, self._scene.snapshot.budgets)
        return departure(self._ledger.pods_on(node.name), context)

    def _simulate(self, node: Node, group: NodeGroup) -> Unneeded | None:
        leaving = self._departure(node)
        if leaving.blocked is not None:
            pod, reason = leaving.blocked
            self._fails(node, group, Stays(Unremovable.BLOCKED_BY_POD, f"{pod.key}: {reason.text}"))
            return None
        homeless = replace_pods(node.name, leaving.moving, self._ledger)
        if homeless is not None:
            self._fails(node, group, Stays(Unremovable.NO_PLACE_TO_MOVE_PODS, homeless.text))
            return None
        return Unneeded(node, group, leaving.moving, leaving.waits_for)

    @staticmethod
    def _empty_first(unneeded: list[Unneeded]) -> list[Unneeded]:
        return sorted(unneeded, key=lambda found: (bool(found.moving), found.node.name))

    def _decide(self, found: Unneeded) -> ShrinkOperation | None:
        stays = self._round.why_not_now(found)
        if stays is None and self._held:
            stays = Stays(Unremovable.OPERATION_IN_FLIGHT, self._held)
        if stays is None:
            return self._round.accept(found)
        self._stays(found.node, found.group.id, stays)
        return None

    def _fails(self, node: Node, group: NodeGroup, stays: Stays) -> None:
        self._cached.add(node.uid)
        self._stays(node, group.id, stays)

    def _stays(self, node: Node, group_id: str, stays: Stays) -> None:
        self._staying.append(NodeVerdict(node.name, node.uid, group_id, stays.reason, stays.detail))
