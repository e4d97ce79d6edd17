"""The outside world, built from the settings at first use.

The functions' server imports a function before it forks its worker, so nothing here may open a connection or start a
thread before the first request.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack
from contextvars import ContextVar
from datetime import timedelta
from functools import cached_property
from importlib.metadata import entry_points
from typing import cast

from exoscaler import logs
from exoscaler.adapters import kubernetes
from exoscaler.adapters.clock import SystemClock
from exoscaler.adapters.events import HttpEventSink, NoEventSink
from exoscaler.app.invocation import Invocation, Ports
from exoscaler.core.policy import Policy
from exoscaler.errors import SettingsError
from exoscaler.ports.cloud import Cloud
from exoscaler.ports.events import EventSink, OperationKind
from exoscaler.ports.provider import CloudCall, CloudConnection, Provider
from exoscaler.ports.state import StateStore
from exoscaler.settings import PROVIDERS_GROUP, Settings
from exoscaler.settings.policy import policy_of

running: ContextVar[Invocation | None] = ContextVar("running", default=None)
"""The invocation that runs in this thread; set around each one, so that no call to the cloud outlasts it."""

log = logs.get("exoscaler.wiring.outside")


class Outside:
    """Ports and policy of one process, shared by its threads."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock = SystemClock()
        self._building = threading.Lock()
        self._opened = ExitStack()

    @property
    def ports(self) -> Ports:
        """The outside world; built once, whichever thread comes first."""
        with self._building:
            return self._ports

    @property
    def shown_state(self) -> StateStore:
        """The state for looking only: nothing is ever written through it, not even an unreadable state put aside."""
        with self._building:
            settings = self.settings
            return self._connection.state_store(settings.namespace, settings.state_config_map_name, read_only=True)

    @property
    def policy(self) -> Policy:
        """How to decide."""
        with self._building:
            return self._policy

    def close(self) -> None:
        """Give back every connection."""
        self._opened.close()

    @cached_property
    def _ports(self) -> Ports:
        settings = self.settings
        store = self._connection.state_store(settings.namespace, settings.state_config_map_name)
        return Ports(self._connection.cluster, self._cloud, store, self._sink, self.clock)

    @cached_property
    def _connection(self) -> kubernetes.Connection:
        settings = self.settings
        connection = kubernetes.connect(
            self.clock,
            kubeconfig=settings.kubeconfig,
            request_timeout=settings.kube_request_timeout,
            page_size=settings.kube_page_size,
            time_left=_time_left,
        )
        self._opened.callback(connection.close)
        return connection

    @cached_property
    def _policy(self) -> Policy:
        return policy_of(self.settings, self._cloud.provider_id_prefix)

    @cached_property
    def _cloud(self) -> Cloud:
        settings = self.settings
        found = entry_points(group=PROVIDERS_GROUP, name=settings.cloud_provider)
        provider = cast("Provider", next(iter(found)).load())
        cloud = provider(_connection(settings), self.clock, _count, _time_left)
        self._opened.callback(cloud.close)
        return cloud

    @cached_property
    def _sink(self) -> EventSink:
        settings = self.settings
        urls = {
            OperationKind.GROW: settings.scale_up_sink or settings.event_sink,
            OperationKind.SHRINK: settings.scale_down_sink or settings.event_sink,
        }
        known = {kind: url for kind, url in urls.items() if url}
        if not known:
            return NoEventSink()
        sink = HttpEventSink(known)
        self._opened.callback(sink.close)
        return sink


def _connection(settings: Settings) -> CloudConnection:
    access = settings.exoscale
    if access is None:
        raise SettingsError((f"--cloud-provider={settings.cloud_provider} has no access settings",))
    return CloudConnection(
        endpoint=access.endpoint,
        api_key=access.api_key,
        api_secret=access.api_secret,
        cluster_id=settings.sks_cluster_id or "",
        request_timeout=settings.cloud_request_timeout,
        call_timeout=settings.invocation_budget,
        max_attempts=settings.cloud_max_attempts,
    )


def _count(call: CloudCall) -> None:
    log.debug("cloud call", operation=call.operation, status=call.status)


def _time_left() -> timedelta:
    invocation = running.get()
    return timedelta.max if invocation is None else invocation.time_left()
