"""What a function answers an event sender, and what the sender makes of it.

Who repeats what (Knative's event sources repeat five times within about three seconds, triggers as configured):

======== ================== ===================== ==========================================================
status   a source           a trigger             so we use it for
======== ================== ===================== ==========================================================
200      done               done                  done, and dropped on purpose
400      drops the event    drops the event       an event that cannot be read, one that is too large
405      drops the event    drops the event       any method but POST
413      **repeats**        drops the event       nothing: a body that is too large stays too large, and a
                                                  repeating source stalls its whole stream meanwhile
404      **repeats**        **repeats**           nothing
409      drops the event    repeats               nothing
500      **drops**          repeats               nothing: a source would lose the event
503      repeats            repeats               come again, with Retry-After; the one answer that both repeat
======== ================== ===================== ==========================================================

Bodies are JSON, for people and logs; senders look at the status alone. Nothing of a request is ever repeated.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from exoscaler.adapters.events.envelope import MethodNotAllowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from exoscaler.errors import EventError
    from exoscaler.ports.events import Relevance

JsonValue: TypeAlias = "str | int | float | bool | Sequence[JsonValue] | Mapping[str, JsonValue] | None"

_HEADERS: Mapping[str, str] = {
    "Content-Type": "application/json",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer. `content` is what the JSON body says."""

    status: int
    content: Mapping[str, JsonValue]
    headers: Mapping[str, str] = field(default_factory=lambda: dict(_HEADERS))

    @property
    def body(self) -> bytes:
        """The content as JSON with a line end, for a terminal."""
        return json.dumps(self.content, allow_nan=False, sort_keys=True).encode() + b"\n"

    def as_response(self) -> tuple[bytes, int, dict[str, str]]:
        """The answer as functions-framework takes it: body, status, headers."""
        return self.body, self.status, dict(self.headers)


def done(decided: Mapping[str, JsonValue]) -> Reply:
    """The function did its work; the body says what it decided."""
    return Reply(200, {"outcome": "done", "decided": decided})


def dropped(reason: Relevance | str) -> Reply:
    """There was nothing to do, on purpose: success for the sender, who must not repeat the event."""
    return Reply(200, {"outcome": "dropped", "reason": str(reason)})


def come_again(retry_after: timedelta, why: str) -> Reply:
    """The work could not be done or finished now: the sender should repeat the event after `retry_after`.

    For everything transient, unexpected failures included. `why` is ours to write: it must quote neither the request
    nor a secret. `Retry-After` is in whole seconds, rounded up, at least 1.
    """
    seconds = max(1, math.ceil(retry_after.total_seconds()))
    return Reply(
        503,
        {"outcome": "come-again", "reason": why, "retryAfterSeconds": seconds},
        {**_HEADERS, "Retry-After": str(seconds)},
    )


def refused(error: EventError) -> Reply:
    """The request is not an event that can be read: repeating it is no use. 405 for a wrong method, else 400."""
    content = {"outcome": "refused", "reason": str(error)}
    if isinstance(error, MethodNotAllowed):
        return Reply(405, content, {**_HEADERS, "Allow": "POST"})
    return Reply(400, content)
