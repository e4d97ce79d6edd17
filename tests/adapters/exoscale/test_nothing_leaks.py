from __future__ import annotations

import inspect
import traceback
from typing import get_type_hints

import httpx
import pytest
from pydantic import SecretStr

from exoscaler.adapters import exoscale
from exoscaler.adapters.exoscale import ExoscaleClient, ExoscaleCloud
from exoscaler.errors import RemoteError, SettingsError
from exoscaler.ports import provider as provider_port
from tests.adapters.exoscale.api import KEY, SECRET, Api, FakeClock, client_on, cloud_on, connection, known_group, uid

SCALE = f"PUT /instance-pool/{uid('pool')}:scale"


def scale_failing_with(reply: httpx.Response | Exception) -> tuple[RemoteError, str]:
    """The error, and the signature that the request carried."""
    api = Api().on(SCALE, reply)
    with pytest.raises(RemoteError) as caught:
        client_on(api).scale_instance_pool(uid("pool"), 3)
    return caught.value, api.requests[0].headers["Authorization"].rpartition("signature=")[2]


def echo(request: httpx.Request) -> httpx.Response:
    """A proxy that shows the request in its error page."""
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
    return httpx.Response(502, text=f"<pre>{headers}</pre>")


def texts_of(error: BaseException) -> str:
    chain = "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format(chain=True))
    return f"{error!r}{error}{error.args}{vars(error)}{chain}"


@pytest.mark.parametrize(
    "reply",
    [
        httpx.Response(403, json={"message": "Invalid signature"}),
        httpx.Response(500, text="oops"),
        httpx.Response(200, text="not json"),
        httpx.ReadTimeout("slow"),
        httpx.ConnectError("refused"),
        httpx.LocalProtocolError("Illegal header value"),
    ],
    ids=["denied", "failing", "malformed", "slow", "refused", "protocol"],
)
def test_no_text_of_an_error_shows_secret_or_signature(reply: httpx.Response | Exception) -> None:
    error, signature = scale_failing_with(reply)

    assert SECRET not in texts_of(error)
    assert KEY not in texts_of(error)
    assert signature not in texts_of(error)


def test_page_that_echoes_the_request_shows_no_credential() -> None:
    api = Api().on(SCALE, echo)
    with pytest.raises(RemoteError) as caught:
        client_on(api).scale_instance_pool(uid("pool"), 3)

    assert "signature=***" in str(caught.value)
    assert "credential=***" in str(caught.value)
    assert KEY not in str(caught.value)


def test_library_text_that_quotes_a_header_is_not_passed_on() -> None:
    cause = httpx.LocalProtocolError(f"Illegal header value b'EXO2-HMAC-SHA256 credential={KEY}'")

    error, _ = scale_failing_with(cause)

    assert KEY not in f"{error!r}{error}"


def test_text_forms_of_the_adapter_show_endpoint_and_no_credential() -> None:
    shown = [client_on(Api()), cloud_on(Api()), connection()]

    assert "api-ch-gva-2.exoscale.test" in repr(shown[0])
    for each in shown:
        assert SECRET not in f"{each!r}{each}"
        assert KEY not in f"{each!r}{each}"


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} x", "EXO\u00e9", "EXO,expires=1", ""])
def test_credential_that_could_break_a_header_is_refused_unquoted(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        exoscale.provider(connection(api_key=SecretStr(key)), FakeClock(), lambda _: None)

    assert "API key" in str(caught.value)
    assert not key or key.strip() not in f"{caught.value!r}{caught.value}{caught.value.args}"


def test_public_face_mentions_nothing_of_the_http_library() -> None:
    mentioned = []
    for name in exoscale.__all__:
        for _, member in [("", getattr(exoscale, name)), *inspect.getmembers(getattr(exoscale, name))]:
            if inspect.isfunction(member):
                mentioned += [str(hint) for hint in get_type_hints(member).values()]

    assert len(mentioned) > 40
    assert not [hint for hint in mentioned if "httpx" in hint or "tenacity" in hint]
    assert not [value for value in vars(exoscale).values() if getattr(value, "__module__", "").startswith("httpx")]


def test_factory_is_a_provider() -> None:
    factory: provider_port.Provider = exoscale.provider

    cloud = factory(connection(cluster_id=uid("cluster").upper()), FakeClock(), lambda _: None)

    assert isinstance(cloud, ExoscaleCloud)
    assert cloud.provider_id_prefix == "exoscale://"
    assert cloud.nodepool_label == "node.exoscale.net/nodepool-id"
    cloud.close()


def test_closed_client_is_of_no_use() -> None:
    client: ExoscaleClient = client_on(Api())
    client.close()

    with pytest.raises(RuntimeError, match="closed"):
        client.get_instance_pool(known_group().id)
