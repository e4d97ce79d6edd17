"""Discovery: what a client asks to learn which groups, versions and resources the server has."""

from __future__ import annotations

from itertools import groupby

from exoscaler.sandbox.kubernetes.resources import RESOURCES, Resource
from exoscaler.sandbox.objects import JsonObject

VERSION: JsonObject = {
    "major": "1",
    "minor": "32",
    "gitVersion": "v1.32.4-exoscaler-sandbox",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "2025-01-01T00:00:00Z",
    "goVersion": "none",
    "compiler": "none",
    "platform": "sandbox",
}
AGGREGATED = {"g": "apidiscovery.k8s.io", "v": "v2", "as": "APIGroupDiscoveryList"}
"""What an Accept header says to get everything in two answers."""

_SUBRESOURCES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "binding": ("", "Binding", ("create",)),
    "eviction": ("policy/v1", "Eviction", ("create",)),
    "finalize": ("", "", ("update",)),
    "log": ("", "", ("get",)),
    "scale": ("autoscaling/v1", "Scale", ("get", "patch", "update")),
    "status": ("", "", ("get", "patch", "update")),
    "token": ("authentication.k8s.io/v1", "TokenRequest", ("create",)),
}
"""Of each subresource: its own group and kind where it has one, and its verbs."""


def group_versions() -> list[str]:
    """Every group with version, the core first."""
    return list(dict.fromkeys(group for group, _ in sorted(RESOURCES, key=lambda key: ("/" in key[0], key[0]))))


def core_versions() -> JsonObject:
    """The answer to ``/api``."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list() -> JsonObject:
    """The answer to ``/apis``."""
    groups = [_group(group_version) for group_version in group_versions() if "/" in group_version]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}


def group(name: str) -> JsonObject | None:
    """The answer to ``/apis/<group>``; None for a group that does not exist."""
    found = [known for known in group_versions() if known.rpartition("/")[0] == name and name]
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(found[0])} if found else None


def resource_list(group_version: str) -> JsonObject | None:
    """The answer to ``/api/v1`` or ``/apis/<group>/<version>``; None when it does not exist."""
    resources = _resources_of(group_version)
    if not resources:
        return None
    listed = [entry for resource in resources for entry in (_entry(resource), *_subresource_entries(resource))]
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version, "resources": listed}


def aggregated(*, core: bool) -> JsonObject:
    """The groups of ``/api`` or ``/apis`` with all their resources in one answer."""
    items = []
    for name, versions in groupby(group_versions(), key=lambda known: known.rpartition("/")[0]):
        if bool(name) is core:
            continue
        described = [
            {
                "version": group_version.rpartition("/")[2],
                "resources": [_aggregated_entry(resource) for resource in _resources_of(group_version)],
                "freshness": "Current",
            }
            for group_version in versions
        ]
        items.append({"metadata": {"name": name} if name else {}, "versions": described})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def _resources_of(group_version: str) -> list[Resource]:
    return [resource for resource in RESOURCES.values() if resource.group_version == group_version]


def _group(group_version: str) -> JsonObject:
    name, _, version = group_version.rpartition("/")
    entry = {"groupVersion": group_version, "version": version}
    return {"name": name, "versions": [entry], "preferredVersion": entry}


def _entry(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    return entry


def _subresource_entries(resource: Resource) -> list[JsonObject]:
    entries = []
    for name in sorted(resource.subresources):
        own_group, kind, verbs = _SUBRESOURCES[name]
        entry: JsonObject = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind or resource.kind,
            "verbs": list(verbs),
        }
        if own_group:
            entry["group"], _, entry["version"] = own_group.rpartition("/")
        entries.append(entry)
    return entries


def _aggregated_entry(resource: Resource) -> JsonObject:
    entry: JsonObject = {
        "resource": resource.plural,
        "responseKind": _kind(resource.group_version, resource.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    subresources = []
    for name in sorted(resource.subresources):
        own_group, kind, verbs = _SUBRESOURCES[name]
        shown = _kind(own_group or resource.group_version, kind or resource.kind)
        subresources.append({"subresource": name, "responseKind": shown, "verbs": list(verbs)})
    if subresources:
        entry["subresources"] = subresources
    return entry


def _kind(group_version: str, kind: str) -> JsonObject:
    name, _, version = group_version.rpartition("/")
    return {"group": name, "version": version, "kind": kind}
