"""How nodes are drained and removed."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from exoscaler.settings.composite import DrainPriorities
from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.kinds import Count, Duration, Flagged, PositiveCount


class ActuationFields(Section):
    """How nodes are drained and removed."""

    section: ClassVar[str] = "Scale-down: how nodes go"

    max_scale_down_parallelism: Annotated[
        PositiveCount, About("F91", "Most nodes on their way out at once.", "nodes")
    ] = 10
    max_drain_parallelism: Annotated[
        PositiveCount, About("F92", "Most of them that still have pods to move.", "nodes")
    ] = 1
    cordon_node_before_terminating: Annotated[
        Flagged, About("F98", "Mark a node unschedulable, besides the taint, before it is drained.")
    ] = True
    node_delete_delay_after_taint: Annotated[
        Duration, About("F101", "Wait this long after the taint, then look again whether the node may still go.")
    ] = timedelta(seconds=5)
    max_graceful_termination_sec: Annotated[
        Count, About("F103", "Longest time a pod gets to end. 0 leaves it to the pod.", "seconds")
    ] = 600
    drain_priority_config: Annotated[
        DrainPriorities,
        About(
            "F104",
            "Evict pods in groups, lowest priority first, each with its own time to end. Not together with "
            "`--max-graceful-termination-sec`.",
            not_yet="pods are evicted together, with the same time to end",
        ),
    ] = ()
    max_pod_eviction_time: Annotated[
        Duration, About("F105", "How long to try to evict a pod before the node is kept.")
    ] = timedelta(minutes=2)
    daemonset_eviction_for_empty_nodes: Annotated[
        Flagged, About("F106", "Evict DaemonSet pods from nodes that have no other pods.")
    ] = False
    daemonset_eviction_for_occupied_nodes: Annotated[
        Flagged, About("F107", "Evict DaemonSet pods from nodes that have other pods.")
    ] = True
    node_deletion_delay_timeout: Annotated[
        Duration, About("F108", "How long a delay-deletion annotation may hold a drained node. 0 does not wait.")
    ] = timedelta(minutes=2)
