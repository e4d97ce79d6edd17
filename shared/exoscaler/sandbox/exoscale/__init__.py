"""A local Exoscale API: one account in one zone, over real HTTP, with everything that can go wrong on demand.

::

    clock = SandboxClock(speed=20)
    sandbox = ExoscaleSandbox(clock, key="EXOsandbox", secret="not a secret")
    with HttpServer(sandbox.app) as server:
        ...  # EXOSCALE_API_ENDPOINT = f"{server.url}/v2"
        sandbox.faults.add(StatusFault(status=429, retry_after=5, operation=OperationId.SCALE_SKS_NODEPOOL, count=2))

Reading order: `scenario` (what an account holds), `cloud` (the model's face), `scaling` and `lifecycle` (how it
behaves), `api` and `http` (how it answers), `fault_kinds` (what can be made to fail), `control` (over HTTP).
"""

from __future__ import annotations

from collections.abc import Collection

from pydantic import SecretStr

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.exoscale.calls import CallRecord, Calls
from exoscaler.sandbox.exoscale.cloud import Cloud, Counters
from exoscaler.sandbox.exoscale.control import Controls
from exoscaler.sandbox.exoscale.errors import ApiError
from exoscaler.sandbox.exoscale.fault_kinds import (
    DropFault,
    Fault,
    HangFault,
    LostResponseFault,
    MalformedFault,
    NeverBootsFault,
    NeverRegistersFault,
    OperationFailsFault,
    OperationStaysPendingFault,
    OperationTimesOutFault,
    QuotaFault,
    StatusFault,
)
from exoscaler.sandbox.exoscale.faults import Faults, FaultStatus
from exoscaler.sandbox.exoscale.http import Admission, ExoscaleApi
from exoscaler.sandbox.exoscale.operation_ids import OperationId
from exoscaler.sandbox.exoscale.remote import RemoteMachineView, SandboxUnreachable
from exoscaler.sandbox.exoscale.scenario import (
    DEFAULT_SCENARIO,
    ClusterSpec,
    InstanceSpec,
    NodepoolSpec,
    PoolSpec,
    QuotaSurface,
    Scenario,
    ScenarioError,
    Taint,
    Timing,
)
from exoscaler.sandbox.exoscale.signature import SignatureVerifier

__all__ = [
    "DEFAULT_SCENARIO",
    "ApiError",
    "CallRecord",
    "Calls",
    "Cloud",
    "ClusterSpec",
    "Counters",
    "DropFault",
    "ExoscaleSandbox",
    "Fault",
    "FaultStatus",
    "Faults",
    "HangFault",
    "InstanceSpec",
    "LostResponseFault",
    "MalformedFault",
    "NeverBootsFault",
    "NeverRegistersFault",
    "NodepoolSpec",
    "OperationFailsFault",
    "OperationId",
    "OperationStaysPendingFault",
    "OperationTimesOutFault",
    "PoolSpec",
    "QuotaFault",
    "QuotaSurface",
    "RemoteMachineView",
    "SandboxUnreachable",
    "Scenario",
    "ScenarioError",
    "StatusFault",
    "Taint",
    "Timing",
]


class ExoscaleSandbox:
    """A simulated account and the API that serves it.

    `zone` overrides the scenario's. `allowed_operations` is what the key's IAM role allows (None: everything);
    any other operation is answered with 403. Ids and names follow from `seed`.

    Attributes:
        cloud: the model, to change by hand and to look at; also the `MachineView`.
        faults: what is to go wrong.
        calls: the API calls made so far.
        app: the ASGI application, with the API under ``/v2`` and the controls under ``/_sandbox``.
    """

    def __init__(
        self,
        clock: SandboxClock,
        *,
        key: str,
        secret: str | SecretStr,
        zone: str | None = None,
        scenario: Scenario = DEFAULT_SCENARIO,
        allowed_operations: Collection[OperationId] | None = None,
        seed: int = 0,
    ) -> None:
        placed = scenario if zone is None else Scenario.model_validate({**dict(scenario), "zone": zone})
        hidden = secret if isinstance(secret, SecretStr) else SecretStr(secret)
        self.faults = Faults(clock)
        self.calls = Calls()
        self.cloud = Cloud(clock, self.faults, placed, seed=seed)
        self.app = ExoscaleApi(
            self.cloud,
            self.faults,
            self.calls,
            clock,
            Admission(SignatureVerifier(key, hidden), allowed_operations),
            Controls(self.cloud, self.faults, self.calls).app(),
        )
