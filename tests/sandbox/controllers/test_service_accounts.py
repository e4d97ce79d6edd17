"""Service accounts: pods need the one named ``default`` on a real API server."""

from __future__ import annotations

from tests.sandbox.controllers.cluster import LiveCluster


def test_every_namespace_gets_its_default_service_account() -> None:
    cluster = LiveCluster()
    cluster.settle()
    cluster.client.create("v1", "namespaces", {"metadata": {"name": "team"}})
    cluster.settle()
    accounts = cluster.client.list("v1", "serviceaccounts")
    having = {account["metadata"]["namespace"] for account in accounts if account["metadata"]["name"] == "default"}
    assert having == {item["metadata"]["name"] for item in cluster.client.list("v1", "namespaces")}
    cluster.client.delete("v1", "serviceaccounts", "default", namespace="team")
    cluster.settle()
    assert cluster.client.get("v1", "serviceaccounts", "default", namespace="team")
