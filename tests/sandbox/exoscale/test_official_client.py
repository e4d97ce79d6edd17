"""Exoscale's own Python client drives the sandbox and sees nothing that surprises it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
from exoscale.api.exceptions import (
    ExoscaleAPIAuthException,
    ExoscaleAPIClientException,
    ExoscaleAPIServerException,
)
from exoscale.api.v2 import Client

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale import (
    DEFAULT_SCENARIO,
    DropFault,
    ExoscaleSandbox,
    LostResponseFault,
    OperationFailsFault,
    OperationTimesOutFault,
    StatusFault,
)
from exoscaler.sandbox.server import HttpServer
from tests.sandbox.exoscale.worlds import KEY, LONG, NOBODY, SECRET, Served, eventually, served


@pytest.fixture
def sandbox() -> Iterator[Served]:
    with served(DEFAULT_SCENARIO) as world:
        yield world


def test_client_grows_a_nodepool_waits_and_evicts_a_member_while_time_runs() -> None:
    sandbox = ExoscaleSandbox(SandboxClock(speed=100), key=KEY, secret=SECRET)
    with HttpServer(sandbox.app) as server:
        client = Client(KEY, SECRET, url=f"{server.url}/v2")
        cluster = client.list_sks_clusters()["sks-clusters"][0]
        nodepool = cluster["nodepools"][0]
        names = {"id": cluster["id"], "sks_nodepool_id": nodepool["id"]}

        def running_members() -> list[str]:
            listed = client.list_instances(manager_id=nodepool["instance-pool"]["id"])["instances"]
            return [each["id"] for each in listed if each["state"] == "running"]

        ended = client.wait(client.scale_sks_nodepool(**names, size=3)["id"], max_wait_time=30)
        assert ended["reference"]["id"] == nodepool["id"]
        eventually(lambda: len(running_members()) == 3)
        eventually(lambda: client.get_sks_nodepool(**names)["state"] == "running")

        victim = running_members()[1]
        client.wait(client.evict_sks_nodepool_members(**names, instances=[victim])["id"], max_wait_time=30)
        eventually(lambda: client.get_sks_nodepool(**names)["state"] == "running")
        assert client.get_sks_nodepool(**names)["size"] == 2
        assert victim not in running_members()
        client.http_client.close()


def test_client_follows_references_of_operations(sandbox: Served) -> None:
    operation = sandbox.scale(2)

    assert operation["state"] == "pending"
    assert sandbox.call("GET", operation["reference"]["link"].removeprefix("/v2")).json()["size"] == 2


def test_client_sees_missing_objects_and_conflicts_as_client_errors(sandbox: Served) -> None:
    with pytest.raises(ExoscaleAPIClientException, match="404"):
        sandbox.api.get_instance(id=NOBODY)
    sandbox.scale(2)
    with pytest.raises(ExoscaleAPIClientException, match=r"409.*already being updated"):
        sandbox.scale(3)


def test_client_sees_a_bad_signature_as_an_authentication_error() -> None:
    with served(DEFAULT_SCENARIO, secret="wrong") as sandbox, pytest.raises(ExoscaleAPIAuthException, match="403"):
        sandbox.api.list_instances()


def test_client_sees_injected_errors_by_their_status(sandbox: Served) -> None:
    sandbox.sandbox.faults.add(StatusFault(status=503, count=1))
    with pytest.raises(ExoscaleAPIServerException, match="503"):
        sandbox.api.list_instances()
    sandbox.sandbox.faults.add(DropFault(count=1))
    with pytest.raises(requests.ConnectionError):
        sandbox.api.list_instances()
    sandbox.sandbox.faults.add(LostResponseFault(count=1))
    with pytest.raises(requests.ConnectionError):
        sandbox.api.list_instances()
    assert len(sandbox.api.list_instances()["instances"]) == 3


def test_client_raises_for_operations_that_fail_or_time_out(sandbox: Served) -> None:
    for fault, words in ((OperationFailsFault(), "failure, unavailable"), (OperationTimesOutFault(), "timeout, ")):
        sandbox.sandbox.faults.clear()
        sandbox.sandbox.faults.add(fault)
        operation = sandbox.scale(2)
        sandbox.clock.advance(LONG)

        with pytest.raises(ExoscaleAPIServerException, match=words):
            sandbox.api.wait(operation["id"])
