"""From settings to the policy that the core decides by."""

from __future__ import annotations

from datetime import timedelta

from exoscaler.core.policy import (
    GrowthPolicy,
    HealthPolicy,
    PacePolicy,
    Policy,
    ShrinkPolicy,
    StartupTaints,
)
from exoscaler.settings.model import Settings


def policy_of(settings: Settings, provider_id_prefix: str) -> Policy:
    """The policy that these settings ask for.

    `provider_id_prefix` is the cloud's: what precedes an instance id in a node's provider id.
    """
    return Policy(
        provider_id_prefix=provider_id_prefix,
        bounds=settings.nodes,
        scale_to_zero=settings.scale_to_zero,
        taints=_taints(settings),
        growth=_growth(settings),
        shrink=_shrink(settings),
        health=HealthPolicy(
            max_total_unready_percentage=settings.max_total_unready_percentage,
            ok_total_unready_count=settings.ok_total_unready_count,
            longest_silence=min(settings.max_inactivity, settings.max_failing_time),
        ),
        pace=_pace(settings),
    )


def _taints(settings: Settings) -> StartupTaints:
    known = StartupTaints()
    return StartupTaints(
        keys=frozenset(settings.startup_taint),
        prefixes=(*known.prefixes, *settings.startup_taint_prefix),
        status_keys=frozenset(settings.status_taint),
        status_prefixes=known.status_prefixes,
    )


def _growth(settings: Settings) -> GrowthPolicy:
    return GrowthPolicy(
        max_nodes_total=settings.max_nodes_total,
        cores=settings.cores_total,
        memory=settings.memory_total_bytes,
        max_nodes_per_scaleup=settings.max_nodes_per_scaleup,
        expanders=settings.expander,
        expendable_priority_cutoff=settings.expendable_pods_priority_cutoff,
        new_pod_delay=settings.new_pod_scale_up_delay,
        enforce_min_size=settings.enforce_node_group_min_size,
        max_node_provision_time=settings.max_node_provision_time,
        max_node_startup_time=settings.max_node_startup_time,
        initial_backoff=settings.initial_node_group_backoff_duration,
        max_backoff=settings.max_node_group_backoff_duration,
        backoff_reset=settings.node_group_backoff_reset_timeout,
    )


def _shrink(settings: Settings) -> ShrinkPolicy:
    return ShrinkPolicy(
        enabled=settings.scale_down_enabled,
        unready_enabled=settings.scale_down_unready_enabled,
        utilization_threshold=settings.scale_down_utilization_threshold,
        ignore_daemonsets_utilization=settings.ignore_daemonsets_utilization,
        ignore_mirror_pods_utilization=settings.ignore_mirror_pods_utilization,
        unneeded_time=settings.scale_down_unneeded_time,
        unready_time=settings.scale_down_unready_time,
        delay_after_add=settings.scale_down_delay_after_add,
        delay_after_delete=settings.scale_down_delay_after_delete,
        delay_after_failure=settings.scale_down_delay_after_failure,
        delay_is_local=settings.scale_down_delay_type_local,
        unremovable_recheck=settings.unremovable_node_recheck_timeout,
        skip_nodes_with_system_pods=settings.skip_nodes_with_system_pods,
        blocking_system_pod_timeout=settings.blocking_system_pod_distruption_timeout,
        skip_nodes_with_local_storage=settings.skip_nodes_with_local_storage,
        skip_nodes_with_custom_controller_pods=settings.skip_nodes_with_custom_controller_pods,
        max_parallelism=settings.max_scale_down_parallelism,
        max_drain_parallelism=settings.max_drain_parallelism,
        cordon=settings.cordon_node_before_terminating,
        delay_after_taint=settings.node_delete_delay_after_taint,
        max_graceful_termination=timedelta(seconds=settings.max_graceful_termination_sec),
        max_pod_eviction_time=settings.max_pod_eviction_time,
        daemonset_eviction_for_empty_nodes=settings.daemonset_eviction_for_empty_nodes,
        daemonset_eviction_for_occupied_nodes=settings.daemonset_eviction_for_occupied_nodes,
        node_deletion_delay_timeout=settings.node_deletion_delay_timeout,
    )


def _pace(settings: Settings) -> PacePolicy:
    return PacePolicy(
        min_evaluation_interval=settings.min_evaluation_interval,
        evaluation_period=settings.evaluation_period,
        cache_ttl=settings.node_group_cache_ttl,
        decision_max_age=settings.decision_max_age,
        invocation_budget=settings.invocation_budget,
        claim_ttl=settings.claim_ttl,
        operation_poll_interval=settings.operation_poll_interval,
        operation_timeout=settings.operation_timeout,
        ended_operations_kept=settings.ended_operations_kept,
    )
