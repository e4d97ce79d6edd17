"""I8: how often the Exoscale API is called does not depend on the number of nodes."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from exoscaler.ports.events import FunctionName
from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale import (
    ClusterSpec,
    ExoscaleSandbox,
    NodepoolSpec,
    OperationId,
    PoolSpec,
    Scenario,
    Timing,
)
from exoscaler.sandbox.kubernetes import KubernetesSandbox, write_kubeconfig
from exoscaler.sandbox.server import HttpServer
from exoscaler.sandbox.world import SANDBOX_KEY, SANDBOX_SECRET
from exoscaler.settings import load_settings
from exoscaler.wiring import EventRequest, Service
from tests.functions.serving import environment_for

TICK = EventRequest("POST", {}, b"")
DOCUMENTED = frozenset(
    {
        OperationId.LIST_SKS_CLUSTERS,
        OperationId.GET_INSTANCE,
        OperationId.GET_INSTANCE_POOL,
        OperationId.GET_QUOTA,
        OperationId.GET_OPERATION,
        OperationId.SCALE_SKS_NODEPOOL,
        OperationId.EVICT_SKS_NODEPOOL_MEMBERS,
        OperationId.SCALE_INSTANCE_POOL,
        OperationId.EVICT_INSTANCE_POOL_MEMBERS,
    }
)


def scenario(nodes_a_pool: int) -> Scenario:
    nodepools = tuple(
        NodepoolSpec(name=f"pool-{number}", size=nodes_a_pool, instance_type="standard.medium") for number in range(3)
    )
    standalone = PoolSpec(name="standalone", size=nodes_a_pool, instance_type="standard.large")
    return Scenario(
        quotas={"instance": -1},
        clusters=(ClusterSpec(name="big", nodepools=nodepools),),
        pools=(standalone,),
        timing=Timing(boot_seconds=0),
    )


def node_of(instance_id: str, name: str, nodepool_id: str) -> dict[str, object]:
    """A ready node, as the cloud's controller leaves it."""
    amounts = {"cpu": "2", "memory": "4Gi", "pods": "110"}
    labels = {"node.exoscale.net/nodepool-id": nodepool_id} if nodepool_id else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"providerID": f"exoscale://{instance_id}"},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        },
    }


@pytest.mark.parametrize("nodes_a_pool", [2, 75])
def test_evaluation_makes_at_most_two_calls_and_one_a_pool(tmp_path: Path, nodes_a_pool: int) -> None:
    clock = SandboxClock()
    cloud = ExoscaleSandbox(
        clock, key=SANDBOX_KEY, secret=SANDBOX_SECRET, scenario=scenario(nodes_a_pool), allowed_operations=DOCUMENTED
    )
    cluster = KubernetesSandbox(clock)
    for machine in cloud.cloud.machines():
        cluster.client.create("v1", "nodes", node_of(machine.id, machine.name.lower(), machine.nodepool_id))
    with HttpServer(cloud.app) as exoscale, HttpServer(cluster.app) as kubernetes:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", kubernetes.url)
        with closing(service_for(exoscale.url, kubeconfig)) as service:
            counts = [calls_of_one_evaluation(service, cloud) for _ in range(3)]

    pools = 4
    # The first evaluation has to find out about the standalone pool from one of its instances.
    assert counts[0] <= 2 + pools + 2
    assert max(counts[1:]) <= 2 + pools


def service_for(exoscale_url: str, kubeconfig: Path) -> Service:
    flags = {"node_group_cache_ttl": "1ms", "decision_max_age": "1ms"}
    environment = environment_for(exoscale_url, kubeconfig, **flags)
    return Service(load_settings((), environment, installed_providers=["exoscale"]))


def calls_of_one_evaluation(service: Service, cloud: ExoscaleSandbox) -> int:
    cloud.calls.reset()
    answer = service.answer(FunctionName.EVALUATE, TICK)
    assert (answer.status, answer.content["outcome"]) == (200, "done"), answer.content
    return cloud.calls.total()
