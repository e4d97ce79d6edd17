"""Label selectors and node selectors, evaluated on the JSON of the API."""

from __future__ import annotations

from collections.abc import Mapping

from exoscaler.sandbox.objects import JsonObject

Labels = Mapping[str, str]


def selects(selector: JsonObject | None, labels: Labels) -> bool:
    """Whether a ``LabelSelector`` selects an object with these labels. None selects nothing, ``{}`` everything."""
    if selector is None:
        return False
    exact: Labels = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in exact.items()):
        return False
    return all(_holds(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def matches_node(spec: JsonObject, node: JsonObject) -> bool:
    """Whether a pod spec's ``nodeSelector`` and required node affinity accept the node."""
    metadata = node["metadata"]
    labels: Labels = metadata.get("labels") or {}
    wanted: Labels = spec.get("nodeSelector") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    required = required_node_affinity(spec)
    if required is None:
        return True
    return any(matches_term(term, labels, metadata["name"]) for term in required.get("nodeSelectorTerms") or ())


def required_node_affinity(spec: JsonObject) -> JsonObject | None:
    """The required node affinity of a pod spec."""
    affinity: JsonObject = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required: JsonObject | None = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required


def matches_term(term: JsonObject, labels: Labels, name: str) -> bool:
    """Whether a ``NodeSelectorTerm`` accepts a node. A term without any requirement accepts none."""
    expressions = term.get("matchExpressions") or ()
    fields = term.get("matchFields") or ()
    if not expressions and not fields:
        return False
    return all(_holds(requirement, labels) for requirement in expressions) and all(
        _holds(requirement, {"metadata.name": name}) for requirement in fields
    )


def _holds(requirement: JsonObject, labels: Labels) -> bool:
    value = labels.get(requirement["key"])
    values: list[str] = requirement.get("values") or []
    match requirement["operator"]:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt" as operator:
            return _compares(operator, value, values)
        case _:
            return False


def _compares(operator: str, value: str | None, values: list[str]) -> bool:
    if value is None or len(values) != 1:
        return False
    try:
        left, right = int(value), int(values[0])
    except ValueError:
        return False
    return left > right if operator == "Gt" else left < right
