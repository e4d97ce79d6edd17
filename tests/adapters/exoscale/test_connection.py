from __future__ import annotations

from datetime import timedelta
from importlib.metadata import entry_points
from typing import Any

import pytest
from pydantic import SecretStr

from exoscaler import __version__
from exoscaler.adapters import exoscale
from exoscaler.errors import NotFound, SettingsError
from tests.adapters.exoscale.api import Api, FakeClock, client_on, connection, uid


def mistakes_of(**fields: Any) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        exoscale.provider(connection(**fields), FakeClock(), lambda _: None)
    return caught.value.mistakes


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"endpoint": "api-ch-gva-2.exoscale.com/v2"}, "is not an HTTP URL"),
        ({"endpoint": "ftp://host/v2"}, "is not an HTTP URL"),
        ({"endpoint": "https://host:port/v2"}, "is not a URL"),
        ({"endpoint": "https://me:hunter2@host/v2"}, "carries credentials"),
        ({"endpoint": "https://host/v2?a=b"}, "ends in a query"),
        ({"api_key": SecretStr("")}, "API key is empty"),
        ({"api_key": SecretStr("EXO 1")}, "characters that no key has"),
        ({"api_secret": SecretStr(" \n")}, "API secret is empty"),
        ({"api_secret": SecretStr("abc\n")}, "API secret begins or ends with white space"),
        ({"cluster_id": "prod"}, "'prod' is not a UUID"),
        ({"request_timeout": timedelta(0)}, "longer than zero"),
        ({"call_timeout": timedelta(seconds=-1)}, "longer than zero"),
        ({"max_attempts": 0}, "at least 1 attempt"),
        ({"user_agent_suffix": "a\nb"}, "printable ASCII"),
    ],
)
def test_connection_that_cannot_work_is_refused_with_the_reason(fields: dict[str, Any], complaint: str) -> None:
    [mistake] = mistakes_of(**fields)

    assert complaint in mistake
    assert "hunter2" not in mistake


def test_all_mistakes_are_told_at_once() -> None:
    assert len(mistakes_of(endpoint="", api_key=SecretStr(""), api_secret=SecretStr(""), max_attempts=0)) == 4


def test_requests_name_the_program_and_its_version() -> None:
    api = Api()
    with pytest.raises(NotFound):
        client_on(api, user_agent_suffix="demo/1").get_instance_pool(uid("pool"))

    assert api.requests[0].headers["User-Agent"] == f"exoscaler/{__version__} demo/1"


@pytest.mark.parametrize("endpoint", ["https://host.test/v2", "https://host.test/v2/", "https://host.test/mounted/v2"])
def test_path_is_appended_to_the_endpoint(endpoint: str) -> None:
    api = Api()
    with pytest.raises(NotFound):
        client_on(api, endpoint=endpoint).get_instance_pool(uid("pool"))

    assert str(api.requests[0].url) == f"{endpoint.rstrip('/')}/instance-pool/{uid('pool')}"


def test_provider_is_found_under_its_entry_point() -> None:
    [entry] = entry_points(group="exoscaler.providers", name="exoscale")

    assert entry.load() is exoscale.provider
