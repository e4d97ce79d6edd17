"""How a cloud is plugged in.

A provider is a factory under the entry-point group ``exoscaler.providers``; the name it is registered under is what
``--cloud-provider`` chooses. It gets the connection as one value and hands back a `Cloud`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, TypeAlias

from pydantic import SecretStr

from exoscaler.ports.clock import Clock
from exoscaler.ports.cloud import Cloud


@dataclass(frozen=True, slots=True)
class CloudConnection:
    """Where the cloud's API is, who calls, and how patiently.

    Attributes:
        endpoint: the base URL, version included, e.g. ``https://api-ch-gva-2.exoscale.com/v2``.
        api_key, api_secret: the credentials; masked in every text form of this value.
        cluster_id: scopes the cloud's own clusters to this one; empty for the clusters that own a node of ours.
        request_timeout: how long one attempt waits for its whole answer.
        call_timeout: how long one call may take with all its attempts and the pauses between them.
        max_attempts: how often a call without side effects is tried; a call that changes something is tried once.
        user_agent_suffix: added to the ``User-Agent``; empty for none.
    """

    endpoint: str
    api_key: SecretStr
    api_secret: SecretStr
    cluster_id: str = ""
    request_timeout: timedelta = timedelta(seconds=10)
    call_timeout: timedelta = timedelta(seconds=30)
    max_attempts: int = 4
    user_agent_suffix: str = ""


@dataclass(frozen=True, slots=True)
class CloudCall:
    """One request that was sent to the cloud; a call that is tried three times is three of these.

    Attributes:
        operation: the operation as the cloud's API names it, e.g. ``scale-sks-nodepool``.
        status: the HTTP status of the answer, None when there was none.
    """

    operation: str
    status: int | None


CallObserver: TypeAlias = Callable[[CloudCall], None]
"""Told of every request after it ended, from whichever thread sent it."""

TimeLeft: TypeAlias = Callable[[], timedelta]
"""What remains of the running invocation's time; a call never outlasts it.

Asked at the start of every call, with the caller's context variables even where the adapter makes the call in a thread
of its own.
"""


class Provider(Protocol):
    """Builds a cloud."""

    def __call__(
        self,
        connection: CloudConnection,
        clock: Clock,
        on_call: CallObserver,
        time_left: TimeLeft | None = None,
    ) -> Cloud:
        """A cloud that may be shared by threads and kept for the life of the process. Calls nothing yet.

        Without `time_left` only the connection's own timeouts bound a call.

        Raises:
            SettingsError: the connection cannot work as described; names every mistake.
        """
