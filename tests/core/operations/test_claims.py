from __future__ import annotations

from datetime import timedelta

from exoscaler.core.operations.claims import claim_holder, with_claim, without_claim
from exoscaler.core.operations.model import Claim
from exoscaler.core.state import OperationsDocument
from tests.builders import NOW

TTL = timedelta(seconds=45)


def held(owner: str, *, until: timedelta = TTL) -> OperationsDocument:
    return OperationsDocument(claims=(Claim("pool", owner, NOW + until),))


def test_free_pool_can_be_claimed() -> None:
    document = with_claim(OperationsDocument(), "pool", "me", NOW, TTL)

    assert document is not None
    assert claim_holder(document, "pool", NOW) == "me"


def test_pool_that_another_holds_cannot_be_claimed() -> None:  # I3
    assert with_claim(held("other"), "pool", "me", NOW, TTL) is None


def test_claim_runs_out_so_that_a_killed_holder_blocks_nobody() -> None:  # I5
    document = with_claim(held("killed"), "pool", "me", NOW + TTL, TTL)

    assert document is not None
    assert claim_holder(document, "pool", NOW + TTL) == "me"


def test_claim_on_one_pool_leaves_the_others_free() -> None:
    document = with_claim(held("other"), "another-pool", "me", NOW, TTL)

    assert document is not None
    assert claim_holder(document, "pool", NOW) == "other"


def test_claim_from_a_clock_that_was_set_back_does_not_hold_for_ever() -> None:
    assert with_claim(held("other", until=timedelta(hours=1)), "pool", "me", NOW, TTL) is not None


def test_claim_of_a_clock_that_is_a_little_ahead_holds() -> None:  # I3
    assert with_claim(held("other", until=TTL + timedelta(seconds=1)), "pool", "me", NOW, TTL) is None


def test_giving_back_leaves_the_claims_of_others() -> None:
    assert claim_holder(without_claim(held("other"), "pool", "me"), "pool", NOW) == "other"
    assert claim_holder(without_claim(held("me"), "pool", "me"), "pool", NOW) is None
