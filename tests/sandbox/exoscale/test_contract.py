"""The sandbox's HTTP answers against Exoscale's published API description."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import requests

from exoscaler.sandbox.exoscale import InstanceSpec, OperationFailsFault, OperationId, QuotaSurface
from exoscaler.sandbox.exoscale.api import OPERATIONS as ANSWERED
from tests.sandbox.exoscale.openapi import OPERATIONS, problems
from tests.sandbox.exoscale.worlds import KEY, LONG, NOBODY, Served, nodepool_spec, pool_spec, scenario, served

ACCOUNT = scenario(
    nodepool_spec(
        size=2,
        labels={"tier": "web"},
        taints={"dedicated": {"value": "web", "effect": "NoSchedule"}},
        description="open to all",
        disk_size=120,
        addons=("storage-lvm",),
        kubelet_max_pods=64,
        anti_affinity_groups=("spread",),
    ),
    nodepool_spec("gpu", size=1, instance_type="gpua30.small"),
    pools=(pool_spec(size=2, labels={"team": "jobs"}, min_available=1, description="jobs"),),
    instances=(InstanceSpec(name="db", instance_type="standard.small", labels={"role": "db"}),),
)


@pytest.fixture
def sandbox() -> Iterator[Served]:
    with served(ACCOUNT) as world:
        yield world


def ids(sandbox: Served) -> dict[str, str]:
    """Something to ask for, by path parameter of each operation."""
    cluster, nodepool = sandbox.cluster(), sandbox.nodepool()
    standalone = next(pool for pool in sandbox.api.list_instance_pools()["instance-pools"] if "manager" not in pool)
    operation = sandbox.api.scale_instance_pool(id=standalone["id"], size=3)
    sandbox.clock.advance(LONG)
    return {
        "cluster": cluster["id"],
        "nodepool": nodepool["id"],
        "pool": standalone["id"],
        "managed pool": nodepool["instance-pool"]["id"],
        "instance": standalone["instances"][0]["id"],
        "type": nodepool["instance-type"]["id"],
        "operation": operation["id"],
    }


def request_of(operation: str, known: dict[str, str], sandbox: Served) -> tuple[str, str, Any]:
    """A request that the operation answers with 200: method, path, body."""
    method, path, _ = OPERATIONS[operation]
    subject = path.split("/")[1]
    noun = {"sks-cluster": "cluster", "instance-pool": "pool", "instance-type": "type"}.get(subject, subject)
    filled = path.replace("{id}", known.get(noun, "")).replace("{sks-nodepool-id}", known["nodepool"])
    filled = filled.replace("{entity}", "instance")
    body: Any = None
    if operation.startswith("scale-"):
        body = {"size": 4}
    if operation.startswith("evict-"):
        pool = known["managed pool" if "sks" in operation else "pool"]
        members = sandbox.api.get_instance_pool(id=pool)["instances"]
        body = {"instances": [members[0]["id"]]}
    return method, filled, body


def test_sandbox_answers_exactly_the_described_operations() -> None:
    assert {each.id.value: (each.method, each.path) for each in ANSWERED} == {
        operation: (method, path) for operation, (method, path, _) in OPERATIONS.items()
    }
    assert {each.value for each in OperationId} == OPERATIONS.keys()


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_answer_is_as_described(operation: str, sandbox: Served) -> None:
    method, path, body = request_of(operation, ids(sandbox), sandbox)

    response = sandbox.call(method, path, json=body)

    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert problems(operation, response.json()) == []


def test_answers_are_as_described_while_pools_change(sandbox: Served) -> None:
    members = [each["id"] for each in sandbox.api.list_instances(manager_type="instance-pool")["instances"]]
    sandbox.scale(4)
    standalone = next(pool for pool in sandbox.api.list_instance_pools()["instance-pools"] if "manager" not in pool)
    sandbox.api.evict_instance_pool_members(id=standalone["id"], instances=[members[-1]])
    states: set[str] = set()
    for _ in range(20):
        sandbox.clock.advance(3)
        instances = sandbox.api.list_instances()
        states |= {each["state"] for each in instances["instances"]}
        assert problems("list-instances", instances) == []
        assert problems("list-instance-pools", sandbox.api.list_instance_pools()) == []
        assert problems("list-sks-clusters", sandbox.api.list_sks_clusters()) == []

    assert states == {"starting", "running", "stopping", "destroying"}


def test_failed_operation_is_as_described(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(OperationFailsFault())
    operation = sandbox.scale(4)
    sandbox.clock.advance(LONG)

    ended = sandbox.api.get_operation(id=operation["id"])

    assert problems("get-operation", ended) == []
    assert (ended["state"], ended["reason"]) == ("failure", "unavailable")


def test_pool_of_size_zero_contradicts_the_description_of_its_size_and_nothing_else(sandbox: Served) -> None:
    # The published schema wants instance-pool.size above 0, though `:scale` accepts 0 and nodepools show 0.
    sandbox.scale(0, "gpu")
    sandbox.clock.advance(LONG)
    pool = sandbox.api.get_instance_pool(id=sandbox.nodepool("gpu")["instance-pool"]["id"])

    assert problems("list-sks-clusters", sandbox.api.list_sks_clusters()) == []
    assert problems("get-instance-pool", pool) == ["$.size: 0 is less than or equal to the minimum of 0"]
    assert "instances" not in pool


def test_what_has_nothing_to_say_is_left_out(sandbox: Served) -> None:
    bare = sandbox.nodepool("gpu")
    types = {f"{each['family']}.{each['size']}": each for each in sandbox.api.list_instance_types()["instance-types"]}
    database = next(each for each in sandbox.api.list_instances()["instances"] if each["name"] == "db")

    assert bare.keys().isdisjoint({"labels", "taints", "description", "kubelet-max-pods", "addons"})
    assert "gpus" not in types["standard.medium"]
    assert types["gpua30.small"]["gpus"] == 1
    assert "manager" not in database


def test_instance_in_a_list_has_fewer_details_than_alone(sandbox: Served) -> None:
    listed = sandbox.api.list_instances(manager_id=sandbox.nodepool()["instance-pool"]["id"])["instances"][0]
    alone = sandbox.api.get_instance(id=listed["id"])

    assert listed.items() <= alone.items()
    assert alone.keys() - listed.keys() == {
        "anti-affinity-groups",
        "disk-encrypted",
        "disk-size",
        "secureboot-enabled",
        "tpm-enabled",
    }
    assert listed["instance-type"].keys() == {"id"}


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, {"batch", "db", "general"}),
        ({"manager_type": "instance-pool"}, {"batch", "general"}),
        ({"labels": "role=db"}, {"db"}),
        ({"labels": "role=web"}, set()),
        ({"labels": "team=jobs"}, {"batch"}),
        ({"ip_address": "198.18.255.255"}, set()),
        ({"manager_id": NOBODY}, set()),
    ],
)
def test_instances_are_filtered(arguments: dict[str, str], names: set[str], sandbox: Served) -> None:
    pools = {pool["id"]: pool["name"] for pool in sandbox.api.list_instance_pools()["instance-pools"]}

    found = sandbox.api.list_instances(**arguments)["instances"]

    managers = {pools[each["manager"]["id"]].split("-")[0] if "manager" in each else each["name"] for each in found}
    assert {"general" if manager == "nodepool" else manager for manager in managers} == names


def test_managers_lead_from_instance_to_pool_to_nodepool(sandbox: Served) -> None:
    nodepool = sandbox.nodepool()
    member = sandbox.api.list_instances(manager_id=nodepool["instance-pool"]["id"])["instances"][0]
    pool = sandbox.api.get_instance_pool(id=member["manager"]["id"])

    assert member["manager"]["type"] == "instance-pool"
    assert pool["manager"] == {"id": nodepool["id"], "type": "sks-nodepool"}
    assert {"id": member["id"]} in pool["instances"]


INVALID_BODIES: list[tuple[str, Any]] = [
    (":scale", {}),
    (":scale", {"size": -1}),
    (":scale", {"size": "3"}),
    (":scale", {"size": 3.5}),
    (":scale", {"size": True}),
    (":scale", {"size": None}),
    (":scale", {"size": 2**63}),
    (":scale", [3]),
    (":evict", {}),
    (":evict", {"instances": []}),
    (":evict", {"instances": NOBODY}),
    (":evict", {"instances": ["i-1", 7]}),
    (":evict", {"instances": [NOBODY]}),
]


@pytest.mark.parametrize(("action", "body"), INVALID_BODIES)
def test_invalid_body_is_refused_with_one_message_per_mistake(action: str, body: Any, sandbox: Served) -> None:
    standalone = next(pool for pool in sandbox.api.list_instance_pools()["instance-pools"] if "manager" not in pool)
    for path in (sandbox.nodepool_path(), f"/instance-pool/{standalone['id']}"):
        response = sandbox.call("PUT", f"{path}{action}", json=body)

        assert response.status_code == 400
        assert response.json().keys() == {"message", "errors"}
        assert all(error["message"] for error in response.json()["errors"])


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"null", b"[" * 100_000])
def test_body_that_is_no_json_object_is_refused(body: bytes, sandbox: Served) -> None:
    response = sandbox.call("PUT", f"{sandbox.nodepool_path()}:scale", data=body)

    assert response.status_code == 400


@pytest.mark.parametrize(
    "path",
    [
        f"/sks-cluster/{NOBODY}",
        f"/sks-cluster/{NOBODY}/nodepool/{NOBODY}",
        f"/instance-pool/{NOBODY}",
        f"/instance/{NOBODY}",
        f"/instance-type/{NOBODY}",
        f"/operation/{NOBODY}",
        "/quota/lightsabers",
        "/sks-nodepool",
        "/",
    ],
)
def test_what_does_not_exist_is_not_found(path: str, sandbox: Served) -> None:
    response = sandbox.call("GET", path)

    assert response.status_code == 404
    assert response.json()["message"]


def test_path_outside_the_api_is_not_found(sandbox: Served) -> None:
    response = requests.get(f"{sandbox.url}/v1/zone", timeout=10)

    assert (response.status_code, response.headers["content-type"]) == (404, "application/json; charset=utf-8")


@pytest.mark.parametrize("path", ["/instance/external-123", "/instance-pool/pool", "/operation/1"])
def test_id_that_is_no_uuid_is_invalid(path: str, sandbox: Served) -> None:
    assert sandbox.call("GET", path).status_code == 400


def test_ids_are_found_in_upper_case_too(sandbox: Served) -> None:
    cluster = sandbox.cluster()["id"]

    assert sandbox.api.get_sks_cluster(id=cluster.upper())["id"] == cluster


@pytest.mark.parametrize("query", ["manager-id=pool", "manager-type=sks-nodepool", "labels=role"])
def test_invalid_filter_is_refused(query: str, sandbox: Served) -> None:
    assert sandbox.call("GET", f"/instance?{query}").status_code == 400


def test_other_methods_are_not_allowed_and_the_right_one_is_named(sandbox: Served) -> None:
    for method, path, allowed in (
        ("POST", "/sks-cluster", "GET"),
        ("DELETE", f"/instance/{NOBODY}", "GET"),
        ("GET", f"{sandbox.nodepool_path()}:scale", "PUT"),
    ):
        response = sandbox.call(method, path)
        assert (response.status_code, response.headers["allow"]) == (405, allowed)
        assert response.json() == {"message": "Method not allowed"}


def test_unsigned_request_is_forbidden_except_for_zones(sandbox: Served) -> None:
    refused = requests.get(f"{sandbox.url}/v2/instance", timeout=10)
    zones = requests.get(f"{sandbox.url}/v2/zone", timeout=10)

    assert (refused.status_code, list(refused.json())) == (403, ["message"])
    assert zones.json()["zones"][0]["api-endpoint"] == f"{sandbox.url}/v2"
    assert problems("list-zones", zones.json()) == []


def test_wrong_secret_is_forbidden_and_changes_nothing() -> None:
    with served(ACCOUNT, secret="wrong") as sandbox:
        pool = sandbox.sandbox.cloud.machines()[-1].pool_id
        response = sandbox.call("PUT", f"/instance-pool/{pool}:scale", json={"size": 9})

        assert response.status_code == 403
        assert KEY not in response.text
        assert sandbox.sandbox.calls.total() == 0
        assert sandbox.sandbox.cloud.counters().instances_created == 6


def test_role_forbids_what_it_does_not_name() -> None:
    with served(ACCOUNT, allowed=(OperationId.GET_QUOTA,)) as sandbox:
        refused = sandbox.call("GET", "/sks-cluster")

        assert (refused.status_code, refused.json()) == (
            403,
            {"message": "Forbidden by role policy: operation list-sks-clusters"},
        )
        assert sandbox.api.get_quota(entity="instance")["usage"] == 6
        assert sandbox.api.list_zones()["zones"]


def test_quota_beyond_the_limit_is_refused_over_http_when_so_configured(sandbox: Served) -> None:
    sandbox.sandbox.cloud.quota_surface = QuotaSurface.REJECT

    response = sandbox.call("PUT", f"{sandbox.nodepool_path()}:scale", json={"size": 40})

    assert response.status_code == 400
    assert "Quota exceeded" in response.json()["message"]
