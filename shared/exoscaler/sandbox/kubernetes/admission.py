"""What the API server adds to an object, or refuses, in view of the other objects."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject


def admit(storage: Storage, resource: Resource, obj: JsonObject) -> None:
    """Admit."""
