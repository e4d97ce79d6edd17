"""Pending pods, the choice of the group that grows, and what happens until the new nodes are ready."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from exoscaler.core.policy import ExpanderName
from exoscaler.settings.composite import Expanders
from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.kinds import (
    Count,
    Duration,
    Flagged,
    Fraction,
    Integer,
    Kind,
    Names,
    Percentage,
    PositiveDuration,
    Texts,
    one_of,
)

Estimator = Annotated[str, Kind("text", one_of("binpacking"))]

_BALANCING = "similar node groups are not balanced"


class PendingPodFields(Section):
    """Which pods ask for nodes."""

    section: ClassVar[str] = "Pending pods"

    expendable_pods_priority_cutoff: Annotated[
        Integer, About("F31", "Pods of a lower priority than this neither make a group grow nor keep a node.")
    ] = -10
    new_pod_scale_up_delay: Annotated[
        Duration, About("F32", "Pods younger than this do not make a group grow. A pod's annotation may only raise it.")
    ] = timedelta(0)
    bypassed_scheduler_names: Annotated[
        Names,
        About(
            "F33",
            "Pods of these schedulers count as pending before the scheduler has looked at them.",
            not_yet="a pod counts as pending once its scheduler has found no place for it",
        ),
    ] = ()
    allowed_scheduler_names: Annotated[
        Names,
        About("F34", "Look only at pods of these schedulers.", not_yet="pods of every scheduler are looked at"),
    ] = ()


class ScaleUpFields(Section):
    """Which group grows, and by how much."""

    section: ClassVar[str] = "Scale-up"

    estimator: Annotated[Estimator, About("F40", "How the number of nodes is found; there is one way.")] = "binpacking"
    expander: Annotated[
        Expanders,
        About(
            "F41",
            "How to choose among groups that could grow: random, most-pods, least-waste, least-nodes. Several are "
            "asked in this order until one group is left.",
        ),
    ] = (ExpanderName.LEAST_WASTE,)
    max_nodes_per_scaleup: Annotated[
        Count, About("F43", "Most nodes that are planned for one group at once; a guard of the time it takes.", "nodes")
    ] = 1000
    balance_similar_node_groups: Annotated[
        Flagged, About("F50", "Spread a scale-up over groups with like nodes.", not_yet=_BALANCING)
    ] = False
    balancing_ignore_label: Annotated[
        Texts, About("F51", "A label that does not count when groups are compared.", not_yet=_BALANCING)
    ] = ()
    balancing_label: Annotated[Texts, About("F52", "Compare groups by exactly these labels.", not_yet=_BALANCING)] = ()
    memory_difference_ratio: Annotated[
        Fraction, About("F53", "How far the memory of like groups may differ.", not_yet=_BALANCING)
    ] = 0.015
    max_allocatable_difference_ratio: Annotated[
        Fraction, About("F54", "How far the allocatable resources of like groups may differ.", not_yet=_BALANCING)
    ] = 0.05
    max_free_difference_ratio: Annotated[
        Fraction, About("F55", "How far the free resources of like groups may differ.", not_yet=_BALANCING)
    ] = 0.05


class NodeStartFields(Section):
    """New nodes, unwell nodes, groups that fail to grow."""

    section: ClassVar[str] = "Node start-up and health"

    max_node_provision_time: Annotated[
        PositiveDuration, About("F60", "How long an instance may take to become a ready node before it is given up.")
    ] = timedelta(minutes=15)
    max_node_startup_time: Annotated[
        PositiveDuration, About("F61", "How long a new node may be unready before it counts as unwell.")
    ] = timedelta(minutes=15)
    max_total_unready_percentage: Annotated[
        Percentage,
        About("F62", "More unready nodes than this, and than `--ok-total-unready-count`, stop all scaling.", "percent"),
    ] = 45.0
    ok_total_unready_count: Annotated[
        Count, About("F63", "This many unready nodes never stop scaling, whatever their share.", "nodes")
    ] = 3
    initial_node_group_backoff_duration: Annotated[
        Duration, About("F64", "How long a group that failed to grow is left alone the first time.")
    ] = timedelta(minutes=5)
    max_node_group_backoff_duration: Annotated[
        Duration, About("F65", "The time doubles with each failure that follows, up to this.")
    ] = timedelta(minutes=30)
    node_group_backoff_reset_timeout: Annotated[
        Duration, About("F66", "After this long without a failure the next one counts as the first.")
    ] = timedelta(hours=3)
