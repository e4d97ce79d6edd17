from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict

from exoscaler.adapters.exoscale import calls
from exoscaler.adapters.exoscale.calls import Call, OperationId
from exoscaler.errors import NotFound, Rejected
from tests.adapters.exoscale.api import Api, client_on, uid

SPEC = json.loads((Path(__file__).parents[2] / "recorded" / "exoscale-openapi-subset.json").read_text(encoding="utf-8"))
OPENAPI = OpenAPI.from_dict(SPEC)
INSTANCES = [uid("instance", 1), uid("instance", 2)]

CALLS: dict[OperationId, Call] = {
    call.operation: call
    for call in (
        calls.list_sks_clusters(),
        calls.get_instance(uid("instance")),
        calls.get_instance_pool(uid("pool")),
        calls.get_quota("instance"),
        calls.get_operation(uid("operation")),
        calls.scale_sks_nodepool(uid("cluster"), uid("nodepool"), 3),
        calls.scale_sks_nodepool(uid("cluster"), uid("nodepool"), 0),
        calls.evict_sks_nodepool_members(uid("cluster"), uid("nodepool"), INSTANCES),
        calls.scale_instance_pool(uid("pool"), 3),
        calls.evict_instance_pool_members(uid("pool"), INSTANCES),
    )
}


class SentRequest:
    """A request of ours in the form that the validator reads."""

    def __init__(self, request: httpx.Request) -> None:
        self.host_url = "https://api-ch-gva-2.exoscale.com"
        self.path = request.url.raw_path.decode()
        self.method = request.method.lower()
        self.body = request.content or None
        self.content_type = request.headers.get("Content-Type", "")
        self.parameters = RequestParameters(query=ImmutableMultiDict(), header=Headers(dict(request.headers)))


def sent(call: Call) -> httpx.Request:
    api = Api()
    client = client_on(api)
    with pytest.raises(NotFound):
        client._http.send(call)
    return api.requests[0]


@pytest.mark.parametrize("operation", OperationId)
def test_request_meets_the_published_description(operation: OperationId) -> None:
    request = sent(CALLS[operation])

    result = OPENAPI.unmarshal_request(SentRequest(request))

    assert result.errors == []
    described = {o["operationId"]: (m.upper(), p) for p, ms in SPEC["paths"].items() for m, o in ms.items()}
    assert request.method == described[operation][0]


def test_validator_would_notice_a_wrong_request() -> None:
    request = httpx.Request("PUT", f"https://host/v2/instance-pool/{uid('pool')}:scale", json={"size": -1})

    with pytest.raises(Exception, match="body"):
        OPENAPI.validate_request(SentRequest(request))


def test_every_operation_of_the_interface_is_described() -> None:
    assert set(CALLS) == set(OperationId)


BUILDERS: dict[str, Callable[[str], Call]] = {
    "instance": calls.get_instance,
    "pool": calls.get_instance_pool,
    "operation": calls.get_operation,
    "pool to scale": lambda text: calls.scale_instance_pool(text, 1),
    "cluster to scale": lambda text: calls.scale_sks_nodepool(text, uid("nodepool"), 1),
    "nodepool to scale": lambda text: calls.scale_sks_nodepool(uid("cluster"), text, 1),
    "member": lambda text: calls.evict_instance_pool_members(uid("pool"), [uid("instance"), text]),
    "nodepool member": lambda text: calls.evict_sks_nodepool_members(uid("cluster"), uid("nodepool"), [text]),
}
NOT_IDS = ["", "external-0123abcd", "../operation", uid("pool").upper(), uid("pool") + "?x=1", "g" * 36]


@pytest.mark.parametrize("text", NOT_IDS)
@pytest.mark.parametrize("name", BUILDERS)
def test_what_is_no_id_is_never_sent(name: str, text: str) -> None:
    with pytest.raises(Rejected, match="nothing was sent"):
        BUILDERS[name](text)


def test_quota_of_an_odd_name_is_never_sent() -> None:
    with pytest.raises(Rejected, match="nothing was sent"):
        calls.get_quota("instance/../zone")


def test_only_changes_carry_a_body_and_count_as_changes() -> None:
    changes = {operation for operation, call in CALLS.items() if call.is_change}

    assert changes == {
        OperationId.SCALE_SKS_NODEPOOL,
        OperationId.EVICT_SKS_NODEPOOL_MEMBERS,
        OperationId.SCALE_INSTANCE_POOL,
        OperationId.EVICT_INSTANCE_POOL_MEMBERS,
    }
