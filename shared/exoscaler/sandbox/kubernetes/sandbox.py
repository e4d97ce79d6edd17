"""One local cluster: its objects, its API, and what can be done to the API to make it fail."""

from __future__ import annotations

from pydantic import SecretStr

from exoscaler.sandbox.clock import SandboxClock
from exoscaler.sandbox.kubernetes.calls import CallLog
from exoscaler.sandbox.kubernetes.client import StoreClient
from exoscaler.sandbox.kubernetes.faults import FaultRules
from exoscaler.sandbox.kubernetes.first_objects import create_first_objects
from exoscaler.sandbox.kubernetes.serving import OpenWatches, create_app
from exoscaler.sandbox.kubernetes.storage import DEFAULT_HISTORY
from exoscaler.sandbox.kubernetes.store import ObjectStore


class KubernetesSandbox:
    """The API side of a local cluster; nothing in it moves by itself.

    `app` is the ASGI application to serve, `client` the same cluster in process, `faults` and `calls` what
    ``/_sandbox/faults`` and ``/_sandbox/calls`` control over HTTP. With a `token`, requests must carry it as a bearer
    token. `history` is how many changes of each resource a watch or a paged list can look back.
    """

    def __init__(self, clock: SandboxClock, *, token: SecretStr | None = None, history: int = DEFAULT_HISTORY) -> None:
        self.store = ObjectStore(clock, history=history)
        create_first_objects(self.store)
        self.client = StoreClient(self.store)
        self.faults = FaultRules()
        self.calls = CallLog()
        self._watches = OpenWatches()
        self.app = create_app(self.store, token=token, faults=self.faults, calls=self.calls, watches=self._watches)

    def end_watches(self) -> None:
        """End all open watches in good order; call it before the server stops, which would have to cut them."""
        self._watches.end_all()
