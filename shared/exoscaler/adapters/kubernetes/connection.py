"""One cluster, and what exoscaler keeps in it, over one set of connections."""

from __future__ import annotations

from datetime import timedelta
from types import TracebackType
from typing import Self

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.cluster import DEFAULT_PAGE_SIZE, KubernetesCluster
from exoscaler.adapters.kubernetes.endpoint import DEFAULT_REQUEST_TIMEOUT, Endpoint
from exoscaler.adapters.kubernetes.state_store import ConfigMapStateStore
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import TimeLeft


class Connection:
    """The way to one cluster. Nothing is opened, and no credentials are looked for, before the first call.

    Attributes:
        cluster: the cluster itself.
    """

    def __init__(self, access: Access, *, page_size: int) -> None:
        self._access = access
        self.cluster = KubernetesCluster(access, page_size=page_size)

    def state_store(
        self, namespace: str, name: str = "exoscaler-state", *, read_only: bool = False
    ) -> ConfigMapStateStore:
        """The state kept in this ConfigMap; a `read_only` one never puts anything aside."""
        return ConfigMapStateStore(self._access, namespace, name, read_only=read_only)

    def close(self) -> None:
        """Close the connections."""
        self._access.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def connect(
    clock: Clock,
    *,
    kubeconfig: str = "",
    request_timeout: timedelta = DEFAULT_REQUEST_TIMEOUT,
    page_size: int = DEFAULT_PAGE_SIZE,
    user_agent: str = "",
    time_left: TimeLeft | None = None,
) -> Connection:
    """The way to the cluster that a kubeconfig leads to, or that this process runs in.

    Args:
        clock: tells the time of snapshots and events, and waits between retries.
        kubeconfig: a file; empty for ``KUBECONFIG``, then ``~/.kube/config``, then the pod's service account.
        request_timeout: how long a call may take until its whole answer is there.
        page_size: how many objects of a long list are asked for at once.
        user_agent: how exoscaler names itself to the API server; empty for name and version.
        time_left: how much of the invocation's time is left; calls and retries keep to it, but for a grace of seconds
            in which to save what was done.
    """
    own = Endpoint()
    endpoint = Endpoint(kubeconfig=kubeconfig, request_timeout=request_timeout, user_agent=user_agent or own.user_agent)
    return Connection(Access(endpoint, clock, time_left), page_size=page_size)
