"""Claims: the right of one invocation to act on the operations of one pool, until it expires.

One claim covers everything about a pool, growth and removals alike, so that two functions never change the same pool
at the same time (I3).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from exoscaler.core.operations.model import Claim
from exoscaler.core.state import OperationsDocument


def claim_holder(operations: OperationsDocument, group_id: str, now: datetime) -> str | None:
    """Who may act on the pool now; None when nobody may."""
    live = (c for c in operations.claims if c.group_id == group_id and c.expires_at > now)
    return next((claim.owner for claim in live), None)


def with_claim(
    operations: OperationsDocument, group_id: str, owner: str, now: datetime, ttl: timedelta
) -> OperationsDocument | None:
    """The document with the pool claimed for `owner`; None when another invocation holds it.

    Claiming what one holds already extends it. A claim whose end lies much further ahead than any claim can was made by
    a clock that has been set back since: it does not count. Much, for the clocks of two machines are never quite alike.
    """
    holder = claim_holder(operations, group_id, now)
    far_ahead = any(c.group_id == group_id and c.expires_at > now + 2 * ttl for c in operations.claims)
    if holder not in (None, owner) and not far_ahead:
        return None
    kept = tuple(c for c in operations.claims if c.group_id != group_id and c.expires_at > now)
    return operations.model_copy(update={"claims": (*kept, Claim(group_id, owner, now + ttl))})


def without_claim(operations: OperationsDocument, group_id: str, owner: str) -> OperationsDocument:
    """The document with the owner's claim on the pool given back; others' claims stay."""
    kept = tuple(c for c in operations.claims if (c.group_id, c.owner) != (group_id, owner))
    return operations.model_copy(update={"claims": kept})
