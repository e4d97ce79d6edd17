"""How many new members a pool can get: the quota, the anti-affinity groups and the zone each set a bound."""

from __future__ import annotations

from dataclasses import dataclass

from exoscaler.sandbox.exoscale.account import Account
from exoscaler.sandbox.exoscale.errors import QuotaReached
from exoscaler.sandbox.exoscale.fault_kinds import QuotaFault
from exoscaler.sandbox.exoscale.faults import Faults
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.operations import SUCCEEDED, OperationReason, Outcome, failed
from exoscaler.sandbox.exoscale.quotas import UNLIMITED
from exoscaler.sandbox.exoscale.resources import Pool
from exoscaler.sandbox.exoscale.scenario import QuotaSurface

ANTI_AFFINITY_MAX = 8
"""Instances per anti-affinity group: a limit of the platform."""

ZONE_MAX = 20_000
"""Instances that the simulated zone has hardware for."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a growing pool gets. With `size_changes` False nothing is created and the size stays as it was."""

    creates: int
    outcome: Outcome = SUCCEEDED
    size_changes: bool = True


class Room:
    """Decides how much of a growth is possible and how a shortage shows."""

    def __init__(self, account: Account, faults: Faults, surface: QuotaSurface) -> None:
        self._account = account
        self._faults = faults
        self.surface = surface

    def grant(self, pool: Pool, wanted: int, cause: OperationId | None) -> Grant:
        """What `pool` gets of `wanted` new members.

        Raises:
            QuotaReached: the quota leaves no room and its surface is `QuotaSurface.REJECT`.
        """
        fault = self._faults.take((QuotaFault,), cause, pool.keys)
        if fault is not None:
            return _beyond_quota(wanted, 0, "instance", fault.surface or self.surface)
        for resource in self._account.quotas.charged(pool.launch.instance_type):
            possible = self._within_quota(pool, resource)
            if possible is not None and possible < wanted:
                creates = self._within_hardware(pool, possible).creates
                return _beyond_quota(wanted, creates, resource, self.surface)
        return self._within_hardware(pool, wanted)

    def fitting(self, pool: Pool, wanted: int) -> int:
        """How many of `wanted` new members fit, when nobody is there to be told: a pool that replaces members."""
        if self._faults.take((QuotaFault,), None, pool.keys) is not None:
            return 0
        bounds = [self._within_quota(pool, each) for each in self._account.quotas.charged(pool.launch.instance_type)]
        by_quota = min((bound for bound in bounds if bound is not None), default=wanted)
        return min(by_quota, self._within_hardware(pool, wanted).creates)

    def _within_quota(self, pool: Pool, resource: str) -> int | None:
        limit = self._account.quotas.limit(resource)
        if limit == UNLIMITED:
            return None
        headroom = max(0, limit - self._account.usage(resource))
        return headroom // self._account.quotas.charge(pool.launch.instance_type, resource)

    def _within_hardware(self, pool: Pool, wanted: int) -> Grant:
        spread = min((self._places(group) for group in pool.anti_affinity_groups), default=wanted)
        if spread < wanted:
            message = f"Anti-affinity group is full: room for {spread} of {wanted} more instances"
            return Grant(spread, failed(OperationReason.PARTIAL, message))
        hardware = max(0, ZONE_MAX - self._account.usage("instance"))
        if hardware < wanted:
            message = f"No capacity in zone {self._account.zone} for {wanted} more instances"
            return Grant(0, failed(OperationReason.UNAVAILABLE, message), size_changes=False)
        return Grant(wanted)

    def _places(self, group: str) -> int:
        """The free places of an anti-affinity group, over all pools that share it."""
        pools = [pool for pool in self._account.pools.values() if group in pool.anti_affinity_groups]
        return max(0, ANTI_AFFINITY_MAX - sum(len(pool.member_ids) + pool.coming for pool in pools))


def _beyond_quota(wanted: int, possible: int, resource: str, surface: QuotaSurface) -> Grant:
    message = f"Quota exceeded for resource {resource}: room for {possible} of {wanted} more instances"
    match surface:
        case QuotaSurface.REJECT:
            raise QuotaReached(message)
        case QuotaSurface.FAIL_OPERATION:
            return Grant(0, failed(OperationReason.FORBIDDEN, message), size_changes=False)
        case QuotaSurface.PARTIAL:
            return Grant(possible, failed(OperationReason.PARTIAL, message))
        case QuotaSurface.STUCK:
            return Grant(possible)
