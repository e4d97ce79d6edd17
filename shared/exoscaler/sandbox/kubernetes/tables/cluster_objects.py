"""The tables of everything that is neither a pod, a node nor a workload."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from exoscaler.sandbox.kubernetes.json_values import entries, number, section, text
from exoscaler.sandbox.kubernetes.tables.columns import (
    AGE,
    NAME,
    NONE,
    UNKNOWN,
    Cell,
    Column,
    age,
    at,
    count_at,
    joined,
    number_column,
    since,
    size_of,
)
from exoscaler.sandbox.objects import JsonObject


def _last_seen(event: JsonObject, now: datetime) -> Cell:
    first = text(event, "firstTimestamp") or text(event, "eventTime")
    last = text(event, "series.lastObservedTime") or text(event, "lastTimestamp") or first
    seen = since(last, now) if last else UNKNOWN
    times = number(section(event, "series"), "count") or number(event, "count")
    return f"{seen} (x{times} over {since(first, now)})" if times > 1 and first else seen


def _first_seen(event: JsonObject, now: datetime) -> Cell:
    return since(text(event, "firstTimestamp") or text(event, "eventTime"), now)


def _subject(event: JsonObject, _now: datetime) -> Cell:
    kind, name = text(event, "involvedObject.kind").lower(), text(event, "involvedObject.name")
    return f"{kind}/{name}" if name else kind


def _source(event: JsonObject, _now: datetime) -> Cell:
    component = text(event, "source.component") or text(event, "reportingComponent")
    return ", ".join(part for part in (component, text(event, "source.host")) if part)


def _message(event: JsonObject, _now: datetime) -> Cell:
    return text(event, "message").strip()


def _occurrences(event: JsonObject, _now: datetime) -> Cell:
    return number(section(event, "series"), "count") or number(event, "count") or 1


def _external(service: JsonObject, _now: datetime) -> Cell:
    spec = section(service, "spec")
    addresses = list(spec.get("externalIPs") or ())
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    if spec.get("type") == "LoadBalancer":
        balancer = section(section(service, "status"), "loadBalancer")
        addresses += [one.get("ip") or one.get("hostname") or "" for one in entries(balancer, "ingress")]
        return ",".join(addresses) or "<pending>"
    return ",".join(addresses) or NONE


def _ports(service: JsonObject, _now: datetime) -> Cell:
    shown = []
    for port in entries(section(service, "spec"), "ports"):
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        shown.append(f"{port.get('port')}{node_port}/{port.get('protocol', 'TCP')}")
    return ",".join(shown) or NONE


def _service_selector(service: JsonObject, _now: datetime) -> Cell:
    return joined(section(section(service, "spec"), "selector"))


def _endpoints(obj: JsonObject, _now: datetime) -> Cell:
    shown = [
        f"{address.get('ip')}:{port.get('port')}"
        for subset in entries(obj, "subsets")
        for address in entries(subset, "addresses")
        for port in entries(subset, "ports")
    ]
    return ",".join(shown[:3]) + (f" + {len(shown) - 3} more..." if len(shown) > 3 else "") or NONE


def _drivers(obj: JsonObject, _now: datetime) -> Cell:
    return len(entries(section(obj, "spec"), "drivers"))


def _is_global_default(obj: JsonObject, _now: datetime) -> Cell:
    return bool(obj.get("globalDefault"))


EVENT: Sequence[Column] = (
    Column("Last Seen", _last_seen),
    Column("Type", at("type")),
    Column("Reason", at("reason")),
    Column("Object", _subject),
    Column("Subobject", at("involvedObject.fieldPath"), wide=True),
    Column("Source", _source, wide=True),
    Column("Message", _message),
    Column("First Seen", _first_seen, wide=True),
    number_column("Count", _occurrences, wide=True),
    Column("Name", at("metadata.name"), wide=True),
)
NAMESPACE: Sequence[Column] = (NAME, Column("Status", at("status.phase")), AGE)
CONFIG_MAP: Sequence[Column] = (NAME, number_column("Data", size_of("data", "binaryData")), AGE)
SECRET: Sequence[Column] = (NAME, Column("Type", at("type")), number_column("Data", size_of("data")), AGE)
SERVICE_ACCOUNT: Sequence[Column] = (NAME, number_column("Secrets", size_of("secrets")), AGE)
BUDGET: Sequence[Column] = (
    NAME,
    Column("Min Available", at("spec.minAvailable", absent="N/A")),
    Column("Max Unavailable", at("spec.maxUnavailable", absent="N/A")),
    number_column("Allowed Disruptions", count_at("status.disruptionsAllowed")),
    AGE,
)
SERVICE: Sequence[Column] = (
    NAME,
    Column("Type", at("spec.type")),
    Column("Cluster-IP", at("spec.clusterIP", absent=NONE)),
    Column("External-IP", _external),
    Column("Port(s)", _ports),
    AGE,
    Column("Selector", _service_selector, wide=True),
)
ENDPOINTS: Sequence[Column] = (NAME, Column("Endpoints", _endpoints), AGE)
LEASE: Sequence[Column] = (NAME, Column("Holder", at("spec.holderIdentity")), AGE)
CSI_NODE: Sequence[Column] = (NAME, number_column("Drivers", _drivers), AGE)
STORAGE_CLASS: Sequence[Column] = (
    NAME,
    Column("Provisioner", at("provisioner")),
    Column("ReclaimPolicy", at("reclaimPolicy")),
    Column("VolumeBindingMode", at("volumeBindingMode")),
    Column("AllowVolumeExpansion", at("allowVolumeExpansion", absent="false")),
    AGE,
)
PRIORITY_CLASS: Sequence[Column] = (
    NAME,
    number_column("Value", count_at("value")),
    Column("Global-Default", _is_global_default, type="boolean"),
    AGE,
    Column("PreemptionPolicy", at("preemptionPolicy")),
)
CLAIM: Sequence[Column] = (
    NAME,
    Column("Status", at("status.phase")),
    Column("Volume", at("spec.volumeName")),
    Column("Capacity", at("status.capacity.storage")),
    Column("StorageClass", at("spec.storageClassName")),
    AGE,
)
VOLUME: Sequence[Column] = (
    NAME,
    Column("Capacity", at("spec.capacity.storage")),
    Column("Reclaim Policy", at("spec.persistentVolumeReclaimPolicy")),
    Column("Status", at("status.phase")),
    Column("Claim", at("spec.claimRef.name")),
    Column("StorageClass", at("spec.storageClassName")),
    AGE,
)
OTHER: Sequence[Column] = (NAME, Column("Age", age))
