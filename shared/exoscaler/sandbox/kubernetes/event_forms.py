"""The two forms of an event: ``v1`` as it is stored, ``events.k8s.io/v1`` as the newer API shows the same object."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.resources import EVENTS, RESOURCES, Resource
from exoscaler.sandbox.objects import JsonObject

_NEW_NAMES = {
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_OLD_NAMES = {new: old for old, new in _NEW_NAMES.items()}


def stored_resource(resource: Resource) -> Resource:
    """The resource under which objects of `resource` are stored; itself for all but the second form of events."""
    return RESOURCES[resource.stored_as] if resource.stored_as else resource


def to_stored(resource: Resource, obj: JsonObject) -> JsonObject:
    """An object as a client sent it, in the form in which it is stored."""
    if resource.stored_as != EVENTS.key:
        return obj
    renamed = {_OLD_NAMES.get(name, name): value for name, value in obj.items()}
    if renamed.get("apiVersion") == resource.group_version:
        renamed["apiVersion"] = EVENTS.group_version
    return renamed


def to_served(resource: Resource, obj: JsonObject) -> JsonObject:
    """A stored object in the form of the resource that a client asked for."""
    if resource.stored_as != EVENTS.key:
        return obj
    renamed = {_NEW_NAMES.get(name, name): value for name, value in obj.items()}
    renamed["apiVersion"] = resource.group_version
    return renamed
