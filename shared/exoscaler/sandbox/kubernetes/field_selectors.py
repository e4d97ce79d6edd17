"""Field selectors: equality on the few fields that each resource offers, as on a real API server."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from exoscaler.sandbox.kubernetes.failures import bad_request
from exoscaler.sandbox.kubernetes.json_values import section, text
from exoscaler.sandbox.kubernetes.resources import Resource, ResourceKey
from exoscaler.sandbox.objects import JsonObject

FieldReader: TypeAlias = Callable[[JsonObject], str]


def _path(path: str) -> FieldReader:
    return lambda obj: text(obj, path)


def _paths(*paths: str) -> dict[str, FieldReader]:
    return {path: _path(path) for path in paths}


def _flag(path: str) -> FieldReader:
    return lambda obj: text(obj, path) or "false"


def _count(path: str) -> FieldReader:
    return lambda obj: text(obj, path) or "0"


def _event_source(obj: JsonObject) -> str:
    return text(obj, "source.component") or text(obj, "reportingComponent")


def _pod_ip(obj: JsonObject) -> str:
    return str(section(obj, "status").get("podIP") or "")


_GENERAL = _paths("metadata.name", "metadata.namespace")
_BY_RESOURCE: dict[ResourceKey, dict[str, FieldReader]] = {
    ("v1", "pods"): {
        **_paths(
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "status.phase",
            "status.nominatedNodeName",
        ),
        "spec.hostNetwork": _flag("spec.hostNetwork"),
        "status.podIP": _pod_ip,
    },
    ("v1", "nodes"): {"spec.unschedulable": _flag("spec.unschedulable")},
    ("v1", "namespaces"): _paths("status.phase"),
    ("v1", "secrets"): _paths("type"),
    ("v1", "services"): _paths("spec.clusterIP", "spec.type"),
    ("v1", "replicationcontrollers"): {"status.replicas": _count("status.replicas")},
    ("apps/v1", "replicasets"): {"status.replicas": _count("status.replicas")},
    ("batch/v1", "jobs"): {"status.successful": _count("status.succeeded")},
    ("v1", "events"): {
        **_paths(
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "type",
        ),
        "source": _event_source,
    },
}


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """Equalities and inequalities on fields; all must hold."""

    terms: tuple[tuple[FieldReader, str, bool], ...] = ()

    def matches(self, obj: JsonObject) -> bool:
        """True when every field has (or, for an inequality, has not) its value."""
        return all((read(obj) == value) is equal for read, value, equal in self.terms)


EVERY_FIELD = FieldSelector()
"""The selector that matches whatever the fields are."""

_TERM = re.compile(r"(?P<field>[^=!]+?)\s*(?P<operator>==|!=|=)(?P<value>.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\\,=])")


def parse_field_selector(resource: Resource, source: str) -> FieldSelector:
    """Parse the text form, such as ``spec.nodeName=a,status.phase!=Failed``.

    Raises:
        ApiFailure: 400, the text is malformed or the resource does not offer the field.
    """
    offered = {**_GENERAL, **_BY_RESOURCE.get(resource.key, {})}
    terms: list[tuple[FieldReader, str, bool]] = []
    for part in re.split(r"(?<!\\),", source):
        if not part.strip():
            continue
        match = _TERM.fullmatch(part.strip())
        if match is None:
            raise bad_request(f"invalid selector: '{source}'; can't understand '{part}'")
        reader = offered.get(match["field"])
        if reader is None:
            raise bad_request(
                f'Unable to find "{resource.group_version}, Resource={resource.plural}" that match label selector "", '
                f'field selector "{source}": field label not supported: {match["field"]}'
            )
        terms.append((reader, _ESCAPED.sub(r"\1", match["value"]), match["operator"] != "!="))
    return FieldSelector(tuple(terms))
