"""Nodes that a removal left tainted after the state was lost."""

from __future__ import annotations

from exoscaler.core.model import Node
from exoscaler.core.model.nodes import CORDONED_MARK, OPERATION_MARK
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.reasons import RollbackReason
from exoscaler.core.scene import Scene


def orphans(scene: Scene) -> tuple[ShrinkOperation, ...]:
    """An operation that undoes the taint of each node that carries our mark while no operation knows of it.

    Only nodes with our annotation: a taint that somebody else set is theirs. The node may be half drained; what matters
    is that it takes pods again, and its time begins anew.
    """
    known = {operation.node_uid for operation in scene.state.operations.shrinking}
    found = (
        n for nodes in scene.membership.nodes_by_group.values() for n in nodes if _is_ours(n) and n.uid not in known
    )
    return tuple(_undoing(node, scene) for node in sorted(found, key=lambda node: node.name))


def _is_ours(node: Node) -> bool:
    return node.deletion_taint is not None and OPERATION_MARK in node.annotations


def _undoing(node: Node, scene: Scene) -> ShrinkOperation:
    group_id = scene.membership.group_by_node[node.name]
    return ShrinkOperation(
        id=f"{scene.decision_id}-undo-{node.uid}",
        group_id=group_id,
        group_name=scene.state.node_groups.groups[group_id].name,
        decision_id=scene.decision_id,
        node_name=node.name,
        node_uid=node.uid,
        instance_id=node.instance_id(scene.policy.provider_id_prefix) or "",
        mode=ShrinkMode.DRAIN,
        planned_at=scene.now,
        phase=ShrinkPhase.ROLLING_BACK,
        phase_since=scene.now,
        taint_value=node.deletion_taint.value if node.deletion_taint else "",
        cordons=node.annotations.get(CORDONED_MARK) == "true",
        rollback=RollbackReason.STATE_LOST,
    )
