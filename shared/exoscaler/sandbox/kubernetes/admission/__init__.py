"""What the server adds to a new object, or refuses, in view of the objects that exist."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.admission.claims import assign_storage_class
from exoscaler.sandbox.kubernetes.admission.jobs import claim_pods_by_uid
from exoscaler.sandbox.kubernetes.admission.namespaces import check_deletion, check_namespace
from exoscaler.sandbox.kubernetes.admission.pods import complete_pod
from exoscaler.sandbox.kubernetes.admission.services import assign_address
from exoscaler.sandbox.kubernetes.resources import Resource
from exoscaler.sandbox.kubernetes.storage import Storage
from exoscaler.sandbox.objects import JsonObject

__all__ = ["admit", "check_deletion"]


def admit(storage: Storage, resource: Resource, obj: JsonObject) -> None:
    """Complete a new object, which has its defaults, under the storage's lock.

    Raises:
        ApiFailure: 403 refused, 404 its namespace does not exist.
    """
    check_namespace(storage, resource, obj)
    if resource.kind == "Pod":
        complete_pod(storage, resource, obj)
    elif resource.kind == "Job":
        claim_pods_by_uid(obj)
    elif resource.kind == "Service":
        assign_address(storage, obj)
    elif resource.kind == "PersistentVolumeClaim":
        assign_storage_class(storage, obj)
