"""Bytes of the Kubernetes API to the core's records."""

from exoscaler.adapters.kubernetes.decoding.reader import Contained, ObjectReader, Page
from exoscaler.adapters.kubernetes.decoding.readers import (
    budget_reader,
    daemonset_reader,
    node_reader,
    pod_reader,
)

__all__ = ["Contained", "ObjectReader", "Page", "budget_reader", "daemonset_reader", "node_reader", "pod_reader"]
