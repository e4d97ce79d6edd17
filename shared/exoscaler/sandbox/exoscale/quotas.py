"""The account's quotas: limits by resource name; -1 is unlimited."""

from __future__ import annotations

from collections.abc import Mapping

from exoscaler.sandbox.exoscale.errors import NotFound
from exoscaler.sandbox.exoscale.instance_types import CATALOGUE, InstanceType

UNLIMITED = -1

_GPU_FAMILIES = tuple(sorted({each.family for each in CATALOGUE if each.gpus}))

_USUAL_LIMITS: Mapping[str, int] = {
    "block-storage-volume": 10,
    "block-storage-volume-attachments": 5,
    "elastic-ip": 5,
    "iam-key": 100,
    "instance": 20,
    "network-load-balancer": 5,
    "private-network": 10,
    "sks-cluster": 10,
    "snapshot": 10,
    "storage": UNLIMITED,
    "template": 10,
    **dict.fromkeys(_GPU_FAMILIES, UNLIMITED),
}


class Quotas:
    """Limits by resource. Enforced are ``instance`` and, per GPU family, the number of GPUs."""

    def __init__(self, limits: Mapping[str, int]) -> None:
        self._limits = {**_USUAL_LIMITS, **limits}

    def resources(self) -> tuple[str, ...]:
        """The names of all quotas, sorted."""
        return tuple(sorted(self._limits))

    def limit(self, resource: str) -> int:
        """The limit of one resource, -1 when unlimited; NotFound (404) for an unknown name."""
        limit = self._limits.get(resource)
        if limit is None:
            raise NotFound(f"Quota {resource} not found")
        return limit

    def set(self, resource: str, limit: int) -> None:
        """Change a limit, as Exoscale's support would; NotFound for an unknown name."""
        self.limit(resource)
        if limit < UNLIMITED:
            message = f"a quota limit is 0 or more, or -1 for unlimited, not {limit}"
            raise ValueError(message)
        self._limits[resource] = limit

    @staticmethod
    def charge(instance_type: InstanceType, resource: str) -> int:
        """How much one instance of the type uses of a resource."""
        if resource == "instance":
            return 1
        return instance_type.gpus if resource == instance_type.family else 0

    @staticmethod
    def charged(instance_type: InstanceType) -> tuple[str, ...]:
        """The resources that an instance of the type uses."""
        return ("instance", instance_type.family) if instance_type.gpus else ("instance",)
