"""One reading of the cloud, and what to look at in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from exoscaler.core.model import CloudReading, TroubleKind
from exoscaler.ports.cloud import KnownCloud, NodeIdentity
from tests.adapters.exoscale.api import (
    Api,
    cloud_on,
    cluster_json,
    nodepool_json,
    sks_pool_json,
    uid,
)

POOL_1 = f"GET /instance-pool/{uid('pool', 1)}"
POOL_2 = f"GET /instance-pool/{uid('pool', 2)}"


def read(
    api: Api, nodes: Sequence[NodeIdentity] = (), *known: Any, unmanaged: Sequence[str] = (), **options: Any
) -> CloudReading:
    return cloud_on(api, max_attempts=1, **options).read_groups(nodes, KnownCloud(known, tuple(unmanaged)))


def names(reading: CloudReading) -> list[str]:
    return [group.name for group in reading.groups]


def kinds(reading: CloudReading) -> list[TroubleKind]:
    return [trouble.kind for trouble in reading.troubles]


def one_cluster(*extra: Any) -> Api:
    """One cluster: nodepool 1 with instance 1, nodepool 2 empty."""
    nodepools = [nodepool_json(1), nodepool_json(2, size=0), *extra]
    api = Api().has_clusters(cluster_json(*nodepools)).has_quota()
    return api.has_pools(sks_pool_json(1), sks_pool_json(2, (), size=0))
