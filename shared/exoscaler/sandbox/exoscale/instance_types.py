"""The instance types that the zone offers: real sizes under made-up, stable ids."""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from exoscaler.sandbox.exoscale.errors import NotFound

ZONES = ("at-vie-1", "at-vie-2", "bg-sof-1", "ch-dk-2", "ch-gva-2", "de-fra-1", "de-muc-1", "hr-zag-1")
EVERYWHERE = ZONES
NOT_MUNICH = tuple(zone for zone in ZONES if zone != "de-muc-1")

_ID_SPACE = uuid.UUID("3c8bb1ce-0f1c-4a6d-9a57-5b7f5f0a7e11")


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One size of machine. `gpus` is 0 for a type without any."""

    id: str
    family: str
    size: str
    cpus: int
    memory_bytes: int
    gpus: int
    zones: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name that users and node labels know: ``family.size``."""
        return f"{self.family}.{self.size}"


# Name, vCPUs, memory in MiB, GPUs, zones; as the live API listed them in August 2026.
_TABLE: tuple[tuple[str, int, int, int, tuple[str, ...]], ...] = (
    ("standard.micro", 1, 512, 0, EVERYWHERE),
    ("standard.tiny", 1, 1024, 0, EVERYWHERE),
    ("standard.small", 2, 2048, 0, EVERYWHERE),
    ("standard.medium", 2, 4096, 0, EVERYWHERE),
    ("standard.large", 4, 8192, 0, EVERYWHERE),
    ("standard.extra-large", 4, 16384, 0, EVERYWHERE),
    ("standard.huge", 8, 32768, 0, EVERYWHERE),
    ("standard.mega", 12, 65536, 0, EVERYWHERE),
    ("standard.titan", 16, 131072, 0, EVERYWHERE),
    ("standard.jumbo", 24, 230400, 0, EVERYWHERE),
    ("storage.extra-large", 4, 16384, 0, NOT_MUNICH),
    ("storage.huge", 8, 32768, 0, NOT_MUNICH),
    ("storage.mega", 12, 65536, 0, NOT_MUNICH),
    ("storage.titan", 16, 131072, 0, NOT_MUNICH),
    ("storage.jumbo", 24, 230400, 0, NOT_MUNICH),
    ("gpu2.small", 12, 57344, 1, ("at-vie-1",)),
    ("gpu2.medium", 16, 92160, 2, ("at-vie-1",)),
    ("gpu2.large", 24, 122880, 3, ("at-vie-1",)),
    ("gpu2.huge", 48, 230400, 4, ("at-vie-1",)),
    ("cpu.extra-large", 8, 16384, 0, EVERYWHERE),
    ("cpu.huge", 16, 32768, 0, EVERYWHERE),
    ("cpu.mega", 32, 65536, 0, EVERYWHERE),
    ("cpu.titan", 40, 131072, 0, EVERYWHERE),
    ("memory.extra-large", 2, 16384, 0, EVERYWHERE),
    ("memory.huge", 4, 32768, 0, EVERYWHERE),
    ("memory.mega", 8, 65536, 0, EVERYWHERE),
    ("memory.titan", 12, 131072, 0, EVERYWHERE),
    ("standard.colossus", 40, 327680, 0, EVERYWHERE),
    ("gpu3.small", 12, 57344, 1, ("de-fra-1",)),
    ("gpu3.medium", 24, 122880, 2, ("de-fra-1",)),
    ("gpu3.large", 48, 229376, 4, ("de-fra-1",)),
    ("gpu3.huge", 96, 458752, 8, ("de-fra-1",)),
    ("gpua5000.small", 12, 57344, 1, ("at-vie-2",)),
    ("gpua5000.medium", 24, 114688, 2, ("at-vie-2",)),
    ("gpua5000.large", 48, 229376, 4, ("at-vie-2",)),
    ("gpu3080ti.small", 12, 57344, 1, ("at-vie-2",)),
    ("gpu3080ti.medium", 24, 114688, 2, ("at-vie-2",)),
    ("gpu3080ti.large", 48, 229376, 4, ("at-vie-2",)),
    ("gpua30.small", 12, 57344, 1, ("ch-gva-2",)),
    ("gpua30.medium", 16, 92160, 2, ("ch-gva-2",)),
    ("gpua30.large", 24, 122880, 3, ("ch-gva-2",)),
    ("gpua30.huge", 48, 230400, 4, ("ch-gva-2",)),
    ("cpu.titan48c", 48, 131072, 0, EVERYWHERE),
    ("cpu.colossus", 80, 327680, 0, EVERYWHERE),
    ("gpurtx6000pro.small", 36, 122880, 1, ("ch-dk-2", "de-fra-1", "hr-zag-1")),
    ("gpurtx6000pro.medium", 72, 245760, 2, ("ch-dk-2", "de-fra-1", "hr-zag-1")),
    ("gpurtx6000pro.large", 144, 491520, 4, ("ch-dk-2", "de-fra-1", "hr-zag-1")),
    ("gpurtx6000pro.huge", 248, 983040, 8, ("ch-dk-2", "de-fra-1", "hr-zag-1")),
    ("gpub300.huge", 248, 2621440, 8, ("ch-gva-2",)),
)


def _instance_type(name: str, cpus: int, memory_mib: int, gpus: int, zones: tuple[str, ...]) -> InstanceType:
    family, _, size = name.partition(".")
    return InstanceType(
        id=str(uuid.uuid5(_ID_SPACE, name)),
        family=family,
        size=size,
        cpus=cpus,
        memory_bytes=memory_mib * 2**20,
        gpus=gpus,
        zones=zones,
    )


CATALOGUE = tuple(_instance_type(*row) for row in _TABLE)
_BY_NAME = {each.name: each for each in CATALOGUE}
_BY_ID = {each.id: each for each in CATALOGUE}


def by_name(name: str) -> InstanceType:
    """The type called `name`.

    Raises:
        ValueError: there is none; the message names all there are.
    """
    found = _BY_NAME.get(name)
    if found is None:
        message = f"unknown instance type {name!r}; known are {', '.join(sorted(_BY_NAME))}"
        raise ValueError(message)
    return found


def by_id(type_id: str) -> InstanceType:
    """The type with the id `type_id`; NotFound (404) when there is none."""
    found = _BY_ID.get(type_id)
    if found is None:
        raise NotFound(f"Instance type {type_id} not found")
    return found
