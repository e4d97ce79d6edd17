"""What happens to one instance between its order and its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from exoscaler.sandbox.exoscale.account import Account
from exoscaler.sandbox.exoscale.fault_kinds import NeverBootsFault, NeverRegistersFault
from exoscaler.sandbox.exoscale.faults import Faults
from exoscaler.sandbox.exoscale.naming import Names
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.resources import Instance, Pool
from exoscaler.sandbox.exoscale.scenario import Timing
from exoscaler.sandbox.exoscale.timeline import Timeline
from exoscaler.sandbox.machines.view import MachineState


class Lifecycle:
    """Starts instances and takes them away: ``starting → running → stopping → destroying →`` gone."""

    def __init__(
        self,
        account: Account,
        timeline: Timeline,
        names: Names,
        faults: Faults,
        timing: Timing,
        wall: Callable[[float], datetime],
    ) -> None:
        self._account = account
        self._timeline = timeline
        self._names = names
        self._faults = faults
        self._timing = timing
        self._wall = wall
        self.created = 0
        self.destroyed = 0
        self._ended_seconds = 0.0

    @property
    def removal_seconds(self) -> float:
        """How long it takes from the start of a removal until the instance is gone."""
        return self._timing.stop_seconds + self._timing.destroy_seconds

    def machine_seconds(self, now: float) -> float:
        """The simulated seconds that all instances together have existed, those that are gone included."""
        return self._ended_seconds + sum(now - each.appeared for each in self._account.instances.values())

    def add(self, instance: Instance) -> None:
        """Let an instance exist."""
        self._account.instances[instance.id] = instance
        self.created += 1
        if instance.pool_id:
            self._account.pool(instance.pool_id).member_ids.append(instance.id)

    def new_member(self, pool: Pool, moment: float, state: MachineState) -> Instance:
        """A member of `pool` as it appears at `moment`; it does not exist before `add`."""
        return Instance(
            id=self._names.uuid(),
            name=self._names.member(pool.prefix, pool.id),
            state=state,
            pool_id=pool.id,
            launch=pool.launch,
            created_at=self._wall(moment),
            appeared=moment,
            address=self._names.address(),
            mac=self._names.mac(),
            labels=dict(pool.labels) if not pool.nodepool_id else {},
        )

    def launch(self, pool: Pool, cause: OperationId | None, moment: float) -> None:
        """Let a new member of `pool` appear and boot."""
        instance = self.new_member(pool, moment, MachineState.STARTING)
        never_registers = self._faults.take((NeverRegistersFault,), cause, pool.keys)
        instance.registers = never_registers is None
        self.add(instance)
        never_boots = self._faults.take((NeverBootsFault,), cause, pool.keys)
        booted = MachineState.RUNNING if never_boots is None else never_boots.state

        def end_of_boot(_: float) -> None:
            if instance.state is MachineState.STARTING:
                instance.state = booted

        self._timeline.at(moment + self._boot_seconds(instance), end_of_boot)

    def _boot_seconds(self, instance: Instance) -> float:
        usual = instance.launch.boot_seconds
        mean = self._timing.boot_seconds if usual is None else usual
        return mean * (1 + self._timing.boot_jitter * self._names.jitter(instance.id))

    def remove(self, instance: Instance, moment: float, then: Callable[[float], None] | None = None) -> None:
        """Stop and destroy an instance from `moment` on; `then` happens when it is gone."""
        instance.leaving = True

        def stop(_: float) -> None:
            instance.state = MachineState.STOPPING

        def destroy(_: float) -> None:
            instance.state = MachineState.DESTROYING

        def vanish(now: float) -> None:
            self._forget(instance, now)
            if then is not None:
                then(now)

        self._timeline.at(moment, stop)
        self._timeline.at(moment + self._timing.stop_seconds, destroy)
        self._timeline.at(moment + self.removal_seconds, vanish)

    def _forget(self, instance: Instance, now: float) -> None:
        del self._account.instances[instance.id]
        self.destroyed += 1
        self._ended_seconds += now - instance.appeared
        if instance.pool_id:
            self._account.pool(instance.pool_id).member_ids.remove(instance.id)
