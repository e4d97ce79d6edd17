"""Which nodes may go."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.kinds import Count, Duration, Flagged, Fraction


class SelectionFields(Section):
    """Which nodes may go, and when."""

    section: ClassVar[str] = "Scale-down: which nodes may go"

    scale_down_enabled: Annotated[Flagged, About("F69", "Remove nodes that are not needed.")] = True
    scale_down_unready_enabled: Annotated[Flagged, About("F70", "Remove unready nodes too.")] = True
    scale_down_utilization_threshold: Annotated[
        Fraction, About("F71", "A node whose requests are at or below this share of what it offers may go.")
    ] = 0.5
    scale_down_gpu_utilization_threshold: Annotated[
        Fraction,
        About(
            "F72",
            "The same for nodes with GPUs, of which only the GPUs count.",
            not_yet="nodes with GPUs are measured by cores and memory like any other",
        ),
    ] = 0.5
    ignore_daemonsets_utilization: Annotated[
        Flagged, About("F73", "Leave DaemonSet pods out of a node's utilisation.")
    ] = False
    ignore_mirror_pods_utilization: Annotated[
        Flagged, About("F74", "Leave static pods out of a node's utilisation.")
    ] = False
    scale_down_unneeded_time: Annotated[
        Duration, About("F75", "How long a node must have been unneeded before it goes.")
    ] = timedelta(minutes=10)
    scale_down_unready_time: Annotated[Duration, About("F76", "The same for a node that is not ready.")] = timedelta(
        minutes=20
    )
    scale_down_delay_after_add: Annotated[
        Duration, About("F77", "No removal begins until this long after the last scale-up.")
    ] = timedelta(minutes=10)
    scale_down_delay_after_delete: Annotated[
        Duration, About("F78", "No removal begins until this long after the last one began.")
    ] = timedelta(0)
    scale_down_delay_after_failure: Annotated[
        Duration, About("F79", "No removal begins until this long after one failed.")
    ] = timedelta(minutes=3)
    scale_down_delay_type_local: Annotated[
        Flagged,
        About(
            "F80",
            "The three delays hold for the group concerned instead of for all.",
        ),
    ] = False
    unremovable_node_recheck_timeout: Annotated[
        Duration, About("F85", "A node that could not be emptied is not tried again for this long.")
    ] = timedelta(minutes=5)
    skip_nodes_with_system_pods: Annotated[
        Flagged,
        About("F86", "Keep nodes with pods of kube-system that no disruption budget covers, for a while (F87)."),
    ] = True
    blocking_system_pod_distruption_timeout: Annotated[
        Duration, About("F87", "Such pods keep a node no longer than this after their creation. (Spelt as upstream.)")
    ] = timedelta(hours=1)
    skip_nodes_with_local_storage: Annotated[
        Flagged, About("F88", "Keep nodes with pods that use hostPath or emptyDir volumes.")
    ] = True
    skip_nodes_with_custom_controller_pods: Annotated[
        Flagged, About("F89", "Keep nodes with pods whose controller is of an unknown kind.")
    ] = True
    min_replica_count: Annotated[
        Count,
        About(
            "F90",
            "Keep nodes with pods whose ReplicaSet asks for fewer replicas.",
            "pods",
            not_yet="replicas are not counted; a PodDisruptionBudget protects such pods",
        ),
    ] = 0
