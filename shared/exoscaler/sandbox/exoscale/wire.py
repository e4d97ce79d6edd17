"""How the account's records look in answers: kebab-case, and a field that has nothing to say is left out."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

from exoscaler.sandbox.exoscale.account import Account
from exoscaler.sandbox.exoscale.instance_types import InstanceType
from exoscaler.sandbox.exoscale.operations import Operation
from exoscaler.sandbox.exoscale.resources import Cluster, Instance, Nodepool, Pool
from exoscaler.sandbox.machines.view import MachineTaint

Json: TypeAlias = dict[str, object]

_ID_SPACE = uuid.UUID("0d1f4f2b-3a57-4c0e-9d52-7f6f1f6a2f10")
TEMPLATE_ID = str(uuid.uuid5(_ID_SPACE, "template"))
SECURITY_GROUP_ID = str(uuid.uuid5(_ID_SPACE, "security-group"))

_ONLY_IN_DETAIL = ("anti-affinity-groups", "disk-encrypted", "disk-size", "secureboot-enabled", "tpm-enabled")
"""What ``get-instance`` shows and ``list-instances`` does not."""


def instance(record: Instance, account: Account) -> Json:
    """An instance as ``get-instance`` shows it. Its type is there by id only, as the live API does."""
    pool = account.pools.get(record.pool_id)
    return _without_empty(
        {
            "anti-affinity-groups": _references(pool.anti_affinity_groups if pool else ()),
            "created-at": _time(record.created_at),
            "disk-encrypted": True,
            "disk-size": record.launch.disk_gib,
            "id": record.id,
            "instance-type": {"id": record.launch.instance_type.id},
            "labels": dict(record.labels),
            "mac-address": record.mac,
            "manager": {"id": record.pool_id, "type": "instance-pool"} if record.pool_id else None,
            "name": record.name,
            "public-ip": record.address,
            "public-ip-assignment": "inet4",
            "secureboot-enabled": False,
            "security-groups": _references((SECURITY_GROUP_ID,)),
            "state": record.state.value,
            "template": {"id": TEMPLATE_ID},
            "tpm-enabled": False,
        }
    )


def listed_instance(record: Instance, account: Account) -> Json:
    """An instance as ``list-instances`` shows it: without the details."""
    detailed = instance(record, account)
    return {name: value for name, value in detailed.items() if name not in _ONLY_IN_DETAIL}


def instance_pool(record: Pool) -> Json:
    """An Instance Pool. `instances` is left out when it has none."""
    return _without_empty(
        {
            "anti-affinity-groups": _references(record.anti_affinity_groups),
            "description": record.description,
            "disk-size": record.launch.disk_gib,
            "id": record.id,
            "instance-prefix": record.prefix,
            "instance-type": {"id": record.launch.instance_type.id},
            "instances": _references(record.member_ids),
            "ipv6-enabled": False,
            "labels": dict(record.labels),
            "manager": {"id": record.nodepool_id, "type": "sks-nodepool"} if record.nodepool_id else None,
            "min-available": record.min_available or None,
            "name": record.name,
            "public-ip-assignment": "inet4",
            "security-groups": _references((SECURITY_GROUP_ID,)),
            "size": record.size,
            "state": record.state.value,
            "template": {"id": TEMPLATE_ID},
        }
    )


def nodepool(record: Nodepool, account: Account) -> Json:
    """An SKS Nodepool."""
    pool = record.pool
    return _without_empty(
        {
            "addons": list(record.addons),
            "anti-affinity-groups": _references(pool.anti_affinity_groups),
            "created-at": _time(record.created_at),
            "description": pool.description,
            "disk-size": pool.launch.disk_gib,
            "id": record.id,
            "instance-pool": {"id": pool.id},
            "instance-prefix": pool.prefix,
            "instance-type": {"id": pool.launch.instance_type.id},
            "kubelet-max-pods": record.max_pods,
            "labels": dict(record.labels),
            "name": record.name,
            "public-ip-assignment": "inet4",
            "security-groups": _references((SECURITY_GROUP_ID,)),
            "size": pool.size,
            "state": account.state_of(record).value,
            "taints": _taints(record.taints),
            "template": {"id": TEMPLATE_ID},
            "version": record.version,
        }
    )


def cluster(record: Cluster, account: Account) -> Json:
    """An SKS cluster with its nodepools in full."""
    return _without_empty(
        {
            "addons": list(record.addons),
            "auto-upgrade": False,
            "cni": record.cni,
            "created-at": _time(record.created_at),
            "enable-kube-proxy": True,
            "endpoint": f"https://{record.id}.sks-{account.zone}.exo.io:443",
            "id": record.id,
            "level": record.level,
            "name": record.name,
            "nodepools": [nodepool(each, account) for each in record.nodepools],
            "state": "running",
            "version": record.version,
        }
    )


def instance_type(record: InstanceType) -> Json:
    """An instance type; `gpus` is left out when it has none."""
    return _without_empty(
        {
            "authorized": True,
            "cpus": record.cpus,
            "family": record.family,
            "gpus": record.gpus or None,
            "id": record.id,
            "memory": record.memory_bytes,
            "size": record.size,
            "zones": list(record.zones),
        }
    )


def operation(record: Operation) -> Json:
    """An operation; `reason` and `message` are there only when it did not succeed."""
    reference = {"id": record.reference.id, "link": record.reference.link, "command": record.reference.command}
    return _without_empty(
        {
            "id": record.id,
            "message": record.message,
            "reason": record.reason.value if record.reason else None,
            "reference": reference,
            "state": record.state.value,
        }
    )


def quota(resource: str, account: Account) -> Json:
    """A quota with its usage."""
    return {"resource": resource, "usage": account.usage(resource), "limit": account.quotas.limit(resource)}


def zone(name: str, endpoint: str) -> Json:
    """A zone. Its endpoint is the sandbox's own address, so that a client that looks it up stays in the sandbox."""
    return {"name": name, "api-endpoint": endpoint, "sos-endpoint": f"https://sos-{name}.exo.io"}


def _without_empty(fields: Mapping[str, object]) -> Json:
    return {name: value for name, value in fields.items() if value is not None and value not in ("", [], {})}


def _references(ids: Sequence[str]) -> list[Json]:
    return [{"id": each} for each in ids]


def _taints(taints: Sequence[MachineTaint]) -> Json:
    return {taint.key: {"value": taint.value, "effect": taint.effect} for taint in taints}


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
