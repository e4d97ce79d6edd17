"""What survives between invocations, its transitions and its versioned codec."""

from exoscaler.core.state.documents import (
    Backoff,
    CounterName,
    NodeGroupsDocument,
    ObservationsDocument,
    OperationsDocument,
    State,
    StayingNode,
    UnneededNode,
    WaitingPod,
)

__all__ = [
    "Backoff",
    "CounterName",
    "NodeGroupsDocument",
    "ObservationsDocument",
    "OperationsDocument",
    "State",
    "StayingNode",
    "UnneededNode",
    "WaitingPod",
]
