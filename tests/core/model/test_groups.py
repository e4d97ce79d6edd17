from __future__ import annotations

import pytest

from exoscaler.core.model import PoolState, Quota


@pytest.mark.parametrize(
    ("quota", "headroom"),
    [(Quota(10, 4), 6), (Quota(10, 12), 0), (Quota(-1, 500), None), (Quota(0, 0), 0)],
)
def test_headroom_is_what_the_account_may_still_have(quota: Quota, headroom: int | None) -> None:
    assert quota.headroom == headroom


def test_only_a_pool_at_rest_accepts_changes() -> None:
    accepting = {state for state in PoolState if state.accepts_changes}

    assert accepting == {PoolState.RUNNING, PoolState.DEGRADED}
