"""Taints and tolerations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exoscaler.sandbox.objects import JsonObject

HARD_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


def tolerates(toleration: JsonObject, taint: JsonObject) -> bool:
    """Whether one toleration covers one taint; an empty effect or key covers any."""
    effect = toleration.get("effect")
    if effect and effect != taint["effect"]:
        return False
    key = toleration.get("key")
    operator = toleration.get("operator") or "Equal"
    if key and key != taint["key"]:
        return False
    if operator == "Exists":
        return True
    return bool(key) and (toleration.get("value") or "") == (taint.get("value") or "")


def tolerated(taint: JsonObject, tolerations: Sequence[JsonObject]) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(
    taints: Iterable[JsonObject], tolerations: Sequence[JsonObject], effects: frozenset[str] = HARD_EFFECTS
) -> JsonObject | None:
    """The first taint with one of the effects that no toleration covers."""
    for taint in taints:
        if taint["effect"] in effects and not tolerated(taint, tolerations):
            return taint
    return None
