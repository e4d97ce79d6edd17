"""The rules an object must keep."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.objects import JsonObject


def creation_problems(resource: Resource, obj: JsonObject) -> list[FieldProblem]:
    """Problems."""
    return []


def update_problems(resource: Resource, old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """Problems."""
    return []
