"""A local Kubernetes API: the objects of a cluster with the semantics of a real API server.

``storage``, ``history``     versioned objects in memory, and what happened to them
``store``                    create, update, patch, delete: with ``defaulting``, ``admission`` and ``validation``
``selection``, ``paging``    what a list or a watch is about, and lists in pages
``patches``                  merge, strategic merge and JSON patch
``eviction``, ``scaling``    actions on objects
``tables``                   what ``kubectl get`` shows
``wire``                     the fields of each kind, and protobuf as kubectl writes it
``serving``                  all of it over HTTP, with faults on demand
``client``, ``http_client``  how the sandbox's controllers reach this cluster, or any other

The controllers that make the cluster live are in `exoscaler.sandbox.controllers`.
"""

from exoscaler.sandbox.kubernetes.calls import Call, CallLog
from exoscaler.sandbox.kubernetes.client import StoreClient
from exoscaler.sandbox.kubernetes.faults import FaultKind, FaultRule, FaultRules
from exoscaler.sandbox.kubernetes.http_client import HttpObjectClient
from exoscaler.sandbox.kubernetes.kubeconfig import KubeconfigError, write_kubeconfig
from exoscaler.sandbox.kubernetes.sandbox import KubernetesSandbox
from exoscaler.sandbox.kubernetes.store import ObjectStore

__all__ = [
    "Call",
    "CallLog",
    "FaultKind",
    "FaultRule",
    "FaultRules",
    "HttpObjectClient",
    "KubeconfigError",
    "KubernetesSandbox",
    "ObjectStore",
    "StoreClient",
    "write_kubeconfig",
]
