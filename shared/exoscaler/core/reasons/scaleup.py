"""Why a pending pod is left out, why a group is not grown, and how a growth ended badly."""

from __future__ import annotations

from enum import StrEnum


class PodSkip(StrEnum):
    """Why a pod without a node asks for no capacity."""

    NOT_UNSCHEDULABLE = "no scheduler has called it unschedulable"
    GATED = "it waits for its scheduling gates"
    EXPENDABLE = "its priority is below the expendable cut-off"
    TOO_YOUNG = "it is younger than the scale-up delay"
    NOMINATED = "preemption is about to make room for it"
    TERMINATING = "it is being deleted"
    DAEMONSET = "DaemonSet pods do not ask for nodes"
    FITS_EXISTING = "it fits on a node that exists"
    FITS_UPCOMING = "it fits on a node that is coming up"


class GroupSkip(StrEnum):
    """Why a group is not considered for growth, in the words users know from events (R51)."""

    AT_MAX = "max node group size reached"
    BACKED_OFF = "in backoff after failed scale-up"
    STALE = "not ready for scale-up: the cloud could not be read"
    POOL_BUSY = "not ready for scale-up: the pool is being changed"
    POOL_BLOCKED = "not ready for scale-up: the pool is suspended, in error or being deleted"
    OPERATION_IN_FLIGHT = "not ready for scale-up: an operation is in flight"
    NO_TEMPLATE = "not ready for scale-up: nothing shows what a new node would look like"
    QUOTA = "account quota of instances exhausted"
    CLUSTER_LIMIT = 'exceeded quota: "cluster-wide"'
    MAX_NODES_TOTAL = "max total nodes in cluster reached"
    MAX_NODES_PER_SCALEUP = "max nodes per scale-up reached; the next evaluation goes on"


class GrowFailure(StrEnum):
    """How a growth failed; each backs the group off except `SUPERSEDED`."""

    POOL_GONE = "pool-gone"
    POOL_BLOCKED = "pool-blocked"
    POOL_BUSY_TOO_LONG = "pool-busy-too-long"
    QUOTA_EXCEEDED = "quota-exceeded"
    DENIED = "denied"
    REJECTED = "rejected"
    CLOUD_FAILURE = "cloud-failure"
    """The cloud accepted the change and then reported that it failed."""
    CLOUD_UNREACHABLE = "cloud-unreachable"
    NEVER_READY = "never-ready"
    """Instances did not become ready nodes within `max-node-provision-time`."""
    SUPERSEDED = "superseded"
    """The plan no longer holds: the group's bounds changed, or it is no longer managed."""

    @property
    def remedy(self) -> str:
        """What a person can do about it."""
        return _REMEDIES[self]


_REMEDIES = {
    GrowFailure.POOL_GONE: "check whether the pool was deleted on purpose and remove it from --nodes",
    GrowFailure.POOL_BLOCKED: "look at the pool in the portal: it is suspended, in error or being deleted",
    GrowFailure.POOL_BUSY_TOO_LONG: "look for another tool that keeps changing the pool",
    GrowFailure.QUOTA_EXCEEDED: "raise the account's quota of instances or lower another pool",
    GrowFailure.DENIED: "add the named operation to the IAM role of the API key",
    GrowFailure.REJECTED: "read the cloud's message; the pool's settings do not allow this size",
    GrowFailure.CLOUD_FAILURE: "read the cloud's message; the zone may be short of capacity",
    GrowFailure.CLOUD_UNREACHABLE: "check the API endpoint and the network",
    GrowFailure.NEVER_READY: "look at the instance's console: its kubelet did not join the cluster",
    GrowFailure.SUPERSEDED: "nothing to do",
}
