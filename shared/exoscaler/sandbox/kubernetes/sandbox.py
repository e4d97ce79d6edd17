"""One local cluster: its objects, its API, and what can be done to the API to make it fail."""

from __future__ import annotations

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes.client import StoreClient
from exoscaler.sandbox.kubernetes.first_objects import create_first_objects
from exoscaler.sandbox.kubernetes.store import ObjectStore


class KubernetesSandbox:
    """The API side of a local cluster; nothing in it moves by itself."""

    def __init__(self, clock: SandboxClock) -> None:
        self.store = ObjectStore(clock)
        create_first_objects(self.store)
        self.client = StoreClient(self.store)
