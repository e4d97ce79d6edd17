"""What a pod asks of a node: resources and host ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from exoscaler.sandbox.controllers.scheduling.quantities import amounts
from exoscaler.sandbox.objects import JsonObject

_POD_LEVEL = ("cpu", "memory", "hugepages-")
_ANY_ADDRESS = "0.0.0.0"


class HostPort(NamedTuple):
    """A port of the node that a pod takes for itself."""

    address: str
    protocol: str
    port: int

    def conflicts(self, other: HostPort) -> bool:
        """Whether two pods cannot hold these ports on one node."""
        if (self.protocol, self.port) != (other.protocol, other.port):
            return False
        return self.address == other.address or _ANY_ADDRESS in (self.address, other.address)


def requests(spec: JsonObject) -> dict[str, int]:
    """The effective requests of a pod spec.

    Containers and sidecars run together; an ordinary init container runs alone beside the sidecars declared before
    it, and the largest such moment counts when it is larger. Pod-level requests replace the sum for CPU, memory and
    huge pages; overhead comes on top.
    """
    running: dict[str, int] = {}
    peak: dict[str, int] = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if _is_sidecar(container):
            _add(running, asked)
            _raise(peak, running)
        else:
            _raise(peak, _sum(running, asked))
    for container in spec.get("containers") or ():
        _add(running, _asked(container))
    _raise(running, peak)
    whole_pod = amounts((spec.get("resources") or {}).get("requests"))
    running.update({name: value for name, value in whole_pod.items() if name.startswith(_POD_LEVEL)})
    _add(running, amounts(spec.get("overhead")))
    return running


def host_ports(spec: JsonObject) -> tuple[HostPort, ...]:
    """The host ports of containers and sidecars."""
    return tuple(
        HostPort(port.get("hostIP") or _ANY_ADDRESS, port.get("protocol") or "TCP", port["hostPort"])
        for container in _long_running(spec)
        for port in container.get("ports") or ()
        if port.get("hostPort")
    )


def _long_running(spec: JsonObject) -> Iterator[JsonObject]:
    yield from spec.get("containers") or ()
    yield from (container for container in spec.get("initContainers") or () if _is_sidecar(container))


def _is_sidecar(container: JsonObject) -> bool:
    return container.get("restartPolicy") == "Always"


def _asked(container: JsonObject) -> dict[str, int]:
    resources = container.get("resources") or {}
    # The API server fills requests from limits; a cluster that does not is read the same way.
    return amounts({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _add(total: dict[str, int], more: Mapping[str, int]) -> None:
    for name, value in more.items():
        total[name] = total.get(name, 0) + value


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    total = dict(one)
    _add(total, other)
    return total


def _raise(total: dict[str, int], floor: Mapping[str, int]) -> None:
    for name, value in floor.items():
        total[name] = max(total.get(name, 0), value)
