"""Which controllers there are, in the order in which they step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.controllers.disruption import Disruption
from exoscaler.sandbox.controllers.garbage import OwnerCollector, PodCollector
from exoscaler.sandbox.controllers.loop import Controller
from exoscaler.sandbox.controllers.namespaces import NamespaceCollector
from exoscaler.sandbox.controllers.node_lifecycle import NodeLifecycle
from exoscaler.sandbox.controllers.reading import Reader
from exoscaler.sandbox.controllers.scheduling import Scheduler
from exoscaler.sandbox.controllers.service_accounts import ServiceAccounts
from exoscaler.sandbox.controllers.taint_eviction import TaintEviction
from exoscaler.sandbox.controllers.workloads import DaemonSets, Deployments, Jobs, ReplicaSets, StatefulSets
from exoscaler.sandbox.objects import ObjectClient

_Build: TypeAlias = Callable[[ObjectClient, Reader, SandboxClock], Sequence[Controller]]


def _nodes(client: ObjectClient, reader: Reader, clock: SandboxClock) -> Sequence[Controller]:
    return (NodeLifecycle(client, reader, clock), TaintEviction(client, reader, clock))


def _workloads(client: ObjectClient, reader: Reader, clock: SandboxClock) -> Sequence[Controller]:
    return (
        Deployments(client, reader, clock),
        ReplicaSets(client, reader, clock),
        StatefulSets(client, reader, clock),
        DaemonSets(client, reader, clock),
        Jobs(client, reader, clock),
    )


def _disruption(client: ObjectClient, reader: Reader, clock: SandboxClock) -> Sequence[Controller]:
    return (Disruption(client, reader, clock),)


def _scheduler(client: ObjectClient, reader: Reader, clock: SandboxClock) -> Sequence[Controller]:
    return (Scheduler(client, reader, clock),)


def _garbage(client: ObjectClient, reader: Reader, clock: SandboxClock) -> Sequence[Controller]:
    return (OwnerCollector(client, reader), PodCollector(client, reader, clock), NamespaceCollector(client, reader))


def _accounts(client: ObjectClient, reader: Reader, _: SandboxClock) -> Sequence[Controller]:
    return (ServiceAccounts(client, reader),)


_BUILDERS: dict[str, _Build] = {
    "accounts": _accounts,
    "nodes": _nodes,
    "workloads": _workloads,
    "disruption": _disruption,
    "scheduler": _scheduler,
    "garbage": _garbage,
}

CONTROLLER_GROUPS = tuple(_BUILDERS)
"""The names by which groups of controllers are chosen."""


def build_controllers(
    client: ObjectClient, reader: Reader, clock: SandboxClock, *, only: Collection[str] = CONTROLLER_GROUPS
) -> tuple[Controller, ...]:
    """The controllers of the chosen groups; they share `reader`, whose owner starts each round with `forget`.

    Raises:
        ValueError: a group that does not exist; the message names those that do.
    """
    unknown = sorted(set(only) - set(CONTROLLER_GROUPS))
    if unknown:
        raise ValueError(f"no controllers named {', '.join(unknown)}: choose from {', '.join(CONTROLLER_GROUPS)}")
    return tuple(
        controller
        for group in CONTROLLER_GROUPS
        if group in only
        for controller in _BUILDERS[group](client, reader, clock)
    )
