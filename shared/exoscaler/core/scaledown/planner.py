"""Planning removals: judge every node, simulate those that could go, accept those that go now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from exoscaler.core.model import Node, NodeGroup
from exoscaler.core.operations.model import ShrinkOperation
from exoscaler.core.plan import GrowthPlan, NodeVerdict, ShrinkPlan
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.candidates import Candidates, Stays
from exoscaler.core.scaledown.departure import Departure, departure
from exoscaler.core.scaledown.drainability import DrainContext
from exoscaler.core.scaledown.orphans import orphans
from exoscaler.core.scaledown.pod_view import pod_view
from exoscaler.core.scaledown.replacement import Relocation
from exoscaler.core.scaledown.round import Round, Unneeded, budgets_after
from exoscaler.core.scaledown.unregistered import long_unregistered
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger

MOST_SIMULATED = 500
"""How many nodes one evaluation tries to empty; what was tried in vain is not tried again for a while (R119), so the
next evaluations get to the others."""

SWITCHED_OFF = "scale-down-enabled is off"


def plan_shrink(scene: Scene, ledger: Ledger, growth: GrowthPlan) -> ShrinkPlan:
    """Decide which nodes are unneeded and which of them go now.

    Enters into `ledger` where the pods of unneeded nodes would go: the simulation is cumulative, so that two removals
    never count on the same hole (R118). Each node that does not go gets a verdict, those aside that are going already.

    Cool-downs and busy pools forbid to act, not to judge: the unneeded times go on meanwhile (R105). A doubtful list of
    pods forbids both, and then the plan says that nothing was judged. With scale-down switched off nothing is judged
    either, and the times are lost (R69). Nodes that were left marked when the state was lost are given back, and
    instances that never became nodes removed, in any case.
    """
    undone = orphans(scene)
    if not scene.policy.shrink.enabled:
        never = long_unregistered(scene, ())
        return ShrinkPlan(operations=(*undone, *never), held=SWITCHED_OFF)
    view = pod_view(scene)
    if not view.complete:
        return ShrinkPlan(operations=undone, held=view.doubt, judged=False)
    return _Planning(scene, ledger, growth).plan(undone)


class _Planning:
    """One planning; collects verdicts while it goes."""

    def __init__(self, scene: Scene, ledger: Ledger, growth: GrowthPlan) -> None:
        self._scene = scene
        self._ledger = ledger
        self._candidates = Candidates(scene, ledger)
        self._round = Round(scene, growth)
        self._budgets = budgets_after(scene)
        self._staying: list[NodeVerdict] = []
        self._cached: set[str] = set()

    def plan(self, undone: tuple[ShrinkOperation, ...]) -> ShrinkPlan:
        """Judge, simulate, accept."""
        going = {op.node_uid for op in (*self._scene.state.operations.shrinking, *undone)}
        candidates = [(n, g) for n, g in self._managed(going) if self._is_candidate(n, g)]
        relocation = Relocation(self._ledger, last=frozenset(node.name for node, _ in candidates))
        unneeded = self._simulate_all(self._in_order(candidates), relocation)
        operations = tuple(op for node in _empty_first(unneeded) if (op := self._decide(node)))
        never = long_unregistered(self._scene, operations)
        return ShrinkPlan(
            operations=(*undone, *operations, *never),
            unneeded=tuple((node.node.uid, node.node.name) for node in unneeded),
            staying=tuple(sorted(self._staying, key=lambda verdict: verdict.node_name)),
            cached=frozenset(self._cached),
            held=self._round.held,
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
        stays = self._candidates.why_not(node, group)
        if stays is None:
            return True
        self._stays(node, group.id, stays)
        if stays.reason is Unremovable.RECENTLY_UNREMOVABLE:
            self._cached.add(node.uid)
        return False

    def _in_order(self, candidates: Iterable[tuple[Node, NodeGroup]]) -> list[tuple[Node, NodeGroup]]:
        """The order in which nodes take places from each other (R106).

        Empty ones first. Then those that can go as soon as their time is up before those that must wait for their pool
        or for a pod: who waits for long must not hold places that others could use. Then those that were unneeded
        before, so that verdicts do not flap; then by name.
        """
        before = self._scene.state.observations.unneeded

        def rank(candidate: tuple[Node, NodeGroup]) -> tuple[bool, bool, bool, str]:
            node, group = candidate
            leaving = self._departure(node)
            is_empty = not leaving.moving and leaving.blocked is None
            must_wait = leaving.waits_for is not None or group.is_stale or not group.pool.state.accepts_changes
            return not is_empty, must_wait, node.uid not in before, node.name

        return sorted(candidates, key=rank)

    def _departure(self, node: Node) -> Departure:
        context = DrainContext(self._scene.policy.shrink, self._scene.now, self._budgets)
        return departure(self._ledger.pods_on(node.name), context)

    def _simulate_all(self, candidates: list[tuple[Node, NodeGroup]], relocation: Relocation) -> list[Unneeded]:
        """Empty one node after the other, until there are enough for this and the next evaluations (R121).

        Those that were unneeded before are always tried, so that none loses its time for want of effort. The others
        wait for a later evaluation, which finds these gone or known.
        """
        before = self._scene.state.observations.unneeded
        enough = len(before) + 2 * self._scene.policy.shrink.max_parallelism
        unneeded: list[Unneeded] = []
        for number, (node, group) in enumerate(candidates):
            effort_is_spent = len(unneeded) >= enough or number >= MOST_SIMULATED
            if effort_is_spent and node.uid not in before:
                self._stays(node, group.id, Stays(Unremovable.NOT_REACHED))
                continue
            found = self._simulate(node, group, relocation)
            if found is not None:
                unneeded.append(found)
        return unneeded

    def _simulate(self, node: Node, group: NodeGroup, relocation: Relocation) -> Unneeded | None:
        """Empty the node in the ledgers; None, and a verdict, when that is impossible."""
        leaving = self._departure(node)
        if leaving.blocked is not None:
            self._fails(node, group, Stays(Unremovable.BLOCKED_BY_POD, leaving.blocked.text))
            return None
        homeless = relocation.empty(node.name, leaving.moving)
        if homeless is not None:
            self._fails(node, group, Stays(Unremovable.NO_PLACE_TO_MOVE_PODS, homeless.text))
            return None
        # A pod that has only been promised the node need not be evicted from it.
        self._budgets.spend(pod for pod in leaving.moving if pod.is_bound)
        return Unneeded(node, group, leaving.moving, leaving.waits_for)

    def _decide(self, unneeded: Unneeded) -> ShrinkOperation | None:
        stays = self._round.why_not_now(unneeded)
        if stays is None:
            return self._round.accept(unneeded)
        self._stays(unneeded.node, unneeded.group.id, stays)
        return None

    def _fails(self, node: Node, group: NodeGroup, stays: Stays) -> None:
        self._cached.add(node.uid)
        self._stays(node, group.id, stays)

    def _stays(self, node: Node, group_id: str, stays: Stays) -> None:
        self._staying.append(NodeVerdict(node.name, node.uid, group_id, stays.reason, stays.detail))


def _empty_first(unneeded: Iterable[Unneeded]) -> list[Unneeded]:
    return sorted(unneeded, key=lambda found: (bool(found.moving), found.node.name))
