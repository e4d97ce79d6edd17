"""Node groups and their bounds, limits of the whole cluster, taints of nodes that are starting."""

from __future__ import annotations

from typing import Annotated, ClassVar

from exoscaler.core.policy import ResourceLimits
from exoscaler.settings.composite import GpuTotals, Limits, Nodes
from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.identifiers import Uuid
from exoscaler.settings.kinds import Count, Flagged, Texts


class NodeGroupFields(Section):
    """Which groups there are and how far they may go."""

    section: ClassVar[str] = "Node groups"

    nodes: Annotated[
        Nodes,
        About(
            "F18",
            "Bounds of one node group, named by its nodepool or pool name or its id. A group without bounds has at "
            "least 1 node and at most what the account's instance quota allows. A minimum of 0 or less counts as 1 "
            "unless `--scale-to-zero` is set.",
        ),
    ] = ()
    scale_to_zero: Annotated[
        Flagged, About("", "Allow groups without any node: a minimum of 0 is then kept as it is.")
    ] = False
    sks_cluster_id: Annotated[
        Uuid,
        About(
            "",
            "The SKS cluster to scale. Without it, the clusters that own a node of this Kubernetes cluster.",
            variables=("EXOSCALE_SKS_CLUSTER_ID",),
        ),
    ] = None
    enforce_node_group_min_size: Annotated[
        Flagged,
        About("F20", "Grow groups that are below their minimum although no pod needs it. Upstream leaves this off."),
    ] = True
    scale_up_from_zero: Annotated[
        Flagged,
        About(
            "F21",
            "Scale a cluster that has no ready node.",
            not_yet="clusters without a ready node are scaled like any other",
        ),
    ] = True
    force_ds: Annotated[
        Flagged,
        About(
            "F25",
            "Reserve room on new nodes for DaemonSets that have no pod on the sample node.",
            not_yet="new nodes are planned with the DaemonSet pods that the group's nodes run",
        ),
    ] = False


class LimitFields(Section):
    """Bounds of the whole cluster."""

    section: ClassVar[str] = "Limits of the cluster"

    max_nodes_total: Annotated[
        Count,
        About("F26", "Most nodes in the cluster, those outside of any group included. 0 means no limit.", "nodes"),
    ] = 0
    cores_total: Annotated[Limits, About("F27", "Fewest and most cores in the cluster.", "cores")] = ResourceLimits(
        0, 320_000
    )
    memory_total: Annotated[Limits, About("F28", "Least and most memory in the cluster.", "GiB")] = ResourceLimits(
        0, 6_400_000
    )
    gpu_total: Annotated[
        GpuTotals,
        About(
            "F29",
            "Fewest and most GPUs of one type, by the value of the GPU label.",
            "GPUs",
            not_yet="GPUs are not limited by type; bound the groups that have them with --nodes",
        ),
    ] = ()


class TaintFields(Section):
    """Taints that nodes carry for a while."""

    section: ClassVar[str] = "Taints of starting nodes"

    startup_taint: Annotated[
        Texts, About("F37", "Key of a taint that nodes carry until they are ready for pods. New nodes come without it.")
    ] = ()
    startup_taint_prefix: Annotated[
        Texts, About("F38", "The same for every key that begins like this, besides the usual prefixes.")
    ] = ()
    status_taint: Annotated[
        Texts, About("F39", "Key of a taint that only reports something: the node is ready, new nodes come without it.")
    ] = ()
