"""What could not be read or understood of the cloud; contained, kept and reported."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TroubleKind(StrEnum):
    """What could not be read or understood; each is contained and reported."""

    GROUP_UNREADABLE = "group-unreadable"
    CLUSTERS_UNREADABLE = "clusters-unreadable"
    CLUSTERS_DENIED = "clusters-denied"
    """The key may not list SKS clusters: it is made for standalone pools, so there are no SKS groups here."""
    QUOTA_UNREADABLE = "quota-unreadable"
    INSTANCE_UNREADABLE = "instance-unreadable"
    NODE_WITHOUT_INSTANCE = "node-without-instance"
    NAME_AMBIGUOUS = "name-ambiguous"
    NAME_UNMATCHED = "name-unmatched"
    STATE_UNKNOWN = "state-unknown"


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that went wrong while reading the cloud. `subject` is an id or a name; `detail` says what and why."""

    kind: TroubleKind
    subject: str
    detail: str
