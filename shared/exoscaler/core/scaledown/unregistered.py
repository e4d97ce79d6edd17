"""Instances that have been members of a pool for too long without ever being a node (R42)."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.core.model import NodeGroup
from exoscaler.core.operations.model import ShrinkMode, ShrinkOperation, ShrinkPhase
from exoscaler.core.scaledown.cooldown import held_after_failure
from exoscaler.core.scaledown.headcount import instances_of, leaving_instances, spare
from exoscaler.core.scene import Scene


def long_unregistered(scene: Scene, planned: Iterable[ShrinkOperation]) -> tuple[ShrinkOperation, ...]:
    """A removal for each such instance, as many as the minimum of its group allows, in order of instance id.

    `planned` are the removals of this evaluation. A growth in flight looks after its own instances. While not a single
    node of any managed group is registered the cluster's view is doubted rather than the instances: nothing is removed.
    After a removal failed, its group is left alone for ``scale-down-delay-after-failure``.
    """
    if not any(scene.membership.nodes_by_group.values()):
        return ()
    operations = scene.state.operations
    leaving = leaving_instances(operations) | instances_of(planned)
    known = leaving | {operation.instance_id for operation in operations.shrinking}
    growing = {operation.group_id for operation in operations.growing if not operation.ended}
    found: list[ShrinkOperation] = []
    for group in scene.groups:
        if group.is_stale or group.id in growing or held_after_failure(scene, group.id):
            continue
        overdue = [i for i in scene.membership.unregistered[group.id] if i not in known and _is_overdue(i, scene)]
        room = max(0, spare(group, leaving, scene.policy))
        found += [_removal(instance, group, scene) for instance in overdue[:room]]
    return tuple(found)


def _is_overdue(instance: str, scene: Scene) -> bool:
    since = scene.state.observations.unregistered.get(instance)
    return since is not None and since + scene.policy.growth.max_node_provision_time < scene.now


def _removal(instance: str, group: NodeGroup, scene: Scene) -> ShrinkOperation:
    return ShrinkOperation(
        id=f"{scene.decision_id}-never-{instance}",
        group_id=group.id,
        group_name=group.name,
        decision_id=scene.decision_id,
        node_name="",
        node_uid="",
        instance_id=instance,
        mode=ShrinkMode.NEVER_REGISTERED,
        planned_at=scene.now,
        phase=ShrinkPhase.DRAINED,
        phase_since=scene.now,
    )
