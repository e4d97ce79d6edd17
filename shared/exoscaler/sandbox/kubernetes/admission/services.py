"""Addresses of services."""

from __future__ import annotations

from ipaddress import IPv4Network

from exoscaler.sandbox.kubernetes.json_values import section
from exoscaler.sandbox.kubernetes.resources import RESOURCES
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

_NETWORK = IPv4Network("10.96.0.0/16")
_SERVICES = RESOURCES[("v1", "services")]
_RESERVED = 10


def assign_address(storage: Storage, service: JsonObject) -> None:
    """Give a new service the first free cluster address, unless it has one or wants none."""
    spec = service["spec"]
    if spec["type"] == "ExternalName":
        return
    if not spec.get("clusterIP"):
        taken = {section(known, "spec").get("clusterIP") for known in storage.view(_SERVICES.key).objects.values()}
        hosts = (str(address) for index, address in enumerate(_NETWORK.hosts()) if index >= _RESERVED)
        spec["clusterIP"] = next(address for address in hosts if address not in taken)
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
