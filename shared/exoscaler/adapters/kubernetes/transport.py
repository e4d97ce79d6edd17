"""One call over the official client's connections: bytes come back, and errors of ours when nothing does.

The typed part of that client is not used: importing it takes most of a second, and turning a long list into its models
takes seventy times as long as reading what is needed straight from the bytes. What is left still takes long to import;
import this module only when there is something to ask.
"""

from __future__ import annotations

import time
from datetime import timedelta

from kubernetes.client.exceptions import ApiException
from urllib3 import HTTPResponse, exceptions

from exoscaler.adapters.kubernetes.answers import Answer
from exoscaler.adapters.kubernetes.calls import MERGE_PATCH, Call, Verb
from exoscaler.adapters.kubernetes.credentials import open_client
from exoscaler.adapters.kubernetes.endpoint import Endpoint
from exoscaler.errors import Denied, TimedOut, Unavailable

MAX_BODY = 256 * 1024 * 1024
"""Bytes of one answer: dozens of times what a page holds, and still less than what would end a function."""

_CHUNK = 256 * 1024


class Transport:
    """Makes calls. Safe to use from several threads.

    Raises:
        SettingsError: no usable credentials were found.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = open_client(endpoint.kubeconfig, endpoint.user_agent, endpoint.connections)
        self._connect_timeout = endpoint.connect_timeout

    def send(self, call: Call, timeout: timedelta) -> Answer:
        """Make the call once and hand out the answer, whatever its status.

        Raises:
            TimedOut: the whole answer was not there in time.
            Unavailable: there was no answer, not the whole of it, or one of an absurd size.
            Denied: the credentials could not be renewed.
        """
        headers = self._headers(call)
        url = self._client.configuration.host + call.path
        until = time.monotonic() + timeout.total_seconds()
        timeouts = (min(self._connect_timeout, timeout).total_seconds(), timeout.total_seconds())
        try:
            response = self._client.call_api(
                call.method, url, header_params=headers, body=call.body, _request_timeout=timeouts
            )
            raw: HTTPResponse = response.response
            return Answer(call, raw.status, _whole_body(call, raw, until), raw.headers)
        except (exceptions.NewConnectionError, exceptions.SSLError) as error:
            raise Unavailable(call.operation, call.target, detail=str(error)) from error
        except exceptions.TimeoutError as error:
            raise TimedOut(call.operation, call.target, detail=str(error)) from error
        except (exceptions.HTTPError, OSError) as error:
            raise Unavailable(call.operation, call.target, detail=str(error)) from error
        except ApiException as error:
            # The client turns failures of TLS into one without a status.
            raise Unavailable(call.operation, call.target, detail=" ".join(str(error.reason).split())) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()  # type: ignore[no-untyped-call]  # the library is typed in part

    def _headers(self, call: Call) -> dict[str, str]:
        headers = {**self._client.default_headers, "Accept": "application/json"}
        if call.body is not None:
            headers["Content-Type"] = MERGE_PATCH if call.verb is Verb.PATCH else "application/json"
        try:
            self._client.update_params_for_auth(headers, [], ["BearerToken"], call.path, call.method, None)
        except Exception as error:
            # The hook that renews a token reads a file or runs a program, and may raise whatever these do.
            detail = f"the credentials cannot be renewed: {error}"
            raise Denied(call.operation, call.target, detail=detail) from error
        return headers


def _whole_body(call: Call, response: HTTPResponse, until: float) -> bytes:
    """The body; the library's own time-outs bound single reads, not their sum, so an answer that drips is cut here."""
    body = bytearray()
    try:
        # read1 hands out what has come, so that the time is looked at even when little comes.
        while chunk := response.read1(_CHUNK):
            body += chunk
            _check(call, len(body), until)
    except BaseException:
        response.close()
        raise
    return bytes(body)


def _check(call: Call, size: int, until: float) -> None:
    if time.monotonic() > until:
        raise TimedOut(call.operation, call.target, detail="the answer was not complete in time")
    if size > MAX_BODY:
        raise Unavailable(call.operation, call.target, detail=f"the answer is larger than {MAX_BODY:,} bytes")
