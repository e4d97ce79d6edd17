"""Reads what clients send: bodies, ids in paths, filters; what does not fit is Invalid (400), mistake by mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from exoscaler.sandbox.exoscale.errors import Invalid

INT64_MAX = 2**63 - 1
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request that reached an operation. `endpoint` is the address it was sent to, up to and with ``/v2``."""

    parameters: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    body: bytes = b""
    endpoint: str = ""

    def uuid(self, name: str) -> str:
        """A path parameter that has to be a UUID, in lower case."""
        return _uuid(name, self.parameters[name])

    def size(self) -> int:
        """The ``size`` of a scale request's body."""
        size = self._object().get("size")
        if size is None:
            raise Invalid.because("size: required property is missing")
        if isinstance(size, bool) or not isinstance(size, int):
            raise Invalid.because("size: must be an integer")
        if not 0 <= size <= INT64_MAX:
            raise Invalid.because("size: must be 0 or more, and fit 64 bits")
        return size

    def instances(self) -> tuple[str, ...]:
        """The ``instances`` of an evict request's body, in lower case.

        The published schema allows to leave them out, or to give none. The sandbox refuses both: such a request can
        only be a mistake.
        """
        instances = self._object().get("instances")
        if not isinstance(instances, list):
            raise Invalid.because("instances: must be an array of UUIDs")
        if not instances:
            raise Invalid.because("instances: must name at least one instance")
        wrong = [f"instances.{place}: must be a UUID" for place, each in enumerate(instances) if not _is_uuid(each)]
        if wrong:
            raise Invalid.because(*wrong)
        return tuple(str(each).lower() for each in instances)

    def filters(self) -> InstanceFilters:
        """The query arguments of ``list-instances``. Unknown ones are ignored."""
        given = dict(parse_qsl(self.query, keep_blank_values=True))
        manager_id = given.get("manager-id")
        manager_type = given.get("manager-type")
        if manager_type not in (None, "instance-pool"):
            raise Invalid.because("manager-type: must be instance-pool")
        return InstanceFilters(
            manager_id=None if manager_id is None else _uuid("manager-id", manager_id),
            managed_only=manager_type is not None,
            address=given.get("ip-address"),
            labels=_labels(given.get("labels", "")),
        )

    def _object(self) -> Mapping[str, object]:
        try:
            content: object = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Invalid.because("the body is not JSON") from error
        if not isinstance(content, dict):
            raise Invalid.because("the body must be a JSON object")
        return content


@dataclass(frozen=True, slots=True)
class InstanceFilters:
    """Which instances are asked for; None and empty ask for all."""

    manager_id: str | None
    managed_only: bool
    address: str | None
    labels: Mapping[str, str]

    def match(self, pool_id: str, address: str, labels: Mapping[str, str]) -> bool:
        """Whether an instance with these properties is asked for."""
        return (
            (self.manager_id is None or self.manager_id == pool_id)
            and (not self.managed_only or pool_id != "")
            and (self.address is None or self.address == address)
            and self.labels.items() <= labels.items()
        )


def _labels(text: str) -> dict[str, str]:
    """The API does not document the filter's syntax; the sandbox reads ``key=value,key=value``."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair]
    if any(not key or not equals for key, equals, _ in pairs):
        raise Invalid.because("labels: must be key=value, separated by commas")
    return {key: value for key, _, value in pairs}


def _uuid(name: str, value: str) -> str:
    if not _is_uuid(value):
        raise Invalid.because(f"{name}: must be a UUID")
    return value.lower()


def _is_uuid(value: object) -> bool:
    return isinstance(value, str) and _UUID.fullmatch(value) is not None
