"""An Exoscale API made of routes, a clock moved by its waiting, and builders of answers in the API's own words."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
from pydantic import SecretStr

from exoscaler.adapters.exoscale import ExoscaleClient, ExoscaleCloud
from exoscaler.adapters.exoscale.connection import connect
from exoscaler.core.model import (
    GroupDescription,
    GroupKind,
    NodeGroup,
    Pool,
    PoolState,
)
from exoscaler.ports.cloud import NodeIdentity
from exoscaler.ports.provider import CloudCall, CloudConnection, TimeLeft

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
KEY = "EXO0123456789abcdef01234567"
SECRET = "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-_abcdef"
ENDPOINT = "https://api-ch-gva-2.exoscale.test/v2"

Reply = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


def uid(kind: str, number: int = 1) -> str:
    """A UUID that shows what it is of."""
    prefix = {"cluster": 0xC, "nodepool": 0xA, "pool": 0xB, "instance": 0xE, "operation": 0xF, "type": 0xD}[kind]
    return str(UUID(int=(prefix << 124) | number))


class FakeClock:
    """Time passes only by waiting for it. Of this thread's and any other's."""

    def __init__(self, now: datetime = NOW) -> None:
        self._lock = threading.Lock()
        self._now = now
        self.pauses: list[timedelta] = []

    def now(self) -> datetime:
        return self._now

    def pause(self, duration: timedelta) -> None:
        with self._lock:
            self.pauses.append(duration)
        self.advance(duration)

    def advance(self, duration: timedelta) -> None:
        with self._lock:
            self._now += duration

    def monotonic(self) -> float:
        return (self._now - NOW).total_seconds()


def answer(content: object, status: int = 200, headers: Mapping[str, str] | None = None) -> httpx.Response:
    return httpx.Response(status, json=content, headers=headers)


def refusal(status: int, message: str = "no", **headers: str) -> httpx.Response:
    renamed = {name.replace("_", "-"): value for name, value in headers.items()}
    return answer({"message": message}, status, renamed)


class Api:
    """Routes of an API: method and path below ``/v2`` to an answer, a list of answers in turn, or an exception."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._routes: dict[str, list[Reply]] = {}
        self.requests: list[httpx.Request] = []

    def on(self, route: str, *replies: Reply) -> Api:
        """The last reply repeats itself."""
        self._routes[route] = list(replies)
        return self

    def __call__(self, request: httpx.Request) -> httpx.Response:
        route = f"{request.method} {request.url.path.removeprefix('/v2')}"
        with self._lock:
            self.requests.append(request)
            replies = self._routes.get(route)
            if not replies:
                return refusal(404, f"nothing at {route}")
            reply = replies[0] if len(replies) == 1 else replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if callable(reply):
            return reply(request)
        return httpx.Response(reply.status_code, content=reply.content, headers=reply.headers)

    @property
    def routes(self) -> list[str]:
        return [f"{request.method} {request.url.path.removeprefix('/v2')}" for request in self.requests]

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) for request in self.requests if request.content]

    # Objects, as the API shows them

    def has_clusters(self, *clusters: Mapping[str, object]) -> Api:
        return self.on("GET /sks-cluster", answer({"sks-clusters": list(clusters)}))

    def has_pools(self, *pools: Mapping[str, object]) -> Api:
        for pool in pools:
            self.on(f"GET /instance-pool/{pool['id']}", answer(pool))
        return self

    def has_instance(self, instance_id: str, **fields: object) -> Api:
        return self.on(f"GET /instance/{instance_id}", answer({"id": instance_id, "state": "running", **fields}))

    def has_quota(self, limit: int = 20, usage: int = 3) -> Api:
        return self.on("GET /quota/instance", answer({"resource": "instance", "limit": limit, "usage": usage}))


def managed_by(pool_id: str) -> dict[str, object]:
    return {"manager": {"id": pool_id, "type": "instance-pool"}}


def cluster_json(*nodepools: Mapping[str, object], number: int = 1, name: str = "prod") -> dict[str, object]:
    return {"id": uid("cluster", number), "name": name, "state": "running", "nodepools": list(nodepools)}


def nodepool_json(number: int = 1, **fields: object) -> dict[str, object]:
    """The nodepool `number`, over the pool of the same number."""
    plain = {
        "id": uid("nodepool", number),
        "name": f"nodepool-{number}",
        "state": "running",
        "size": 1,
        "instance-pool": {"id": uid("pool", number)},
        "instance-type": {"id": uid("type")},
        "disk-size": 50,
    }
    return plain | fields


def pool_json(number: int = 1, members: Iterable[int] = (1,), **fields: object) -> dict[str, object]:
    instances = [{"id": uid("instance", member)} for member in members]
    plain: dict[str, object] = {
        "id": uid("pool", number),
        "name": f"pool-{number}",
        "state": "running",
        "size": len(instances),
        "instances": instances,
        "instance-type": {"id": uid("type")},
    }
    return plain | fields


def sks_pool_json(number: int = 1, members: Iterable[int] = (1,), **fields: object) -> dict[str, object]:
    return pool_json(number, members, manager={"id": uid("nodepool", number), "type": "sks-nodepool"}, **fields)


def node(number: int, nodepool: int | None = None, **fields: Any) -> NodeIdentity:
    """The node of instance `number`."""
    label = "" if nodepool is None else uid("nodepool", nodepool)
    return NodeIdentity(f"node-{number}", fields.pop("instance_id", uid("instance", number)), label, **fields)


def known_group(
    number: int = 1, members: Sequence[int] = (1,), *, standalone: bool = False, cluster: int = 1
) -> NodeGroup:
    return NodeGroup(
        id=uid("pool", number),
        kind=GroupKind.INSTANCE_POOL if standalone else GroupKind.SKS_NODEPOOL,
        name=f"group-{number}",
        pool=Pool(len(members), tuple(uid("instance", member) for member in members), PoolState.RUNNING, "running"),
        min_size=1,
        max_size=10,
        read_at=NOW,
        nodepool_id="" if standalone else uid("nodepool", number),
        cluster_id="" if standalone else uid("cluster", cluster),
        description=GroupDescription(),
    )


# The adapter on such an API


def connection(**fields: Any) -> CloudConnection:
    plain: dict[str, Any] = {"endpoint": ENDPOINT, "api_key": SecretStr(KEY), "api_secret": SecretStr(SECRET)}
    return CloudConnection(**(plain | fields))


class Observed:
    """Counts the calls that the adapter says it made."""

    def __init__(self) -> None:
        self.calls: list[CloudCall] = []

    def __call__(self, call: CloudCall) -> None:
        self.calls.append(call)

    def counts(self) -> Counter[str]:
        return Counter(call.operation for call in self.calls)


def client_on(
    api: Callable[[httpx.Request], httpx.Response],
    clock: FakeClock | None = None,
    observed: Observed | None = None,
    time_left: TimeLeft | None = None,
    **fields: Any,
) -> ExoscaleClient:
    clock = clock or FakeClock()
    return connect(
        connection(**fields),
        clock,
        observed or Observed(),
        time_left,
        transport=httpx.MockTransport(api),
        monotonic=clock.monotonic,
    )


def cloud_on(
    api: Callable[[httpx.Request], httpx.Response],
    clock: FakeClock | None = None,
    *,
    cluster_id: str = "",
    observed: Observed | None = None,
    **fields: Any,
) -> ExoscaleCloud:
    clock = clock or FakeClock()
    return ExoscaleCloud(client_on(api, clock, observed, **fields), clock, cluster_id)
