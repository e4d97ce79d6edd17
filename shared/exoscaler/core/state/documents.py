"""What survives between invocations: three documents, written together.

Every entry names what it is about by an id that is never reused (pool id, node uid, instance id), so that an entry
cannot come to mean something else.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import AwareDatetime, BaseModel, ConfigDict

from exoscaler.core.model import NodeGroup, Quota, Trouble
from exoscaler.core.operations.model import Claim, GrowOperation, ShrinkOperation
from exoscaler.core.reasons import GrowFailure, Unremovable

VERSION = 1
"""The version that this code writes. Older ones are migrated, newer ones are put aside."""


class _Document(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = VERSION


class NodeGroupsDocument(_Document):
    """The node-group cache.

    Attributes:
        groups: by pool id.
        unmanaged: instances found to belong to no pool; they are not asked for again.
        refreshed_at: when the cloud was last read without a failure; None when never.
        attempted_at: when it was last tried.
        troubles: what could not be read at the last attempt; one that was there before was told already.
    """

    groups: dict[str, NodeGroup] = {}
    quota: Quota | None = None
    unmanaged: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    refreshed_at: AwareDatetime | None = None
    attempted_at: AwareDatetime | None = None


class OperationsDocument(_Document):
    """Operations in flight, claims on pools, and the last ones that ended, oldest first."""

    growing: tuple[GrowOperation, ...] = ()
    shrinking: tuple[ShrinkOperation, ...] = ()
    claims: tuple[Claim, ...] = ()
    ended_growing: tuple[GrowOperation, ...] = ()
    ended_shrinking: tuple[ShrinkOperation, ...] = ()


class UnneededNode(BaseModel):
    """Since when a node has been found removable at every look."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    since: AwareDatetime


class StayingNode(BaseModel):
    """Why a node stays. `until` is set when the verdict holds for a while without a new look (R119)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    reason: Unremovable
    detail: str = ""
    until: AwareDatetime | None = None


class Backoff(BaseModel):
    """A group that failed and is left alone for a while (R45-R47); `seconds` is the length of the current pause."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: int
    until: AwareDatetime
    failed_at: AwareDatetime
    failure: GrowFailure
    detail: str = ""


class WaitingPod(BaseModel):
    """A pod that nothing helps, and why each group cannot; for the user to read."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    reasons: dict[str, str] = {}
    since: AwareDatetime | None = None


class CounterName(StrEnum):
    """What is counted for the metrics."""

    EVALUATIONS = "evaluations"
    EVALUATION_CONFLICTS = "evaluation-conflicts"
    NODES_ADDED = "nodes-added"
    NODES_REMOVED_EMPTY = "nodes-removed-empty"
    NODES_REMOVED_DRAINED = "nodes-removed-drained"
    INSTANCES_REMOVED_UNREGISTERED = "instances-removed-unregistered"
    PODS_EVICTED = "pods-evicted"
    EVICTIONS_REFUSED = "evictions-refused"
    GROWTHS_FAILED = "growths-failed"
    REMOVALS_ROLLED_BACK = "removals-rolled-back"


class ObservationsDocument(_Document):
    """What was noticed over time.

    Attributes:
        unneeded: by node uid.
        staying: by node uid.
        unregistered: instance id -> since when it has been a member without a node.
        backoffs: by group id.
        grown_at, shrunk_at, shrink_failed_at: by group id, for the cool-downs (R107, R108).
        evaluation_started_at: of the last evaluation that was committed.
        evaluation_ended_at: when the nodes were last looked at: of the last evaluation whose list of pods was in no
            doubt.
        unhealthy_since: since when the cluster has been too unwell to change (R39); None when it is well.
    """

    unneeded: dict[str, UnneededNode] = {}
    staying: dict[str, StayingNode] = {}
    unregistered: dict[str, AwareDatetime] = {}
    backoffs: dict[str, Backoff] = {}
    grown_at: dict[str, AwareDatetime] = {}
    shrunk_at: dict[str, AwareDatetime] = {}
    shrink_failed_at: dict[str, AwareDatetime] = {}
    waiting: tuple[WaitingPod, ...] = ()
    evaluation_started_at: AwareDatetime | None = None
    evaluation_ended_at: AwareDatetime | None = None
    evaluations: int = 0
    unhealthy_since: AwareDatetime | None = None
    counters: dict[CounterName, int] = {}


class State(BaseModel):
    """The three documents together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    node_groups: NodeGroupsDocument = NodeGroupsDocument()
    operations: OperationsDocument = OperationsDocument()
    observations: ObservationsDocument = ObservationsDocument()

    @property
    def last_evaluation_at(self) -> datetime | None:
        """When the last committed evaluation began."""
        return self.observations.evaluation_started_at
