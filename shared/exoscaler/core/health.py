"""Whether the cluster is well enough to be changed (R39)."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.core.scene import Scene


@dataclass(frozen=True, slots=True)
class ClusterHealth:
    """How many managed nodes are unready for longer than a start takes, of how many."""

    unready: int
    registered: int
    healthy: bool


def cluster_health(scene: Scene) -> ClusterHealth:
    """Count the managed nodes that are not ready, those still starting aside.

    Unhealthy when more than ``ok-total-unready-count`` of them and more than ``max-total-unready-percentage`` are. Only
    nodes of managed groups are looked at: a broken machine that exoscaler cannot replace anyway must not stop it
    from looking after the others.
    """
    policy = scene.policy
    nodes = [node for members in scene.membership.nodes_by_group.values() for node in members]
    startup = policy.growth.max_node_startup_time
    unready = sum(1 for node in nodes if not node.is_ready and node.created_at + startup <= scene.now)
    too_many = unready > policy.health.ok_total_unready_count
    too_large_a_share = unready * 100 > policy.health.max_total_unready_percentage * len(nodes)
    return ClusterHealth(unready, len(nodes), not (too_many and too_large_a_share))
