"""Addresses for pods: each running pod has its own."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from exoscaler.sandbox.objects import JsonObject

POD_NETWORK = ipaddress.IPv4Network("192.168.0.0/16")


class PodAddresses:
    """Hands out the addresses of the pod network that no pod has, lowest first."""

    def __init__(self, pods: Iterable[JsonObject]) -> None:
        self._taken = {(pod.get("status") or {}).get("podIP") for pod in pods}
        self._free = (text for host in POD_NETWORK.hosts() if (text := str(host)) not in self._taken)

    def take(self) -> str:
        """The next free address; empty when there is none left."""
        return next(self._free, "")
