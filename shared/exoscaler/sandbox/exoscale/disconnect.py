"""Closes a connection in place of an answer, as a broken network does."""

from __future__ import annotations

import asyncio

from starlette.types import Receive, Send

MISSING_BYTES = 1024


async def close_connection(receive: Receive, send: Send) -> None:
    """End a request without an answer.

    ASGI has no word for it. Uvicorn's connection can be reached and cut, so that the client gets not one byte; on any
    other server, or behind a middleware, the answer promises more than it holds, which makes the server cut it.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if isinstance(transport, asyncio.Transport):
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass
        return
    headers = [(b"content-length", str(MISSING_BYTES).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": True})
