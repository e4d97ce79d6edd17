"""Rules of nodes, configuration, budgets, events and other objects."""

from __future__ import annotations

import re

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.json_values import entries, number, section, text
from exoscaler.sandbox.kubernetes.label_selectors import selector_of
from exoscaler.sandbox.kubernetes.validation.names import is_label_value, is_qualified
from exoscaler.sandbox.objects import JsonObject

LARGEST_CONTENT = 1024 * 1024
"""Bytes that the values of a ConfigMap or Secret may have together."""

_CONTENT_KEY = re.compile(r"(?!\.{1,2}$)(?!\.\.)[-._a-zA-Z0-9]{1,253}")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_PERCENTAGE = re.compile(r"\d{1,3}%")
_LONGEST_NOTE = 1024


def config_map_problems(obj: JsonObject) -> list[FieldProblem]:
    """A ConfigMap: keys are file names, used once, and all content is at most 1 MiB."""
    data, binary = section(obj, "data"), section(obj, "binaryData")
    problems = [*_key_problems(data, "data"), *_key_problems(binary, "binaryData")]
    problems += [
        FieldProblem.invalid(f"data[{key}]", key, "duplicate of key in binaryData") for key in data if key in binary
    ]
    size = sum(len(str(value).encode()) for value in data.values())
    size += sum(_decoded_size(str(value)) for value in binary.values())
    return [*problems, FieldProblem.too_long("", LARGEST_CONTENT)] if size > LARGEST_CONTENT else problems


def secret_problems(obj: JsonObject) -> list[FieldProblem]:
    """A Secret: as a ConfigMap with binary content only."""
    data = section(obj, "data")
    problems = _key_problems(data, "data")
    if sum(_decoded_size(str(value)) for value in data.values()) > LARGEST_CONTENT:
        problems.append(FieldProblem.too_long("data", LARGEST_CONTENT))
    return problems


def content_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """A ConfigMap or Secret marked immutable stays as it is."""
    problems: list[FieldProblem] = []
    if old.get("immutable"):
        note = "field is immutable when `immutable` is set"
        if not new.get("immutable"):
            problems.append(FieldProblem.forbidden("immutable", note))
        problems += [
            FieldProblem.forbidden(part, note) for part in ("data", "binaryData") if old.get(part) != new.get(part)
        ]
    if old.get("type") != new.get("type"):
        problems.append(FieldProblem.invalid("type", new.get("type"), "field is immutable"))
    return problems


def node_problems(obj: JsonObject) -> list[FieldProblem]:
    """A Node: its taints are well formed, each key and effect once."""
    problems: list[FieldProblem] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(entries(section(obj, "spec"), "taints")):
        field = f"spec.taints[{index}]"
        key, effect = str(taint.get("key", "")), str(taint.get("effect", ""))
        if not is_qualified(key):
            problems.append(FieldProblem.invalid(f"{field}.key", key, "must be a qualified name"))
        if not is_label_value(taint.get("value", "")):
            problems.append(FieldProblem.invalid(f"{field}.value", taint["value"], "must be a label value"))
        if effect not in _EFFECTS:
            problems.append(FieldProblem.unsupported(f"{field}.effect", effect, _EFFECTS))
        if (key, effect) in seen:
            problems.append(FieldProblem.duplicate(field, f"{key}:{effect}"))
        seen.add((key, effect))
    return problems


def node_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """A node's provider id and pod networks are set once."""
    problems: list[FieldProblem] = []
    before, after = section(old, "spec"), section(new, "spec")
    for name in ("providerID", "podCIDR", "podCIDRs"):
        if before.get(name) and before[name] != after.get(name):
            note = f"node updates may not change {name} except from empty to a value"
            problems.append(FieldProblem.forbidden(f"spec.{name}", note))
    return problems


def budget_problems(obj: JsonObject) -> list[FieldProblem]:
    """A PodDisruptionBudget: at most one of its two bounds, a number or a percentage."""
    spec = section(obj, "spec")
    problems: list[FieldProblem] = []
    if "minAvailable" in spec and "maxUnavailable" in spec:
        note = "minAvailable and maxUnavailable cannot be both set"
        problems.append(FieldProblem.invalid("spec", "object", note))
    for name in ("minAvailable", "maxUnavailable"):
        value = spec.get(name)
        valid = value >= 0 if isinstance(value, int) else value is None or _PERCENTAGE.fullmatch(str(value)) is not None
        if not valid:
            note = "must be a number that is not negative, or a percentage such as 25%"
            problems.append(FieldProblem.invalid(f"spec.{name}", value, note))
    if selector_of(section(spec, "selector")) is None:
        problems.append(
            FieldProblem.invalid("spec.selector", "object", "an operator of its expressions does not exist")
        )
    return problems


def event_problems(obj: JsonObject) -> list[FieldProblem]:
    """An Event: it lives where its object does; one about a cluster-scoped object lives in ``default``."""
    namespace = text(obj, "metadata.namespace")
    involved = text(obj, "involvedObject.namespace")
    problems: list[FieldProblem] = []
    if namespace != (involved or "default"):
        note = "does not match event.namespace"
        problems.append(FieldProblem.invalid("involvedObject.namespace", involved, note))
    if not obj.get("eventTime"):
        return problems
    required = ("reportingComponent", "reportingInstance", "action", "reason")
    problems += [FieldProblem.required(name) for name in required if not obj.get(name)]
    if len(str(obj.get("message", ""))) > _LONGEST_NOTE:
        problems.append(FieldProblem.invalid("message", "", f"can have at most {_LONGEST_NOTE} characters"))
    return problems


def service_problems(obj: JsonObject) -> list[FieldProblem]:
    """A Service: it has ports unless it needs none."""
    spec = section(obj, "spec")
    headless = spec.get("clusterIP") == "None"
    if spec.get("ports") or headless or spec.get("type") == "ExternalName":
        return []
    return [FieldProblem.required("spec.ports")]


def lease_problems(obj: JsonObject) -> list[FieldProblem]:
    """A Lease: durations and transitions are not negative."""
    spec = section(obj, "spec")
    problems: list[FieldProblem] = []
    if "leaseDurationSeconds" in spec and number(spec, "leaseDurationSeconds") <= 0:
        note = "must be greater than 0"
        problems.append(FieldProblem.invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], note))
    if number(spec, "leaseTransitions") < 0:
        note = "must be greater than or equal to 0"
        problems.append(FieldProblem.invalid("spec.leaseTransitions", spec["leaseTransitions"], note))
    return problems


def priority_class_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """The value of a PriorityClass never changes."""
    if old.get("value") == new.get("value"):
        return []
    return [FieldProblem.forbidden("value", "may not be changed in an update.")]


def _key_problems(content: JsonObject, field: str) -> list[FieldProblem]:
    note = "must be letters, digits, '-', '_' and '.', as a file name"
    return [
        FieldProblem.invalid(f"{field}[{key}]", key, note) for key in content if _CONTENT_KEY.fullmatch(key) is None
    ]


def _decoded_size(encoded: str) -> int:
    return len(encoded.rstrip("=")) * 3 // 4
