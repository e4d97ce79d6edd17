"""What survives between invocations, its transitions and its versioned codec."""

from exoscaler.core.state.codec import decode, encode
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
from exoscaler.core.state.payload import Payload, UnreadableState

__all__ = [
    "Backoff",
    "CounterName",
    "NodeGroupsDocument",
    "ObservationsDocument",
    "OperationsDocument",
    "Payload",
    "State",
    "StayingNode",
    "UnneededNode",
    "UnreadableState",
    "WaitingPod",
    "decode",
    "encode",
]
