"""How to reach the API server."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from exoscaler import __version__

DEFAULT_REQUEST_TIMEOUT = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """How to reach the API server.

    Attributes:
        kubeconfig: a file; empty for the usual places and then the pod's service account.
        user_agent: how exoscaler names itself in the server's audit log.
        connect_timeout: for a connection to come up.
        request_timeout: for the whole answer to come.
        connections: how many are kept open.
    """

    kubeconfig: str = ""
    user_agent: str = f"exoscaler/{__version__}"
    connect_timeout: timedelta = timedelta(seconds=5)
    request_timeout: timedelta = DEFAULT_REQUEST_TIMEOUT
    connections: int = 8
