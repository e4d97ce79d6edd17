"""Both halves together, over HTTP, by the clients that users have: in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from kubernetes import client as kubernetes

from exoscaler.sandbox.world import SandboxWorld
from tests.sandbox.controllers.manifests import daemon_set, deployment
from tests.sandbox.users import SCENARIO, SPEED, Users, wait_until


@pytest.fixture
def world() -> Iterator[SandboxWorld]:
    with SandboxWorld.local(speed=SPEED, scenario=SCENARIO) as world:
        yield world


@pytest.fixture
def users(world: SandboxWorld, tmp_path: Path) -> Iterator[Users]:
    users = Users(world.exoscale_url, world.write_kubeconfig(tmp_path / "kubeconfig"))
    yield users
    users.close()


def test_pool_that_grows_becomes_nodes_that_take_the_waiting_pods(world: SandboxWorld, users: Users) -> None:
    wait_until(lambda: len(users.nodes()) == 1, "the first node is ready")
    world.apply([daemon_set("agent"), deployment("web", replicas=3, cpu="1")])
    wait_until(lambda: len(users.ready_pods("app=web")) == 1, "one pod runs")
    wait_until(lambda: len(users.unschedulable("app=web")) == 2, "two pods are unschedulable")
    assert all("Insufficient cpu" in message for message in users.unschedulable("app=web"))
    failed = users.core.list_namespaced_event("default", field_selector="reason=FailedScheduling").items
    assert len({event.involved_object.name for event in failed}) >= 2

    cluster_id, nodepool_id = users.nodepool()
    users.exoscale.scale_sks_nodepool(id=cluster_id, sks_nodepool_id=nodepool_id, size=3)
    wait_until(lambda: len(users.nodes()) == 3, "the new nodes are ready")
    wait_until(lambda: len(users.ready_pods("app=web")) == 3, "all pods run")
    assert len(set(users.ready_pods("app=web").values())) == 3
    wait_until(lambda: len(users.ready_pods("app=agent")) == 3, "the daemon set is on every node")


def test_evicted_instance_takes_its_node_and_its_pods_move(users: Users) -> None:
    cluster_id, nodepool_id = users.nodepool()
    users.exoscale.scale_sks_nodepool(id=cluster_id, sks_nodepool_id=nodepool_id, size=2)
    wait_until(lambda: len(users.nodes()) == 2, "both nodes are ready")
    users.apps.create_namespaced_deployment("default", deployment("web", replicas=1))
    wait_until(lambda: users.ready_pods("app=web"), "the pod runs")
    ((pod, node),) = users.ready_pods("app=web").items()

    users.core.patch_node(node, {"spec": {"unschedulable": True}})
    eviction = kubernetes.V1Eviction(metadata=kubernetes.V1ObjectMeta(name=pod, namespace="default"))
    users.core.create_namespaced_pod_eviction(pod, "default", eviction)
    wait_until(lambda: set(users.ready_pods("app=web")) - {pod}, "its successor runs elsewhere")
    assert node not in users.ready_pods("app=web").values()

    users.exoscale.evict_sks_nodepool_members(
        id=cluster_id, sks_nodepool_id=nodepool_id, instances=[users.nodes()[node]]
    )
    wait_until(lambda: node not in {item.metadata.name for item in users.core.list_node().items}, "the node is gone")
    assert len(users.ready_pods("app=web")) == 1


def test_machine_that_is_destroyed_under_its_pods_loses_them_to_others(world: SandboxWorld, users: Users) -> None:
    cluster_id, nodepool_id = users.nodepool()
    users.exoscale.scale_sks_nodepool(id=cluster_id, sks_nodepool_id=nodepool_id, size=2)
    wait_until(lambda: len(users.nodes()) == 2, "both nodes are ready")
    users.apps.create_namespaced_deployment("default", deployment("web", replicas=1))
    wait_until(lambda: users.ready_pods("app=web"), "the pod runs")
    ((pod, node),) = users.ready_pods("app=web").items()
    root = world.exoscale_url.removesuffix("/v2")
    httpx.delete(f"{root}/_sandbox/instances/{users.nodes()[node]}").raise_for_status()
    wait_until(lambda: set(users.ready_pods("app=web")) - {pod}, "the pod is replaced on the other node")
    assert node not in users.ready_pods("app=web").values()


def test_world_applies_manifests_of_kinds_that_it_knows(world: SandboxWorld, users: Users) -> None:
    world.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}, deployment("web")])
    wait_until(lambda: users.ready_pods("app=web"), "the workload runs")
    assert "team" in {item.metadata.name for item in users.core.list_namespace().items}
    with pytest.raises(ValueError, match="knows no Widget"):
        world.apply([{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}}])


def test_stopped_world_answers_no_more(tmp_path: Path) -> None:
    world = SandboxWorld.local(speed=SPEED, scenario=SCENARIO).start()
    url = world.kubernetes_url
    assert httpx.get(f"{url}/version").is_success
    world.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/version")


def test_world_of_one_half_serves_that_half(tmp_path: Path) -> None:
    whole = SandboxWorld.local(speed=SPEED)
    with SandboxWorld(whole.clock, cloud=whole.cloud) as half:
        assert half.exoscale_url
        assert half.kubernetes_url == ""
        with pytest.raises(ValueError, match="no cluster"):
            half.apply([deployment("web")])
