"""The sandbox's own controls under ``/_sandbox``: faults, counters, and what a person does in the portal.

They need no signature: the sandbox listens on loopback and knows nothing worth protecting.

=======  ===============================  =============================================================
GET      ``/_sandbox/faults``             the faults that are set
POST     ``/_sandbox/faults``             set one; answers 201 with its id
DELETE   ``/_sandbox/faults[/{id}]``      remove all, or one
GET      ``/_sandbox/calls``              API calls by operation
DELETE   ``/_sandbox/calls``              start counting anew
GET      ``/_sandbox/counters``           instances created and destroyed, machine-seconds
GET      ``/_sandbox/machines``           the instances, for a machines' side in another process
GET      ``/_sandbox/pools``              the pools at a glance
POST     ``/_sandbox/pools/{id}/resize``  set a pool's size by hand; the id is a pool's or a nodepool's
PUT      ``/_sandbox/quotas/{resource}``  change a quota's limit
DELETE   ``/_sandbox/instances/{id}``     destroy an instance by hand
=======  ===============================  =============================================================
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

from pydantic import Field, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from exoscaler.sandbox.exoscale import wire
from exoscaler.sandbox.exoscale.calls import Calls
from exoscaler.sandbox.exoscale.cloud import Cloud
from exoscaler.sandbox.exoscale.errors import ApiError, Invalid, NotFound
from exoscaler.sandbox.exoscale.fault_kinds import fault_from_json
from exoscaler.sandbox.exoscale.faults import Faults, FaultStatus
from exoscaler.sandbox.exoscale.kebab import KebabModel, mistakes
from exoscaler.sandbox.exoscale.remote import MACHINES

Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]
ModelT = TypeVar("ModelT")


class _Size(KebabModel):
    size: int = Field(ge=0, strict=True)


class _Limit(KebabModel):
    limit: int = Field(ge=-1, strict=True)


class Controls:
    """The endpoints, on one sandbox."""

    def __init__(self, cloud: Cloud, faults: Faults, calls: Calls) -> None:
        self._cloud = cloud
        self._faults = faults
        self._calls = calls

    def app(self) -> Starlette:
        """The ASGI application; its paths start with ``/_sandbox``."""
        return Starlette(
            routes=[
                Route("/_sandbox/faults", self.list_faults, methods=["GET"]),
                Route("/_sandbox/faults", self.add_fault, methods=["POST"]),
                Route("/_sandbox/faults", self.clear_faults, methods=["DELETE"]),
                Route("/_sandbox/faults/{id}", self.remove_fault, methods=["DELETE"]),
                Route("/_sandbox/calls", self.count_calls, methods=["GET"]),
                Route("/_sandbox/calls", self.reset_calls, methods=["DELETE"]),
                Route("/_sandbox/counters", self.counters, methods=["GET"]),
                Route("/_sandbox/machines", self.machines, methods=["GET"]),
                Route("/_sandbox/pools", self.pools, methods=["GET"]),
                Route("/_sandbox/pools/{id}/resize", self.resize, methods=["POST"]),
                Route("/_sandbox/quotas/{resource}", self.set_quota, methods=["PUT"]),
                Route("/_sandbox/instances/{id}", self.destroy, methods=["DELETE"]),
            ],
            exception_handlers={ApiError: _refused, HTTPException: _not_routed},
        )

    async def list_faults(self, _: Request) -> Response:
        """The faults that are set, with how often each has struck."""
        return JSONResponse({"faults": [_fault(status) for status in self._faults.status()]})

    async def add_fault(self, request: Request) -> Response:
        """Set a fault; the pool it names, if any, has to exist."""
        fault = await _read(request, fault_from_json)
        if fault.pool is not None and not self._cloud.pool_keys(fault.pool):
            raise Invalid.because(f"pool: no Instance Pool and no SKS Nodepool has the id {fault.pool}")
        fault_id = self._faults.add(fault)
        set_now = next(status for status in self._faults.status() if status.id == fault_id)
        return JSONResponse(_fault(set_now), status_code=201)

    async def clear_faults(self, _: Request) -> Response:
        """Remove all faults."""
        self._faults.clear()
        return Response(status_code=204)

    async def remove_fault(self, request: Request) -> Response:
        """Remove one fault."""
        fault_id = request.path_params["id"]
        if not self._faults.remove(fault_id):
            raise NotFound(f"no fault has the id {fault_id}")
        return Response(status_code=204)

    async def count_calls(self, _: Request) -> Response:
        """API calls by operation since the last reset."""
        return JSONResponse({"calls": self._calls.counts(), "total": self._calls.total()})

    async def reset_calls(self, _: Request) -> Response:
        """Start counting anew."""
        self._calls.reset()
        return Response(status_code=204)

    async def counters(self, _: Request) -> Response:
        """What has happened to instances so far."""
        counters = dataclasses.asdict(self._cloud.counters())
        return JSONResponse({name.replace("_", "-"): value for name, value in counters.items()})

    async def machines(self, _: Request) -> Response:
        """The instances as a `MachineView` sees them."""
        return Response(MACHINES.dump_json(self._cloud.machines()), media_type="application/json")

    async def pools(self, _: Request) -> Response:
        """The pools at a glance."""
        with self._cloud.at_present() as account:
            glance = [
                {
                    "id": pool.id,
                    "nodepool-id": pool.nodepool_id,
                    "name": pool.name if (nodepool := account.nodepool_of(pool)) is None else nodepool.name,
                    "size": pool.size,
                    "members": len(pool.member_ids),
                    "state": pool.state,
                }
                for pool in account.pools.values()
            ]
        return JSONResponse({"pools": glance})

    async def resize(self, request: Request) -> Response:
        """Set a pool's size by hand; answers with the operation."""
        wanted = await _read(request, _Size.model_validate_json)
        operation = self._cloud.resize(request.path_params["id"], wanted.size)
        return JSONResponse(wire.operation(operation))

    async def set_quota(self, request: Request) -> Response:
        """Change a quota's limit; answers with the quota."""
        resource = request.path_params["resource"]
        wanted = await _read(request, _Limit.model_validate_json)
        self._cloud.set_quota(resource, wanted.limit)
        with self._cloud.at_present() as account:
            return JSONResponse(wire.quota(resource, account))

    async def destroy(self, request: Request) -> Response:
        """Destroy an instance by hand."""
        self._cloud.destroy_instance(request.path_params["id"])
        return Response(status_code=204)


async def _read(request: Request, reader: Callable[[bytes], ModelT]) -> ModelT:
    try:
        return reader(await request.body())
    except ValidationError as error:
        raise Invalid.because(*mistakes(error)) from error


def _fault(status: FaultStatus) -> dict[str, object]:
    described = status.fault.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"id": status.id, **described, "strikes": status.strikes, "active": status.active}


async def _refused(_: Request, error: Exception) -> Response:
    if not isinstance(error, ApiError):
        raise error
    return JSONResponse(error.body(), status_code=error.status)


async def _not_routed(_: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"message": error.detail}, status_code=error.status_code, headers=error.headers)
