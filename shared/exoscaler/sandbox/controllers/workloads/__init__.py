"""The controllers that keep the pods of Deployments, ReplicaSets, StatefulSets, DaemonSets and Jobs."""

from __future__ import annotations

from exoscaler.sandbox.controllers.workloads.daemon_sets import DaemonSets
from exoscaler.sandbox.controllers.workloads.deployments import Deployments
from exoscaler.sandbox.controllers.workloads.jobs import Jobs
from exoscaler.sandbox.controllers.workloads.replica_sets import ReplicaSets
from exoscaler.sandbox.controllers.workloads.stateful_sets import StatefulSets

__all__ = ["DaemonSets", "Deployments", "Jobs", "ReplicaSets", "StatefulSets"]
