"""Flags that stop the start, each with the reason: obeying them is impossible, and ignoring them would do harm."""

from __future__ import annotations

from collections.abc import Iterable

from exoscaler.settings.flag import Flag, Status, variable_of
from exoscaler.settings.kinds import BOOL, Kind

_MASTER = "not supported: an address alone carries no credentials; name the cluster with --kubeconfig"
_DISCOVERY = (
    "not supported: node groups are found from the cluster's nodes and from the SKS clusters that own them; "
    "set bounds with --nodes=min:max:name, and --sks-cluster-id to stay within one cluster"
)
_QUOTAS = "not supported: CapacityQuota objects are not read, so their limits would be broken; set it to false"
_PROFILE = "not supported: the simulation follows the scheduler's default profile, any other would make it wrong"
_DEVICES = "cannot be switched off, here or upstream; set it to true"
_NO_AUTOPROVISIONING = "removed upstream; node groups are not created, leave it out"

_Row = tuple[str, str, str, str, str, Kind | None, object]
"""Section, name, rule, meaning, reason, and for some the one value that is fine: its kind and itself."""

_ROWS: tuple[_Row, ...] = (
    ("Process and cluster", "kubernetes", "F10", "Address of the API server.", _MASTER, None, None),
    ("Node groups", "node-group-auto-discovery", "F19", "Find node groups by tags.", _DISCOVERY, None, None),
    ("Limits of the cluster", "capacity-quotas-enabled", "F30", "Obey CapacityQuota objects.", _QUOTAS, BOOL, False),
    ("Scale-up", "scheduler-config-file", "F58", "Another profile of the scheduler.", _PROFILE, None, None),
    (
        "Optional parts of upstream",
        "enable-dynamic-resource-allocation",
        "F96",
        "Look at device claims.",
        _DEVICES,
        BOOL,
        True,
    ),
    (
        "Removed upstream",
        "max-empty-bulk-delete",
        "F121",
        "Most empty nodes removed at once.",
        "removed upstream; use --max-scale-down-parallelism",
        None,
        None,
    ),
    (
        "Removed upstream",
        "node-autoprovisioning-enabled",
        "F122",
        "Create node groups.",
        _NO_AUTOPROVISIONING,
        None,
        None,
    ),
    (
        "Removed upstream",
        "max-autoprovisioned-node-group-count",
        "F122",
        "Most groups created.",
        _NO_AUTOPROVISIONING,
        None,
        None,
    ),
    (
        "Removed upstream",
        "parallel-drain",
        "F122",
        "Drain several nodes at once.",
        "removed upstream; use --max-drain-parallelism",
        None,
        None,
    ),
    (
        "Removed upstream",
        "gce-expander-ephemeral-storage-support",
        "F122",
        "GCE.",
        "removed upstream; it was about another cloud, leave it out",
        None,
        None,
    ),
)

_ENVIRONMENT_ONLY = {
    "exoscale-zone": "EXOSCALE_ZONE",
    "exoscale-api-key": "EXOSCALE_API_KEY",
    "exoscale-api-secret": "EXOSCALE_API_SECRET",
    "exoscale-api-environment": "EXOSCALE_API_ENVIRONMENT",
    "exoscale-api-endpoint": "EXOSCALE_API_ENDPOINT",
}
"""What somebody may try to write as a flag or in a file: credentials would then show in process lists and backups."""


def refused_flags() -> Iterable[Flag]:
    """All of them. A flag with `only` is fine with that one value, which asks for nothing."""
    for group, name, rule, meaning, why, kind, only in _ROWS:
        yield Flag(
            name=name,
            group=group,
            rule=rule,
            kind=kind,
            default=only,
            meaning=meaning,
            status=Status.REFUSED,
            why=why,
            only=only,
            variables=(variable_of(name),),
        )
    for name, variable in _ENVIRONMENT_ONLY.items():
        yield Flag(
            name=name,
            group="Access to Exoscale",
            rule="",
            kind=None,
            default=None,
            meaning="",
            status=Status.REFUSED,
            why=f"read from the environment variable {variable} only",
        )
