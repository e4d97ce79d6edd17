"""Rules for names, labels and the rest of an object's metadata."""

from __future__ import annotations

import re

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.json_values import entries, section
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SERVICE = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_PATH_SEGMENT = re.compile(r"(?!\.{1,2}$)[^/%]+")
_LONGEST_LABEL = 63
_LONGEST_SUBDOMAIN = 253
_LARGEST_ANNOTATIONS = 256 * 1024
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")

_LABEL_RULE = "a lowercase RFC 1123 label: up to 63 letters, digits and '-', with a letter or digit at both ends"
_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain: up to 253 letters, digits, '-' and '.', with a letter or digit at both ends"
)
_SERVICE_RULE = "a DNS-1035 label: up to 63 lower case letters, digits and '-', starting with a letter"
_QUALIFIED_RULE = "up to 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends"


def is_dns_label(name: str) -> bool:
    """True for a name that can be one label of a host name."""
    return len(name) <= _LONGEST_LABEL and _LABEL.fullmatch(name) is not None


def is_subdomain(name: str) -> bool:
    """True for a name that can be a host name."""
    return len(name) <= _LONGEST_SUBDOMAIN and _SUBDOMAIN.fullmatch(name) is not None


def is_qualified(key: str) -> bool:
    """True for a label or taint key: a name, with a domain in front or not."""
    domain, slash, name = key.rpartition("/")
    if slash and not is_subdomain(domain):
        return False
    return len(name) <= _LONGEST_LABEL and _QUALIFIED.fullmatch(name) is not None


def is_label_value(value: object) -> bool:
    """True for what a label may be set to."""
    return isinstance(value, str) and (
        not value or (len(value) <= _LONGEST_LABEL and _QUALIFIED.fullmatch(value) is not None)
    )


def metadata_problems(resource: Resource, obj: JsonObject) -> list[FieldProblem]:
    """What is wrong with an object's metadata."""
    meta = section(obj, "metadata")
    return [
        *_name_problems(resource, meta),
        *label_problems(section(meta, "labels"), "metadata.labels"),
        *_annotation_problems(section(meta, "annotations")),
        *_owner_problems(meta),
    ]


def label_problems(labels: JsonObject, field: str) -> list[FieldProblem]:
    """What is wrong with a map of labels."""
    problems = [
        FieldProblem.invalid(field, key, f"a key must be {_QUALIFIED_RULE}; a domain and '/' may precede it")
        for key in labels
        if not is_qualified(key)
    ]
    problems += [
        FieldProblem.invalid(field, value, f"a value must be empty or {_QUALIFIED_RULE}")
        for value in labels.values()
        if not is_label_value(value)
    ]
    return problems


def _name_problems(resource: Resource, meta: JsonObject) -> list[FieldProblem]:
    name = meta.get("name") or ""
    if not name:
        return [FieldProblem.required("metadata.name", "name or generateName is required")]
    rule = _name_rule(resource, str(name))
    return [FieldProblem.invalid("metadata.name", name, f"must be {rule}")] if rule else []


def _name_rule(resource: Resource, name: str) -> str:
    """The rule that the name breaks; empty when it keeps it."""
    if resource.group == "rbac.authorization.k8s.io":
        return "" if _PATH_SEGMENT.fullmatch(name) else "neither '.' nor '..', without '/' and '%'"
    if resource.kind == "Service":
        return "" if len(name) <= _LONGEST_LABEL and _SERVICE.fullmatch(name) else _SERVICE_RULE
    if resource.kind == "Namespace":
        return "" if is_dns_label(name) else _LABEL_RULE
    return "" if is_subdomain(name) else _SUBDOMAIN_RULE


def _annotation_problems(annotations: JsonObject) -> list[FieldProblem]:
    field = "metadata.annotations"
    problems = [
        FieldProblem.invalid(field, key, f"a key must be {_QUALIFIED_RULE}; a domain and '/' may precede it")
        for key in annotations
        if not is_qualified(key.lower())
    ]
    size = sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items())
    if size > _LARGEST_ANNOTATIONS:
        problems.append(FieldProblem.too_long(field, _LARGEST_ANNOTATIONS))
    return problems


def _owner_problems(meta: JsonObject) -> list[FieldProblem]:
    owners = entries(meta, "ownerReferences")
    problems = [
        FieldProblem.invalid(f"metadata.ownerReferences[{index}].{name}", "", f"{name} must not be empty")
        for index, owner in enumerate(owners)
        for name in _OWNER_FIELDS
        if not owner.get(name)
    ]
    if sum(1 for owner in owners if owner.get("controller")) > 1:
        note = "only one reference can have controller set to true"
        problems.append(FieldProblem.invalid("metadata.ownerReferences", len(owners), note))
    return problems
