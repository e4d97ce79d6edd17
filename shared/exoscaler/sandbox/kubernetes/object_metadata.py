"""The part of an object that belongs to the server: identity, time stamps, generation."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta

from exoscaler.sandbox.kubernetes.failures import FieldProblem, bad_request, conflict
from exoscaler.sandbox.kubernetes.json_values import metadata
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_PREFIX = 58
_SERVER_OWNED = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")


def rfc3339(moment: datetime) -> str:
    """A time stamp as the API writes it, in whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(moment: datetime) -> str:
    """A time stamp with microseconds, as leases and new events carry it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(stamp: str) -> datetime | None:
    """The moment of an RFC 3339 time stamp; None when it is not one."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def random_suffix() -> str:
    """Five letters without vowels, as the API appends them to a generateName."""
    return "".join(random.choice(_SUFFIX_LETTERS) for _ in range(_SUFFIX_LENGTH))


def check_identity(resource: Resource, obj: JsonObject, *, namespace: str, name: str) -> None:
    """Check that the body is of the kind, namespace and name that the path says; fill in what it leaves out.

    Raises:
        ApiFailure: 400, they differ.
    """
    version = obj.setdefault("apiVersion", resource.group_version)
    if version != resource.group_version:
        raise bad_request(
            f"the API version in the data ({version}) does not match the expected API version "
            f"({resource.group_version})"
        )
    kind = obj.setdefault("kind", resource.kind)
    if kind != resource.kind:
        raise bad_request(f'{kind} in version "{resource.version}" cannot be handled as a {resource.kind}')
    meta = metadata(obj)
    if resource.namespaced:
        if meta.setdefault("namespace", namespace) != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    else:
        meta.pop("namespace", None)
    if name and meta.setdefault("name", name) != name:
        raise bad_request(f"the name of the object ({meta['name']}) does not match the name on the URL ({name})")


def begin(resource: Resource, obj: JsonObject, now: datetime) -> None:
    """Give a new object its identity; what the client sent of that is dropped.

    Raises:
        ApiFailure: 400, it carries a resourceVersion.
    """
    meta = metadata(obj)
    if meta.pop("resourceVersion", ""):
        raise bad_request("resourceVersion should not be set on objects to be created")
    for name in (*_SERVER_OWNED, "generation", "managedFields"):
        meta.pop(name, None)
    prefix = meta.get("generateName")
    if not meta.get("name") and prefix:
        meta["name"] = f"{prefix[:_LONGEST_PREFIX]}{random_suffix()}"
    meta["uid"] = str(uuid.uuid4())
    meta["creationTimestamp"] = rfc3339(now)
    if resource.counts_generations:
        meta["generation"] = 1


def carry_over(resource: Resource, old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """Keep what an update must not change; returns what it tried to change against the rules.

    Raises:
        ApiFailure: 409, the update is meant for another object of the same name.
    """
    before, after = metadata(old), metadata(new)
    if after.get("uid") and after["uid"] != before["uid"]:
        raise conflict(
            resource,
            before["name"],
            f"Precondition failed: UID in precondition: {after['uid']}, UID in object meta: {before['uid']}",
        )
    for name in (*_SERVER_OWNED, "generation"):
        if name in before:
            after[name] = before[name]
        else:
            after.pop(name, None)
    after.pop("managedFields", None)
    if "deletionTimestamp" in before:
        added = set(after.get("finalizers") or ()) - set(before.get("finalizers") or ())
        if added:
            note = (
                f"no new finalizers can be added if the object is being deleted, found new finalizers {sorted(added)}"
            )
            return [FieldProblem.forbidden("metadata.finalizers", note)]
    return []


def count_generation(resource: Resource, old: JsonObject, new: JsonObject) -> None:
    """Raise the generation when anything but metadata and status changed."""
    if not resource.counts_generations:
        return
    if any(
        old.get(part) != new.get(part)
        for part in (old.keys() | new.keys()) - {"metadata", "status", "apiVersion", "kind"}
    ):
        metadata(new)["generation"] = metadata(old).get("generation", 0) + 1


def mark_deleted(obj: JsonObject, now: datetime, grace_seconds: int) -> None:
    """Set the deletion time stamp (when the grace ends) and the grace; counts as a change of the desired state."""
    meta = metadata(obj)
    meta["deletionTimestamp"] = rfc3339(now + timedelta(seconds=grace_seconds))
    meta["deletionGracePeriodSeconds"] = grace_seconds
    if meta.get("generation"):
        meta["generation"] += 1
