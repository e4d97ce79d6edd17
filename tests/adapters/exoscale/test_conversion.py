from __future__ import annotations

import json
from typing import Any

import pytest

from exoscaler.adapters.exoscale import conversion, wire
from exoscaler.adapters.exoscale.clusters import ListedNodepool
from exoscaler.core.model import GroupKind, PoolState, Quota, Taint, TaintEffect, TroubleKind
from exoscaler.core.operations.model import CloudOperationState
from exoscaler.errors import Unavailable
from tests.adapters.exoscale.api import nodepool_json, pool_json, uid


def pool(**fields: Any) -> wire.InstancePool:
    return wire.read(json.dumps(pool_json(**fields)).encode(), wire.InstancePool)


def nodepool(**fields: Any) -> wire.Nodepool:
    return wire.read(json.dumps(nodepool_json(**fields)).encode(), wire.Nodepool)


def listed(**fields: Any) -> ListedNodepool:
    return ListedNodepool(uid("cluster"), "prod", nodepool(**fields))


STATES = [
    ("running", "running", PoolState.RUNNING),
    ("degraded", "running", PoolState.DEGRADED),
    ("running", "degraded", PoolState.DEGRADED),
    ("scaling", "running", PoolState.BUSY),
    ("scaling", "scaling-up", PoolState.SCALING_UP),
    ("scaling", "scaling-down", PoolState.SCALING_DOWN),
    ("running", "scaling-up", PoolState.SCALING_UP),
    ("updating", "scaling-up", PoolState.SCALING_UP),
    ("renewing-token", "running", PoolState.BUSY),
    ("creating", "running", PoolState.BUSY),
    ("running", "creating", PoolState.BUSY),
    ("running", "updating", PoolState.BUSY),
    ("running", "suspended", PoolState.BLOCKED),
    ("error", "running", PoolState.BLOCKED),
    ("error", "scaling-up", PoolState.BLOCKED),
    ("deleting", "running", PoolState.GOING),
    ("error", "destroying", PoolState.GOING),
    ("hibernating", "running", PoolState.UNKNOWN),
    ("running", "hibernating", PoolState.UNKNOWN),
    ("error", "hibernating", PoolState.BLOCKED),
    (None, "running", PoolState.UNKNOWN),
    ("running", None, PoolState.UNKNOWN),
]


@pytest.mark.parametrize(("nodepool_state", "pool_state", "expected"), STATES)
def test_worse_of_nodepool_and_pool_state_counts(
    nodepool_state: str | None, pool_state: str | None, expected: PoolState
) -> None:
    found = conversion.pool(pool(state=pool_state), nodepool(state=nodepool_state))

    assert found.state is expected


def test_every_published_state_is_known() -> None:
    for state in ("creating", "destroying", "running", "scaling-down", "scaling-up", "suspended", "updating"):
        assert conversion.pool(pool(state=state)).state is not PoolState.UNKNOWN
    for state in ("creating", "degraded", "deleting", "error", "renewing-token", "running", "scaling", "updating"):
        assert conversion.pool(pool(), nodepool(state=state)).state is not PoolState.UNKNOWN


def test_state_text_names_both_where_they_differ() -> None:
    assert conversion.pool(pool(), nodepool()).state_text == "running"
    assert conversion.pool(pool(state="scaling-up"), nodepool(state="scaling")).state_text == (
        "nodepool scaling, pool scaling-up"
    )


def test_unknown_state_is_reported() -> None:
    found, above = pool(state="hibernating"), listed(state="dreaming")

    troubles = list(conversion.oddities(conversion.sks_group(above, found), found, above.nodepool))

    assert [trouble.kind for trouble in troubles] == [TroubleKind.STATE_UNKNOWN] * 2
    assert {trouble.subject for trouble in troubles} == {uid("pool")}
    assert "'hibernating'" in troubles[0].detail
    assert "nodepool-1" in troubles[0].detail


# A size below the target makes the cloud delete members of its own choosing, so the target is never underestimated.
def test_larger_of_two_sizes_counts() -> None:
    assert conversion.pool(pool(size=2), nodepool(size=5)).size == 5
    assert conversion.pool(pool(size=5), nodepool(size=2)).size == 5


def test_pool_scaled_to_zero_is_an_ordinary_pool() -> None:
    assert conversion.pool(pool(size=0, members=())).size == 0
    assert conversion.pool(pool(size=None, members=(), instances=None)).members == ()


@pytest.mark.parametrize(
    "fields", [{"size": None}, {"size": -1}, {"instances": [{"id": None}]}], ids=["no size", "negative", "nameless"]
)
def test_pool_whose_size_or_members_cannot_be_told_is_unreadable(fields: dict[str, Any]) -> None:
    with pytest.raises(Unavailable, match="not understood"):
        conversion.pool(pool(**fields))


def test_ids_come_out_in_lower_case_and_sorted() -> None:
    found = conversion.pool(pool(instances=[{"id": uid("instance", 2).upper()}, {"id": uid("instance", 1).upper()}]))

    assert found.members == (uid("instance", 1), uid("instance", 2))


def test_sks_group_carries_what_a_new_node_would_look_like() -> None:
    above = listed(
        labels={"tier": "web"},
        taints={"dedicated": {"value": "gpu", "effect": "NoExecute"}, "soft": {"effect": "PreferNoSchedule"}},
        **{"kubelet-max-pods": 60},
    )

    group = conversion.sks_group(above, pool(**{"min-available": 2}))

    assert (group.id, group.kind, group.name) == (uid("pool"), GroupKind.SKS_NODEPOOL, "nodepool-1")
    assert (group.nodepool_id, group.cluster_id, group.cluster_name) == (uid("nodepool"), uid("cluster"), "prod")
    assert dict(group.description.labels) == {"tier": "web", "node.exoscale.net/nodepool-id": uid("nodepool")}
    assert group.description.taints == (
        Taint("dedicated", TaintEffect.NO_EXECUTE, "gpu"),
        Taint("soft", TaintEffect.PREFER_NO_SCHEDULE),
    )
    assert (group.description.instance_type_id, group.description.disk_gib) == (uid("type"), 50)
    assert (group.description.max_pods, group.min_available) == (60, 2)


def test_labels_of_a_standalone_pool_are_not_those_of_its_nodes() -> None:
    group = conversion.standalone_group(pool(labels={"team": "a"}, **{"disk-size": 20}))

    assert (group.kind, group.name, group.description.disk_gib) == (GroupKind.INSTANCE_POOL, "pool-1", 20)
    assert not group.description.labels


@pytest.mark.parametrize(
    ("key", "value", "fits"),
    [
        ("tier", "web", True),
        ("tier", "", True),
        ("example.com/tier", "a.b-c_D", True),
        ("tier", "a/b", False),
        ("tier", "mail@host", False),
        ("tier", "-a", False),
        ("tier", "x" * 63, True),
        ("tier", "x" * 64, False),
        ("tier", "web\n", False),
        ("ti er", "web", False),
        ("k" * 64, "web", False),
        ("Example.com/tier", "web", False),
        (f"{'a.' * 127}a/tier", "web", False),
        ("/tier", "web", False),
    ],
)
def test_label_that_no_node_can_have_is_left_out(key: str, value: str, fits: bool) -> None:
    assert dict(conversion.node_labels({key: value})) == ({key: value} if fits else {})


def test_taint_of_unknown_effect_is_left_out_and_reported() -> None:
    above = listed(taints={"a": {"value": "x", "effect": "NoBreakfast"}, "b": {"value": "y", "effect": "NoSchedule"}})
    group = conversion.sks_group(above, pool())

    [trouble] = conversion.oddities(group, pool(), above.nodepool)

    assert group.description.taints == (Taint("b", TaintEffect.NO_SCHEDULE, "y"),)
    assert trouble.kind is TroubleKind.STATE_UNKNOWN
    assert "'NoBreakfast'" in trouble.detail


@pytest.mark.parametrize("of_nodepool", [True, False])
def test_anti_affinity_group_bounds_the_pool_to_eight(of_nodepool: bool) -> None:
    groups = {"anti-affinity-groups": [{"id": uid("type")}]}
    above, found = listed(**(groups if of_nodepool else {})), pool(**({} if of_nodepool else groups))

    assert conversion.sks_group(above, found).anti_affinity_limit == 8


def test_pool_without_anti_affinity_has_no_such_bound() -> None:
    assert conversion.standalone_group(pool(**{"anti-affinity-groups": []})).anti_affinity_limit is None


def test_negative_limit_is_unlimited() -> None:
    assert conversion.quota(wire.Quota(limit=-1, usage=7)) == Quota(-1, 7)
    assert conversion.quota(wire.Quota(limit=-1, usage=7)).headroom is None
    assert conversion.quota(wire.Quota(limit=20, usage=7)).headroom == 13


@pytest.mark.parametrize("found", [wire.Quota(limit=20), wire.Quota(usage=3), wire.Quota()])
def test_quota_without_limit_or_usage_is_unreadable(found: wire.Quota) -> None:
    with pytest.raises(Unavailable, match="no limit or no usage"):
        conversion.quota(found)


@pytest.mark.parametrize(
    ("found", "state", "busy", "quota"),
    [
        (wire.Operation(state="pending"), CloudOperationState.PENDING, False, False),
        (wire.Operation(state="success"), CloudOperationState.SUCCESS, False, False),
        (wire.Operation(state="success", reason="busy"), CloudOperationState.SUCCESS, False, False),
        (wire.Operation(state="timeout"), CloudOperationState.TIMEOUT, False, False),
        (wire.Operation(state="failure"), CloudOperationState.FAILURE, False, False),
        (wire.Operation(state="failure", reason="busy"), CloudOperationState.FAILURE, True, False),
        (wire.Operation(state="failure", reason="conflict"), CloudOperationState.FAILURE, True, False),
        (wire.Operation(state="failure", reason="unavailable"), CloudOperationState.FAILURE, False, False),
        (
            wire.Operation(state="failure", reason="forbidden", message="Instance quota exceeded"),
            CloudOperationState.FAILURE,
            False,
            True,
        ),
        (wire.Operation(state="forgotten"), CloudOperationState.PENDING, False, False),
        (wire.Operation(state="queued"), CloudOperationState.PENDING, False, False),
    ],
)
def test_operation_is_read_by_state_reason_and_words(
    found: wire.Operation, state: CloudOperationState, busy: bool, quota: bool
) -> None:
    operation = conversion.operation(found)

    assert (operation.state, operation.busy, operation.quota) == (state, busy, quota)


def test_detail_of_an_operation_says_why_it_failed() -> None:
    failed = wire.Operation(state="failure", reason="partial", message="2 of 3 created")

    assert conversion.operation(failed).detail == "partial: 2 of 3 created"
    assert conversion.operation(wire.Operation(state="queued")).detail == "unknown state 'queued'"
    assert len(conversion.operation(wire.Operation(state="failure", message="x" * 5000)).detail) == 300


@pytest.mark.parametrize(
    ("state", "leaving"),
    [
        ("running", False),
        ("starting", False),
        ("migrating", False),
        ("stopped", False),
        ("error", False),
        ("stopping", True),
        ("destroying", True),
        ("expunging", True),
        ("destroyed", True),
        (None, False),
    ],
)
def test_instance_leaves_when_its_state_leads_to_its_end(state: str | None, leaving: bool) -> None:
    assert conversion.is_leaving(wire.Instance(state=state)) is leaving
