"""Sends calls: one connection pool for all threads, time-outs at every step, and patience for looks alone.

A call that changes something is sent once: only whoever looks at the pool again can tell whether it took effect. A look
is repeated, with growing random pauses, as long as attempts and time last.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from ipaddress import ip_address
from typing import TypeAlias

import httpx
import tenacity

from exoscaler.adapters.exoscale.calls import Call
from exoscaler.adapters.exoscale.failures import (
    Answer,
    Failure,
    from_answer,
    from_exception,
    out_of_time,
    too_large,
)
from exoscaler.ports.clock import Clock
from exoscaler.ports.provider import CallObserver, CloudCall, TimeLeft

MAX_BODY = 32 * 2**20
"""Bytes of an answer, decompressed. The largest real one, a zone's clusters, stays far below 1 MiB."""

MAX_WAIT = timedelta(seconds=15)
"""The longest pause that the API may ask for; when it asks for more, the call ends as rate limited at once."""

LEAST_FOR_CHANGE = timedelta(seconds=2)
"""A change is not sent when the invocation has less time left: nobody would be there to hear the answer."""

LOOK_SHARE = 1.5
"""A look with all its repeats takes at most two thirds of the invocation's time that is left."""

_CONNECT_TIMEOUT = timedelta(seconds=5)
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_LIMITS = httpx.Limits(max_connections=16, max_keepalive_connections=8, keepalive_expiry=30)

Monotonic: TypeAlias = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to wait; see `exoscaler.ports.provider.CloudConnection` for what each means."""

    request_timeout: timedelta
    call_timeout: timedelta
    max_attempts: int


class _Deadline:
    """The moment by which a call must have ended."""

    def __init__(self, duration: timedelta, monotonic: Monotonic) -> None:
        self._monotonic = monotonic
        self._at = monotonic() + duration.total_seconds()

    def left(self) -> timedelta:
        return timedelta(seconds=self._at - self._monotonic())


def open_connections(
    endpoint: str, auth: httpx.Auth, user_agent: str, transport: httpx.BaseTransport | None = None
) -> httpx.Client:
    """A pool of connections to the endpoint; `transport` stands in for the network."""
    return httpx.Client(
        base_url=endpoint,
        auth=auth,
        headers={"User-Agent": user_agent, "Accept": "application/json"},
        limits=_LIMITS,
        follow_redirects=False,
        trust_env=not _is_loopback(endpoint),  # a proxy of the environment cannot reach this machine's loopback
        transport=transport,
    )


class Http:
    """The API's endpoint. Safe to share between threads."""

    def __init__(
        self,
        connections: httpx.Client,
        clock: Clock,
        on_call: CallObserver,
        patience: Patience,
        *,
        time_left: TimeLeft | None = None,
        monotonic: Monotonic = time.monotonic,
    ) -> None:
        self._connections = connections
        self._clock = clock
        self._on_call = on_call
        self._patience = patience
        self._time_left = time_left
        self._monotonic = monotonic

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self._connections.base_url)!r})"

    def close(self) -> None:
        """Closes the connections."""
        self._connections.close()

    def send(self, call: Call) -> bytes:
        """Sends a call and returns the body of the answer that accepted it.

        Raises:
            RemoteError: as `exoscaler.adapters.exoscale.failures` says.
        """
        deadline = _Deadline(self._time_for(call), self._monotonic)
        outcome = self._change(call, deadline) if call.is_change else self._look(call, deadline)
        if isinstance(outcome, Failure):
            raise outcome.error
        return outcome.body

    def _time_for(self, call: Call) -> timedelta:
        """A look leaves a part of the invocation's time to whoever has to record that it failed."""
        if self._time_left is None:
            return self._patience.call_timeout
        left = self._time_left()
        return min(left if call.is_change else left / LOOK_SHARE, self._patience.call_timeout)

    def _change(self, call: Call, deadline: _Deadline) -> Answer | Failure:
        if deadline.left() < min(LEAST_FOR_CHANGE, self._patience.call_timeout / 2):
            return out_of_time(call, "not sent: too little is left of the invocation's time", sent=False)
        return self._attempt(call, deadline)

    def _look(self, call: Call, deadline: _Deadline) -> Answer | Failure:
        jitter = tenacity.wait_random_exponential(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE)

        def pause(state: tenacity.RetryCallState) -> float:
            asked = _last(state).wait or timedelta(0)
            return jitter(state) + asked.total_seconds()

        def give_up(state: tenacity.RetryCallState) -> bool:
            asked = _last(state).wait or timedelta(0)
            too_late = timedelta(seconds=state.upcoming_sleep) >= deadline.left()
            return state.attempt_number >= self._patience.max_attempts or asked > MAX_WAIT or too_late

        retrying = tenacity.Retrying(
            sleep=lambda seconds: self._clock.pause(timedelta(seconds=seconds)),
            wait=pause,
            stop=give_up,
            retry=tenacity.retry_if_result(lambda outcome: isinstance(outcome, Failure) and outcome.transient),
            retry_error_callback=_last,
        )
        return retrying(self._attempt, call, deadline)

    def _attempt(self, call: Call, deadline: _Deadline) -> Answer | Failure:
        left = min(deadline.left(), self._patience.request_timeout)
        if left <= timedelta(0):
            return out_of_time(call, "not sent: nothing is left of the invocation's time", sent=False)
        status: int | None = None
        try:
            outcome = self._exchange(call, left)
            status = outcome.status if isinstance(outcome, Answer) else None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.CookieConflict, httpx.StreamError) as cause:
            return from_exception(call, cause)
        finally:
            self._on_call(CloudCall(call.operation, status))
        if isinstance(outcome, Failure) or outcome.is_success:
            return outcome
        return from_answer(call, outcome, self._clock.now())

    def _exchange(self, call: Call, left: timedelta) -> Answer | Failure:
        """One request and its whole answer.

        The library's own time-outs bound single reads, not their sum, so an answer that drips is cut here.
        """
        until = _Deadline(left, self._monotonic)
        headers = {} if call.body is None else {"Content-Type": "application/json"}
        with self._connections.stream(
            call.method,
            call.path,
            content=call.body,
            headers=headers,
            timeout=_timeouts(left),
        ) as response:
            body = bytearray()
            for chunk in response.iter_bytes():
                body += chunk
                if len(body) > MAX_BODY:
                    return too_large(call, response.status_code, MAX_BODY)
                if until.left() <= timedelta(0):
                    return out_of_time(
                        call, f"the answer was not complete within {left.total_seconds():g} s", sent=True
                    )
            return Answer(response.status_code, bytes(body), response.headers.get("Retry-After", ""))


def _last(state: tenacity.RetryCallState) -> Failure:
    outcome: object = None if state.outcome is None else state.outcome.result()
    if not isinstance(outcome, Failure):
        raise TypeError(f"only a failure is repeated, not {type(outcome).__name__}")
    return outcome


def _timeouts(left: timedelta) -> httpx.Timeout:
    seconds = left.total_seconds()
    to_connect = min(seconds, _CONNECT_TIMEOUT.total_seconds())
    return httpx.Timeout(connect=to_connect, read=seconds, write=seconds, pool=to_connect)


def _is_loopback(endpoint: str) -> bool:
    host = httpx.URL(endpoint).host
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
