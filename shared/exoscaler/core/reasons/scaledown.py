"""Why a node stays, why a pod holds it, and why a removal was undone."""

from __future__ import annotations

from enum import StrEnum


class Unremovable(StrEnum):
    """Why a node is not removed now (R129); the first that applies is kept."""

    NOT_AUTOSCALED = "NotAutoscaled"
    SCALE_DOWN_DISABLED = "ScaleDownDisabledAnnotation"
    CURRENTLY_BEING_DELETED = "CurrentlyBeingDeleted"
    RECENTLY_UNREMOVABLE = "RecentlyUnremovable"
    SCALE_DOWN_UNREADY_DISABLED = "ScaleDownUnreadyDisabled"
    NOT_UNDERUTILIZED = "NotUnderutilized"
    BLOCKED_BY_POD = "BlockedByPod"
    NO_PLACE_TO_MOVE_PODS = "NoPlaceToMovePods"
    NOT_UNNEEDED_LONG_ENOUGH = "NotUnneededLongEnough"
    NOT_UNREADY_LONG_ENOUGH = "NotUnreadyLongEnough"
    GROUP_MIN_SIZE_REACHED = "NodeGroupMinSizeReached"
    MINIMAL_RESOURCE_LIMIT_EXCEEDED = "MinimalResourceLimitExceeded"
    WAITS_FOR_COMPLETION = "BlockedByOnCompletionPod"
    PARALLELISM_USED_UP = "ParallelismUsedUp"
    NOT_REACHED = "NotReached"
    """Other nodes were tried first, and enough were found (R121)."""
    OPERATION_IN_FLIGHT = "OperationInFlight"
    STILL_STARTING = "StillStarting"
    COOLING_DOWN = "InCooldown"
    CLOUD_VIEW_STALE = "CloudViewStale"
    POOL_BLOCKED = "PoolBlocked"
    INSTANCE_SHARED = "InstanceShared"
    NO_UTILIZATION = "UnexpectedError"
    """The node reports no allocatable CPU or memory, so its utilisation is not defined."""

    @property
    def text(self) -> str:
        """One sentence for people, with the first thing to change."""
        return _UNREMOVABLE[self]


_UNREMOVABLE = {
    Unremovable.NOT_AUTOSCALED: "the node belongs to no managed group",
    Unremovable.SCALE_DOWN_DISABLED: "an annotation on the node forbids it; remove it to allow",
    Unremovable.CURRENTLY_BEING_DELETED: "another autoscaler's taint says that the node is going already",
    Unremovable.RECENTLY_UNREMOVABLE: "it could not be removed a moment ago and is looked at again later",
    Unremovable.SCALE_DOWN_UNREADY_DISABLED: "it is not ready, and scale-down-unready-enabled is off",
    Unremovable.NOT_UNDERUTILIZED: "its utilisation is above the threshold",
    Unremovable.BLOCKED_BY_POD: "one of its pods must not be moved",
    Unremovable.NO_PLACE_TO_MOVE_PODS: "its pods would not all find another place",
    Unremovable.NOT_UNNEEDED_LONG_ENOUGH: "it has not been unneeded for scale-down-unneeded-time yet",
    Unremovable.NOT_UNREADY_LONG_ENOUGH: "it has not been unready for scale-down-unready-time yet",
    Unremovable.GROUP_MIN_SIZE_REACHED: "the group is at its minimum size",
    Unremovable.MINIMAL_RESOURCE_LIMIT_EXCEEDED: "the cluster's minimum of cores or memory would be undercut",
    Unremovable.WAITS_FOR_COMPLETION: "a pod on it is to run to completion first",
    Unremovable.NOT_REACHED: "enough other nodes were found removable; its turn comes in a later evaluation",
    Unremovable.PARALLELISM_USED_UP: "as many nodes as allowed at a time are being removed",
    Unremovable.OPERATION_IN_FLIGHT: "its pool is being changed",
    Unremovable.STILL_STARTING: "it joined too recently to be judged",
    Unremovable.COOLING_DOWN: "something was added, removed or failed too short a time ago, or removals are held",
    Unremovable.CLOUD_VIEW_STALE: "the cloud could not be read for its group; removals go on once it can",
    Unremovable.POOL_BLOCKED: "its pool is suspended, in error or being deleted; look at it in the portal",
    Unremovable.INSTANCE_SHARED: "another Node claims the same instance; delete the one that is wrong",
    Unremovable.NO_UTILIZATION: "it reports no allocatable CPU or memory",
}


class BlockingPod(StrEnum):
    """Why a pod must not be moved (R129, R131)."""

    NOT_REPLICATED = "NotReplicated"
    LOCAL_STORAGE = "LocalStorageRequested"
    NOT_SAFE_TO_EVICT = "NotSafeToEvictAnnotation"
    UNMOVABLE_KUBE_SYSTEM = "UnmovableKubeSystemPod"
    NOT_ENOUGH_BUDGET = "NotEnoughPdb"
    SEVERAL_BUDGETS = "SeveralPdbs"

    @property
    def text(self) -> str:
        """One sentence for people, with the first thing to change."""
        return _BLOCKING[self]


_BLOCKING = {
    BlockingPod.NOT_REPLICATED: "no controller would make it again; run it from a Deployment or mark it safe-to-evict",
    BlockingPod.LOCAL_STORAGE: "it keeps data on the node; list the volumes in safe-to-evict-local-volumes to allow",
    BlockingPod.NOT_SAFE_TO_EVICT: 'its annotation safe-to-evict is "false"',
    BlockingPod.UNMOVABLE_KUBE_SYSTEM: "it is a kube-system pod without a PodDisruptionBudget",
    BlockingPod.NOT_ENOUGH_BUDGET: "its PodDisruptionBudget allows no disruption now",
    BlockingPod.SEVERAL_BUDGETS: "several PodDisruptionBudgets cover it, so it cannot be evicted; keep one",
}


class RollbackReason(StrEnum):
    """Why a removal that had begun was undone, or never begun although planned."""

    NO_LONGER_UNNEEDED = "no-longer-unneeded"
    POD_ARRIVED = "pod-arrived"
    BLOCKED_BY_POD = "blocked-by-pod"
    NO_PLACE_TO_MOVE_PODS = "no-place-to-move-pods"
    POD_VIEW_INCOMPLETE = "pod-view-incomplete"
    GROUP_MIN_SIZE_REACHED = "group-min-size-reached"
    GROUP_UNMANAGED = "group-unmanaged"
    SCALE_DOWN_DISABLED = "scale-down-disabled"
    NODE_REPLACED = "node-replaced"
    NODE_GONE = "node-gone"
    NODE_REGISTERED = "node-registered"
    """An instance thought never to have registered has a node after all."""
    TAINTED_BY_OTHERS = "tainted-by-others"
    TAINT_REMOVED = "taint-removed"
    UNCORDONED = "uncordoned"
    EVICTION_REFUSED = "eviction-refused"
    PODS_DID_NOT_END = "pods-did-not-end"
    POOL_BUSY_TOO_LONG = "pool-busy-too-long"
    POOL_GONE = "pool-gone"
    POOL_BLOCKED = "pool-blocked"
    DENIED = "denied"
    REJECTED = "rejected"
    CLOUD_FAILURE = "cloud-failure"
    CLUSTER_REFUSED = "cluster-refused"
    STATE_LOST = "state-lost"
    """The node carries exoscaler's taint, but no operation in the state knows of it."""
    PODS_PENDING = "pods-pending"
    """A pod that waits would fit the node."""
