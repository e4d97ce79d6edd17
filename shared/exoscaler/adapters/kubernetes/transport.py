"""One call over the official client's connections: bytes come back, and errors of ours when nothing does.

The typed part of that client is not used: importing it takes most of a second, and turning a long list into its models
takes seventy times as long as reading what is needed straight from the bytes. What is left still takes long to import;
import this module only when there is something to ask.
"""

from __future__ import annotations

from datetime import timedelta

from kubernetes.client.exceptions import ApiException
from urllib3 import exceptions

from exoscaler.adapters.kubernetes.answers import Answer
from exoscaler.adapters.kubernetes.calls import MERGE_PATCH, Call, Verb
from exoscaler.adapters.kubernetes.credentials import open_client
from exoscaler.adapters.kubernetes.endpoint import Endpoint
from exoscaler.errors import Denied, TimedOut, Unavailable


class Transport:
    """Makes calls. Safe to use from several threads.

    Raises:
        SettingsError: no usable credentials were found.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self._client = open_client(endpoint.kubeconfig, endpoint.user_agent, endpoint.connections)
        self._timeouts = (_seconds(endpoint.connect_timeout), _seconds(endpoint.read_timeout))

    def send(self, call: Call) -> Answer:
        """Make the call once and hand out the answer, whatever its status.

        Raises:
            Unavailable, TimedOut: there was no answer, or not the whole of it.
            Denied: the credentials could not be renewed.
        """
        headers = self._headers(call)
        url = self._client.configuration.host + call.path
        try:
            response = self._client.call_api(
                call.method, url, header_params=headers, body=call.body, _request_timeout=self._timeouts
            )
            raw = response.response
            return Answer(call, raw.status, raw.data, raw.headers)
        except (exceptions.NewConnectionError, exceptions.SSLError) as error:
            raise Unavailable(call.operation, call.target, detail=str(error)) from error
        except exceptions.TimeoutError as error:
            raise TimedOut(call.operation, call.target, detail=str(error)) from error
        except (exceptions.HTTPError, OSError) as error:
            raise Unavailable(call.operation, call.target, detail=str(error)) from error
        except ApiException as error:
            # The client turns failures of TLS into one without a status.
            raise Unavailable(call.operation, call.target, detail=str(error.reason)) from error

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


def _seconds(duration: timedelta) -> float:
    return duration.total_seconds()
