"""A local Exoscale API and a local Kubernetes API over real HTTP, to try exoscaler before giving it credentials.

``exoscale/``     the cloud's side: pools, instances, operations, quota, faults
``kubernetes/``   the cluster's API: objects, lists, watches, patches, evictions
``controllers/``  what makes the cluster live: scheduler, workloads, disruption budgets, garbage collection
``machines/``     what happens on the instances: boot, node registration, kubelet

The sandbox shares no code with exoscaler's adapters, so that a mistake in one cannot hide in the other.
"""
