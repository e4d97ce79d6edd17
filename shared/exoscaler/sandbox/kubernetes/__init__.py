"""A local Kubernetes API: the objects of a cluster with the semantics of a real API server.

The controllers that make the cluster live are in `exoscaler.sandbox.controllers`.
"""

from exoscaler.sandbox.kubernetes.client import StoreClient
from exoscaler.sandbox.kubernetes.sandbox import KubernetesSandbox
from exoscaler.sandbox.kubernetes.store import ObjectStore

__all__ = ["KubernetesSandbox", "ObjectStore", "StoreClient"]
