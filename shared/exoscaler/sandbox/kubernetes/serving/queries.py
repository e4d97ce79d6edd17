"""The options of a request, from its query and, for deletions, its body."""

from __future__ import annotations

from collections.abc import Mapping

from exoscaler.sandbox.kubernetes.deletion import DeleteOptions
from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request
from exoscaler.sandbox.kubernetes.json_values import section, text
from exoscaler.sandbox.kubernetes.paging import PageRequest
from exoscaler.sandbox.objects import JsonObject

_TRUE = ("1", "t", "true", "")
_PROPAGATIONS = ("", "Orphan", "Background", "Foreground")


def flag(query: Mapping[str, str], name: str) -> bool:
    """A boolean option; absent means False."""
    return name in query and query[name].lower() in _TRUE


def count(query: Mapping[str, str], name: str) -> int | None:
    """An integer option; None when it is absent; 400 when it is not a number."""
    value = query.get(name, "")
    if not value:
        return None
    try:
        return int(value)
    except ValueError as error:
        raise bad_request(f'the option {name} must be a number, not "{value}"') from error


def page_request(query: Mapping[str, str]) -> PageRequest:
    """The paging options of a list."""
    limit = count(query, "limit") or 0
    if limit < 0:
        raise bad_request("the option limit must not be negative")
    return PageRequest(
        limit=limit,
        continue_token=query.get("continue", ""),
        version=query.get("resourceVersion", ""),
        match=query.get("resourceVersionMatch", ""),
    )


def dry_run(query: Mapping[str, str]) -> bool:
    """True when the request must leave no trace; 422 for a value that is not ``All``."""
    return _is_dry_run(query.get("dryRun", ""))


def _is_dry_run(value: str) -> bool:
    if value not in ("", "All"):
        message = f'dryRun: Unsupported value: "{value}": supported values: "All"'
        raise ApiFailure(422, "Invalid", message)
    return value == "All"


def delete_options(query: Mapping[str, str], body: JsonObject) -> DeleteOptions:
    """The options of a deletion: those of the body, or else of the query."""
    preconditions = section(body, "preconditions")
    grace = body.get("gracePeriodSeconds")
    if grace is None:
        grace = count(query, "gracePeriodSeconds")
    if grace is not None and not isinstance(grace, int):
        raise bad_request(f"gracePeriodSeconds must be a number, not {grace!r}")
    propagation = text(body, "propagationPolicy") or query.get("propagationPolicy", "")
    if propagation not in _PROPAGATIONS:
        raise ApiFailure(422, "Invalid", f'propagationPolicy: Unsupported value: "{propagation}"')
    if body.get("orphanDependents") or flag(query, "orphanDependents"):
        propagation = "Orphan"
    asked = [_is_dry_run(str(value)) for value in body.get("dryRun") or ()]
    return DeleteOptions(
        grace_seconds=grace,
        uid=text(preconditions, "uid"),
        version=text(preconditions, "resourceVersion"),
        propagation=propagation,
        dry_run=dry_run(query) or any(asked),
    )
