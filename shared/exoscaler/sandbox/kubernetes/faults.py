"""Faults on demand: what makes the API server refuse, stall or cut off the requests that a rule matches."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from exoscaler.sandbox.kubernetes.failures import ApiFailure, bad_request
from exoscaler.sandbox.objects import JsonObject


class FaultKind(StrEnum):
    """What happens to a matched request."""

    STATUS = "status"
    """It is refused with a status, without effect."""
    HANG = "hang"
    """It gets no answer for a while and is then cut off, without effect."""
    DELAY = "delay"
    """It is answered as usual, but later."""
    DROP = "drop"
    """It takes effect, and the connection is cut before the answer is complete."""


_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(frozen=True, slots=True)
class FaultRule:
    """Which requests fail, how, and how often.

    Empty `verb`, `resource` and `name` match all; `subresource` None matches all, empty the object itself. The first
    `after` matching requests pass, then `times` fail (0: all). `status`, `retry_after` and `message` are for STATUS,
    `seconds` (of wall time) for HANG and DELAY.
    """

    kind: FaultKind = FaultKind.STATUS
    verb: str = ""
    resource: str = ""
    subresource: str | None = None
    name: str = ""
    times: int = 1
    after: int = 0
    status: int = 503
    retry_after: int | None = None
    message: str = "a fault was asked for"
    seconds: float = 60.0

    def matches(self, verb: str, resource: str, subresource: str, name: str) -> bool:
        """True when the rule is about such a request."""
        return (
            self.verb in ("", verb)
            and self.resource in ("", resource)
            and self.subresource in (None, subresource)
            and self.name in ("", name)
        )

    def failure(self) -> ApiFailure:
        """The refusal of a STATUS fault."""
        reason = _REASONS.get(self.status, "")
        return ApiFailure(self.status, reason, self.message, retry_after=self.retry_after)

    @classmethod
    def from_json(cls, source: JsonObject) -> FaultRule:
        """The rule that the control interface was sent; 400 when it is malformed."""
        try:
            return cls(**{**source, "kind": FaultKind(source.get("kind", FaultKind.STATUS))})
        except (TypeError, ValueError) as error:
            raise bad_request(f"not a fault rule: {error}") from error


class FaultRules:
    """The rules in force; each request meets at most one. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[FaultRule] = []

    def add(self, rule: FaultRule) -> None:
        """Put a rule in force, behind those that are."""
        with self._lock:
            self._rules.append(rule)

    def clear(self) -> None:
        """Lift all rules."""
        with self._lock:
            self._rules.clear()

    def rules(self) -> list[FaultRule]:
        """The rules in force, with what is left of their counts."""
        with self._lock:
            return list(self._rules)

    def take(self, verb: str, resource: str, subresource: str, name: str) -> FaultRule | None:
        """The rule that this request meets, counted down; None when it may pass."""
        with self._lock:
            for index, rule in enumerate(self._rules):
                if not rule.matches(verb, resource, subresource, name):
                    continue
                if rule.after > 0:
                    self._rules[index] = replace(rule, after=rule.after - 1)
                    continue
                if rule.times == 1:
                    del self._rules[index]
                elif rule.times > 1:
                    self._rules[index] = replace(rule, times=rule.times - 1)
                return rule
        return None

    def to_json(self) -> JsonObject:
        """The rules as the control interface shows them."""
        return {"faults": [asdict(rule) for rule in self.rules()]}
