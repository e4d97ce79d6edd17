"""Claiming a pool, saving under the claim, giving it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from exoscaler import logs
from exoscaler.app.invocation import Invocation
from exoscaler.core.operations.claims import claim_holder, with_claim, without_claim
from exoscaler.core.recording import check_claim, with_operations
from exoscaler.core.state import State
from exoscaler.errors import ClaimLost, RemoteError, StateError

log = logs.get("exoscaler.app.claiming")


class Claimed:
    """A pool that this invocation may act on. `state` is the state as last written."""

    def __init__(self, invocation: Invocation, group_id: str, state: State) -> None:
        self._invocation = invocation
        self.group_id = group_id
        self.state = state

    def save(self, change: Callable[[State], State]) -> State:
        """Write a change of this pool's operations.

        Raises:
            ClaimLost: the claim has expired or passed on; nothing was written.
        """
        invocation = self._invocation

        def checked(state: State) -> State:
            check_claim(state, self.group_id, invocation.id, invocation.now)
            return change(state)

        self.state = invocation.ports.store.update(checked).state
        return self.state

    def before_effect(self) -> None:
        """Call right before anything outside is changed.

        Raises:
            ClaimLost: the claim, as last written, has run out: another invocation may be acting by now.
            BudgetExhausted: the time is up.
        """
        if claim_holder(self.state.operations, self.group_id, self._invocation.now) != self._invocation.id:
            raise ClaimLost(f"the claim on pool {self.group_id} ran out")
        self._invocation.check_budget()


@contextmanager
def claimed(invocation: Invocation, group_id: str) -> Iterator[Claimed | None]:
    """Claim a pool; None when another invocation holds it. It is given back at the end, come what may.

    A claim that could not be given back runs out by itself.
    """
    ttl = invocation.policy.pace.claim_ttl

    def take(state: State) -> State:
        operations = with_claim(state.operations, group_id, invocation.id, invocation.now, ttl)
        return state if operations is None else with_operations(state, operations)

    state = invocation.ports.store.update(take).state
    if claim_holder(state.operations, group_id, invocation.now) != invocation.id:
        log.info("another invocation holds the pool", pool=group_id)
        yield None
        return
    claim = Claimed(invocation, group_id, state)
    try:
        yield claim
    finally:
        _give_back(invocation, group_id)


def _give_back(invocation: Invocation, group_id: str) -> None:
    def release(state: State) -> State:
        operations = without_claim(state.operations, group_id, invocation.id)
        return state if operations == state.operations else with_operations(state, operations)

    try:
        invocation.ports.store.update(release)
    except (RemoteError, StateError) as error:
        log.warning("a claim was not given back; it runs out by itself", pool=group_id, detail=str(error))
