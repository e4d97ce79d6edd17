"""Values that are fine by themselves and wrong together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from exoscaler.settings.values import Values


@dataclass(frozen=True, slots=True)
class Contradiction:
    """What is wrong between some fields.

    Attributes:
        fields: the fields of `Settings` that are involved; a mistake in one of them makes this one moot.
        what: what is wrong and what would be right.
        position: which of several values of a repeated flag it is about; None for all.
    """

    fields: tuple[str, ...]
    what: str
    position: int | None = None


def contradictions(values: Values) -> tuple[Contradiction, ...]:
    """All contradictions. It matters which fields were set, as opposed to left at their default."""
    rules: Sequence[Callable[[Values], Iterator[Contradiction]]] = (
        _node_groups,
        _times,
        _schedulers,
        _grace,
        _config_maps,
    )
    return tuple(found for rule in rules for found in rule(values))


def _node_groups(values: Values) -> Iterator[Contradiction]:
    """Sizes and names of ``--nodes`` (R1)."""
    least = 0 if values.scale_to_zero else 1
    seen: set[str] = set()
    for position, bounds in enumerate(values.nodes):
        if bounds.min_size < least:
            yield Contradiction(("nodes", "scale_to_zero"), f"the minimum must be {least} or more", position)
        if bounds.max_size < bounds.min_size:
            what = f"the maximum {bounds.max_size} is below the minimum {bounds.min_size}"
            yield Contradiction(("nodes", "scale_to_zero"), what, position)
        if bounds.name in seen:
            yield Contradiction(
                ("nodes",), f"the group {bounds.name} has bounds already; name each group once", position
            )
        seen.add(bounds.name)


def _times(values: Values) -> Iterator[Contradiction]:
    budget = values.invocation_budget
    if values.claim_ttl <= budget:
        what = (
            "a claim must outlast an invocation, or two may act at once: make claim-ttl longer than invocation-budget"
        )
        yield Contradiction(("claim_ttl", "invocation_budget"), what)
    if values.cloud_request_timeout >= budget:
        what = "one slow request would use up the invocation: make cloud-request-timeout shorter than invocation-budget"
        yield Contradiction(("cloud_request_timeout", "invocation_budget"), what)
    if values.min_evaluation_interval >= budget:
        what = "an evaluation could not wait for its turn: make min-evaluation-interval shorter than invocation-budget"
        yield Contradiction(("min_evaluation_interval", "invocation_budget"), what)


def _schedulers(values: Values) -> Iterator[Contradiction]:
    """Bypassed schedulers are a subset of the allowed ones, if any are named (F33, F34)."""
    others = [name for name in values.bypassed_scheduler_names if name not in values.allowed_scheduler_names]
    if values.allowed_scheduler_names and others:
        what = f"{', '.join(others)} must be among the allowed schedulers to be bypassed"
        yield Contradiction(("bypassed_scheduler_names", "allowed_scheduler_names"), what)


def _grace(values: Values) -> Iterator[Contradiction]:
    """One way only to say how long pods get (F103, F104)."""
    if values.drain_priority_config and "max_graceful_termination_sec" in values.model_fields_set:
        fields = ("drain_priority_config", "max_graceful_termination_sec")
        yield Contradiction(fields, "both say how long pods get to end: set only one of them")


def _config_maps(values: Values) -> Iterator[Contradiction]:
    if values.state_config_map_name == values.status_config_map_name:
        what = "the state and the status must be two ConfigMaps: give them different names"
        yield Contradiction(("state_config_map_name", "status_config_map_name"), what)
