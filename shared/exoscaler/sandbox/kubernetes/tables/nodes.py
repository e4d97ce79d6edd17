"""The table of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from exoscaler.sandbox.kubernetes.conditions import find_condition
from exoscaler.sandbox.kubernetes.json_values import entries, metadata, section
from exoscaler.sandbox.kubernetes.tables.columns import AGE, NAME, NONE, UNKNOWN, Cell, Column, Reader, at
from exoscaler.sandbox.objects import JsonObject

_ROLE_PREFIX = "node-role.kubernetes.io/"
_ROLE = "kubernetes.io/role"


def _status(node: JsonObject, _now: datetime) -> Cell:
    ready = find_condition(section(node, "status"), "Ready").get("status")
    shown = {"True": "Ready", None: "Unknown"}.get(ready, "NotReady")
    return f"{shown},SchedulingDisabled" if section(node, "spec").get("unschedulable") else shown


def _roles(node: JsonObject, _now: datetime) -> Cell:
    labels = metadata(node).get("labels") or {}
    roles = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    if labels.get(_ROLE):
        roles.add(labels[_ROLE])
    return ",".join(sorted(roles - {""})) or NONE


def _address(kind: str) -> Reader:
    def read(node: JsonObject, _now: datetime) -> Cell:
        found = [one for one in entries(section(node, "status"), "addresses") if one.get("type") == kind]
        return str(found[0].get("address")) if found else NONE

    return read


COLUMNS: Sequence[Column] = (
    NAME,
    Column("Status", _status),
    Column("Roles", _roles),
    AGE,
    Column("Version", at("status.nodeInfo.kubeletVersion")),
    Column("Internal-IP", _address("InternalIP"), wide=True),
    Column("External-IP", _address("ExternalIP"), wide=True),
    Column("OS-Image", at("status.nodeInfo.osImage", absent=UNKNOWN), wide=True),
    Column("Kernel-Version", at("status.nodeInfo.kernelVersion", absent=UNKNOWN), wide=True),
    Column("Container-Runtime", at("status.nodeInfo.containerRuntimeVersion", absent=UNKNOWN), wide=True),
)
