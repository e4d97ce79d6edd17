"""The Kubernetes cluster: reads it, changes nodes and pods, and keeps the state in a ConfigMap.

`connect` is the way in. What needs which right (RBAC), all verbs on the plural resource:

=====================  =============================  =========================================
resource               verbs                          for
=====================  =============================  =========================================
nodes                  get, list, patch, delete       snapshots, taints and cordons, clean-up
pods                   get, list                      snapshots, what became of an eviction
pods/eviction          create                         drains
poddisruptionbudgets   list                           what may be moved now
daemonsets             list                           whether the list of pods is complete
events                 get, create, patch             telling what happened, in any namespace
configmaps             get, create, patch             the state, in exoscaler's own namespace
=====================  =============================  =========================================
"""

from exoscaler.adapters.kubernetes.cluster import KubernetesCluster
from exoscaler.adapters.kubernetes.connection import Connection, connect
from exoscaler.adapters.kubernetes.state_store import ConfigMapStateStore

__all__ = ["ConfigMapStateStore", "Connection", "KubernetesCluster", "connect"]
