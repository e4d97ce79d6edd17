"""Which nodes may be looked at for removal, and why the others stay (R106, R110-R116)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from exoscaler.core.model import Node, NodeGroup, PoolState
from exoscaler.core.model.nodes import SCALE_DOWN_DISABLED
from exoscaler.core.reasons import Unremovable
from exoscaler.core.scaledown.headcount import floor, leaving_instances, spare
from exoscaler.core.scaledown.timers import counts_as_ready
from exoscaler.core.scaledown.utilization import utilization_of
from exoscaler.core.scene import Scene
from exoscaler.core.scheduling import Ledger, Origin
from exoscaler.core.scheduling.readiness import is_young
from exoscaler.core.state import StayingNode

FOREIGN_TAINT_LIFETIME = timedelta(minutes=5)
"""How long a deletion taint that is not ours is taken at its word (R113)."""


@dataclass(frozen=True, slots=True)
class Stays:
    """Why a node stays."""

    reason: Unremovable
    detail: str = ""


class Candidates:
    """Judges nodes of managed groups by themselves, one after the other.

    A node that is no candidate loses its time (R124). So only what speaks against the node itself, or will last, is
    asked here; what only forbids to act for now is asked of the unneeded ones, whose time goes on meanwhile.
    """

    def __init__(self, scene: Scene, ledger: Ledger) -> None:
        self._scene = scene
        self._ledger = ledger
        self._leaving = leaving_instances(scene.state.operations)
        prefix = scene.policy.provider_id_prefix
        self._claims = Counter(node.instance_id(prefix) for node in scene.snapshot.nodes)

    def why_not(self, node: Node, group: NodeGroup) -> Stays | None:
        """The first reason not to look at the node any further; None when it is a candidate."""
        return (
            self._not_ours(node)
            or self._held_by_group(group)
            or self._cached(self._scene.state.observations.staying.get(node.uid))
            or self._marked(node)
            or self._not_judgeable(node)
            or self._overused(node)
        )

    def _not_ours(self, node: Node) -> Stays | None:
        if node.is_control_plane:
            return Stays(Unremovable.NOT_AUTOSCALED, "it belongs to the control plane")
        instance = node.instance_id(self._scene.policy.provider_id_prefix)
        if self._claims[instance] > 1:
            # To remove the instance would take the pods of the other node with it.
            return Stays(Unremovable.INSTANCE_SHARED, f"instance {instance}")
        return None

    def _held_by_group(self, group: NodeGroup) -> Stays | None:
        policy = self._scene.policy
        if spare(group, self._leaving, policy) <= 0:
            members = len(group.pool.members)
            detail = f"{members} of {group.pool.size} members, minimum {floor(group, policy)}"
            return Stays(Unremovable.GROUP_MIN_SIZE_REACHED, detail)
        if group.pool.state in (PoolState.BLOCKED, PoolState.GOING):
            return Stays(Unremovable.POOL_BLOCKED, f"the pool is {group.pool.state_text}")
        return None

    def _cached(self, known: StayingNode | None) -> Stays | None:
        """A verdict of a simulation holds for a while (R112, R119); its first reason stays readable."""
        if known is None or known.until is None or known.until <= self._scene.now:
            return None
        if known.reason is Unremovable.RECENTLY_UNREMOVABLE:
            return Stays(known.reason, known.detail)
        return Stays(Unremovable.RECENTLY_UNREMOVABLE, f"{known.reason.value}: {known.detail}")

    def _marked(self, node: Node) -> Stays | None:
        taint = node.deletion_taint
        if taint is not None and _is_fresh(taint.value, self._scene.now):
            return Stays(Unremovable.CURRENTLY_BEING_DELETED, f"{taint.key}={taint.value}")
        if node.annotations.get(SCALE_DOWN_DISABLED) == "true":
            return Stays(Unremovable.SCALE_DOWN_DISABLED, SCALE_DOWN_DISABLED)
        return None

    def _not_judgeable(self, node: Node) -> Stays | None:
        """A node that is still starting is not what it will be; the ledger has it as its template (R38)."""
        policy = self._scene.policy
        ready = counts_as_ready(node, policy)
        if not ready and is_young(node, policy, self._scene.now):
            return Stays(Unremovable.STILL_STARTING, "not ready yet")
        if self._ledger.at(node.name).origin is not Origin.EXISTING:
            return Stays(Unremovable.STILL_STARTING, "it lacks a resource that nodes of its group have")
        if not ready and not policy.shrink.unready_enabled:
            return Stays(Unremovable.SCALE_DOWN_UNREADY_DISABLED)
        return None

    def _overused(self, node: Node) -> Stays | None:
        """Pods promised to the node in this evaluation count like those that run there."""
        policy = self._scene.policy.shrink
        utilization = utilization_of(node, self._ledger.pods_on(node.name), policy, self._scene.now)
        if utilization is None:
            return Stays(Unremovable.NO_UTILIZATION)
        if utilization.exceeds(policy.utilization_threshold):
            return Stays(Unremovable.NOT_UNDERUTILIZED, utilization.text)
        return None


def _is_fresh(value: str, now: datetime) -> bool:
    """Whether a deletion taint of this value is young; one whose value is no time says nothing (R113)."""
    if not value.isascii() or not value.isdigit():
        return False
    return now.timestamp() - int(value) < FOREIGN_TAINT_LIFETIME.total_seconds()
