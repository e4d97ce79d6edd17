"""The sandbox's own controls over HTTP, and the machines' side in another process."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from exoscale.api.v2 import Client
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from exoscaler.sandbox.exoscale import (
    DropFault,
    ExoscaleSandbox,
    NeverRegistersFault,
    RemoteMachineView,
    SandboxUnreachable,
    StatusFault,
)
from exoscaler.sandbox.machines.view import Machine, MachineView
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import (
    KEY,
    LONG,
    NOBODY,
    QUICK,
    SECRET,
    ManualClock,
    Served,
    nodepool_spec,
    pool_spec,
    scenario,
    served,
)


@pytest.fixture
def sandbox() -> Iterator[Served]:
    account = scenario(
        nodepool_spec(size=2, labels={"a": "b"}, taints={"t": {"value": "v", "effect": "NoSchedule"}}),
        pools=(pool_spec(size=1),),
        timing=QUICK,
    )
    with served(account) as world:
        yield world


def test_fault_set_over_http_strikes_and_is_listed_until_removed(sandbox: Served) -> None:
    added = sandbox.control("POST", "/faults", json={"kind": "status", "status": 429, "retry-after": 3, "count": 2})
    assert added.status_code == 201
    assert sandbox.call("GET", "/quota").headers["retry-after"] == "3"

    (listed,) = sandbox.control("GET", "/faults").json()["faults"]
    assert listed == {
        "id": added.json()["id"],
        "kind": "status",
        "status": 429,
        "retry-after": 3,
        "message": "",
        "count": 2,
        "skip": 0,
        "strikes": 1,
        "active": True,
    }

    assert sandbox.control("DELETE", f"/faults/{listed['id']}").status_code == 204
    assert sandbox.control("DELETE", f"/faults/{listed['id']}").status_code == 404
    assert sandbox.call("GET", "/quota").status_code == 200


def test_all_faults_are_cleared_at_once(sandbox: Served) -> None:
    for kind in ("drop", "never-registers", "quota-exhausted", "operation-fails"):
        assert sandbox.control("POST", "/faults", json={"kind": kind}).status_code == 201

    assert sandbox.control("DELETE", "/faults").status_code == 204
    assert sandbox.control("GET", "/faults").json() == {"faults": []}


EVERY_KIND: list[dict[str, Any]] = [
    {"kind": "status", "status": 503, "message": "no"},
    {"kind": "hang", "seconds": 1.5},
    {"kind": "drop"},
    {"kind": "lost-response", "status": 502},
    {"kind": "malformed", "body": "<html>"},
    {"kind": "quota-exhausted", "surface": "stuck"},
    {"kind": "operation-fails", "reason": "fault", "takes-effect": True},
    {"kind": "operation-times-out", "takes-effect": False},
    {"kind": "operation-stays-pending", "for-seconds": 60, "holds-pool": True},
    {"kind": "never-boots", "state": "error"},
    {"kind": "never-registers"},
]


@pytest.mark.parametrize("fault", EVERY_KIND, ids=lambda fault: str(fault["kind"]))
def test_every_kind_of_fault_can_be_set_over_http(fault: dict[str, Any], sandbox: Served) -> None:
    where = {"operation": "scale-sks-nodepool", "pool": sandbox.nodepool()["id"], "duration": 30.0, "skip": 1}

    answer = sandbox.control("POST", "/faults", json={**fault, **where})

    assert answer.status_code == 201, answer.text
    assert {**fault, **where}.items() <= answer.json().items()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "Invalid JSON"),
        (b"[]", "an object"),
        (b"{}", "kind"),
        (b'{"kind": "meteor"}', "Input tag 'meteor'"),
        (b'{"kind": "status"}', "status.status: Field required"),
        (b'{"kind": "status", "status": 200}', "greater than or equal to 400"),
        (b'{"kind": "drop", "operation": "delete-everything"}', "drop.operation"),
        (b'{"kind": "never-boots", "operation": "get-quota"}', "cannot strike get-quota"),
        (b'{"kind": "drop", "pool": "general"}', "drop.pool"),
        (f'{{"kind": "drop", "pool": "{NOBODY}"}}'.encode(), "no Instance Pool and no SKS Nodepool has the id"),
        (b'{"kind": "drop", "count": 0}', "drop.count"),
        (b'{"kind": "drop", "duration": 0}', "drop.duration"),
        (b'{"kind": "drop", "status": 500}', "Extra inputs are not permitted"),
        (b'{"kind": "hang", "seconds": -1}', "hang.seconds"),
    ],
)
def test_fault_that_makes_no_sense_is_refused_with_the_reason(body: bytes, words: str, sandbox: Served) -> None:
    answer = sandbox.control("POST", "/faults", data=body)

    assert answer.status_code == 400
    assert words in " ".join(error["message"] for error in answer.json()["errors"])
    assert sandbox.control("GET", "/faults").json() == {"faults": []}


def test_calls_are_counted_by_operation_until_reset(sandbox: Served) -> None:
    sandbox.control("POST", "/faults", json={"kind": "status", "status": 500, "operation": "get-quota"})
    for path in ("/quota/instance", "/quota/instance", "/instance", "/nothing-here"):
        sandbox.call("GET", path)
    sandbox.control("GET", "/machines")

    counted = sandbox.control("GET", "/calls").json()
    assert counted == {"calls": {"get-quota": 2, "list-instances": 1}, "total": 3}
    assert [record.status for record in sandbox.sandbox.calls.records()] == [500, 500, 200]

    assert sandbox.control("DELETE", "/calls").status_code == 204
    assert sandbox.control("GET", "/calls").json() == {"calls": {}, "total": 0}


def test_bodies_of_calls_are_kept_for_tests_to_look_at(sandbox: Served) -> None:
    sandbox.scale(3)

    record = sandbox.sandbox.calls.records()[-1]

    assert (json.loads(record.body), record.status) == ({"size": 3}, 200)
    assert record.path.endswith(":scale")


def test_pool_is_resized_by_hand(sandbox: Served) -> None:
    by_nodepool = sandbox.nodepool()["id"]

    answer = sandbox.control("POST", f"/pools/{by_nodepool}/resize", json={"size": 4})
    assert (answer.status_code, answer.json()["state"]) == (200, "pending")
    assert sandbox.control("POST", f"/pools/{by_nodepool}/resize", json={"size": 5}).status_code == 409
    sandbox.clock.advance(LONG)

    glance = {pool["name"]: pool for pool in sandbox.control("GET", "/pools").json()["pools"]}
    assert (glance["general"]["size"], glance["general"]["members"], glance["general"]["state"]) == (4, 4, "running")
    assert glance["general"]["nodepool-id"] == by_nodepool
    assert glance["batch"]["nodepool-id"] == ""
    assert sandbox.sandbox.calls.counts().keys() == {"list-sks-clusters"}


@pytest.mark.parametrize("body", [b"", b"{}", b'{"size": -1}', b'{"size": "4"}', b'{"size": 4, "force": true}'])
def test_resize_that_makes_no_sense_is_refused(body: bytes, sandbox: Served) -> None:
    answer = sandbox.control("POST", f"/pools/{sandbox.nodepool()['id']}/resize", data=body)

    assert answer.status_code == 400
    assert answer.json()["errors"]
    assert sandbox.control("POST", f"/pools/{NOBODY}/resize", json={"size": 1}).status_code == 404


def test_instance_is_destroyed_by_hand_and_replaced(sandbox: Served) -> None:
    victim = sandbox.sandbox.cloud.machines()[0].id

    assert sandbox.control("DELETE", f"/instances/{victim}").status_code == 204
    assert sandbox.control("DELETE", f"/instances/{victim}").status_code == 400
    assert sandbox.control("DELETE", f"/instances/{NOBODY}").status_code == 404
    sandbox.clock.advance(LONG)

    assert sandbox.call("GET", f"/instance/{victim}").status_code == 404
    assert sandbox.control("GET", "/counters").json()["instances-destroyed"] == 1
    assert len(sandbox.sandbox.cloud.machines()) == 3


def test_quota_is_changed_by_hand(sandbox: Served) -> None:
    assert sandbox.control("PUT", "/quotas/instance", json={"limit": 5}).json() == {
        "resource": "instance",
        "usage": 3,
        "limit": 5,
    }
    assert sandbox.api.get_quota(entity="instance")["limit"] == 5
    assert sandbox.control("PUT", "/quotas/instance", json={"limit": -2}).status_code == 400
    assert sandbox.control("PUT", "/quotas/lightsabers", json={"limit": 1}).status_code == 404


def test_unknown_control_and_wrong_method_are_json_errors(sandbox: Served) -> None:
    for method, path, status in (("GET", "/nothing", 404), ("PATCH", "/machines", 405), ("GET", "", 404)):
        answer = sandbox.control(method, path)
        assert (answer.status_code, list(answer.json())) == (status, ["message"])


def test_machines_are_the_same_from_another_process(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(NeverRegistersFault(count=1))
    sandbox.scale(4)
    sandbox.clock.advance(5)

    with RemoteMachineView(sandbox.url) as remote:
        view: MachineView = remote
        machines = view.machines()

    assert machines == sandbox.sandbox.cloud.machines()
    assert {machine.registers for machine in machines} == {True, False}
    assert all(isinstance(machine, Machine) for machine in machines)


def test_machines_that_cannot_be_read_are_an_error_that_names_the_address(sandbox: Served) -> None:
    with RemoteMachineView(f"{sandbox.url}/v2") as wrong, pytest.raises(SandboxUnreachable, match="_sandbox/machines"):
        wrong.machines()
    with RemoteMachineView("http://127.0.0.1:9") as nobody, pytest.raises(SandboxUnreachable):
        nobody.machines()

    async def nonsense(_: Any) -> JSONResponse:
        return JSONResponse([{"id": 1}])

    app = Starlette(routes=[Route("/_sandbox/machines", nonsense)])
    with HttpServer(app) as server, RemoteMachineView(server.url) as other, pytest.raises(SandboxUnreachable):
        other.machines()


def test_sandbox_works_below_a_prefix_of_another_application() -> None:
    sandbox = ExoscaleSandbox(ManualClock(), key=KEY, secret=SECRET, scenario=scenario(nodepool_spec()))
    app = Starlette(routes=[Mount("/exoscale", app=sandbox.app)])
    with HttpServer(app) as server, RemoteMachineView(f"{server.url}/exoscale") as view:
        client = Client(KEY, SECRET, url=f"{server.url}/exoscale/v2")
        assert client.list_zones()["zones"][0]["api-endpoint"] == f"{server.url}/exoscale/v2"
        assert len(client.list_instances()["instances"]) == 1
        assert len(view.machines()) == 1
        sandbox.faults.add(StatusFault(status=503, count=1))
        assert client.http_client.get(f"{server.url}/exoscale/v2/quota").status_code == 503
        client.http_client.close()


def test_connection_is_cut_also_behind_middleware() -> None:
    # Starlette's own middleware hides the server's connection; the answer is then cut in its middle.
    sandbox = ExoscaleSandbox(ManualClock(), key=KEY, secret=SECRET, scenario=scenario(nodepool_spec()))
    sandbox.faults.add(DropFault())
    app = Starlette(routes=[Mount("/exoscale", app=sandbox.app)])
    with HttpServer(app) as server:
        client = Client(KEY, SECRET, url=f"{server.url}/exoscale/v2")
        with pytest.raises(OSError, match="onnection broken"):
            client.list_instances()
        client.http_client.close()
