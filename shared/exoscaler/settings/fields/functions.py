"""What running as short functions needs: budgets, intervals, sinks, state."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, ClassVar

from pydantic import AfterValidator

from exoscaler.settings.fields.section import Section
from exoscaler.settings.flag import About
from exoscaler.settings.identifiers import ObjectName, Url
from exoscaler.settings.kinds import INT, Duration, PositiveDuration, between

Attempts = Annotated[int, INT, AfterValidator(between(1, 10))]
PageSize = Annotated[int, INT, AfterValidator(between(1, 10_000))]
# The ended operations share a ConfigMap of 1 MiB with everything else.
Kept = Annotated[int, INT, AfterValidator(between(0, 500))]


class FunctionFields(Section):
    """How the functions run."""

    section: ClassVar[str] = "Functions"

    state_config_map_name: Annotated[
        ObjectName, About("", "Name of the ConfigMap that keeps what must outlive an invocation.")
    ] = "exoscaler-state"
    evaluation_period: Annotated[
        PositiveDuration,
        About(
            "",
            "How often the cron source wakes `evaluate`. Timers of unneeded nodes begin anew after a gap of more than "
            "three of these, since a node may have been busy meanwhile.",
        ),
    ] = timedelta(minutes=1)
    min_evaluation_interval: Annotated[
        Duration, About("", "Evaluations begin at least this long after one another, however many events arrive.")
    ] = timedelta(seconds=5)
    node_group_cache_ttl: Annotated[
        PositiveDuration, About("", "Age at which what is known of the node groups is read from the cloud again.")
    ] = timedelta(minutes=1)
    decision_max_age: Annotated[
        PositiveDuration,
        About("", "A plan that changes something is made on a view of the cloud that is no older than this."),
    ] = timedelta(seconds=15)
    invocation_budget: Annotated[
        PositiveDuration,
        About("", "Time that one call of a function may take. What is not done then is left to the next tick."),
    ] = timedelta(seconds=25)
    claim_ttl: Annotated[
        PositiveDuration,
        About(
            "",
            "How long an invocation holds the right to carry out an operation. Longer than `--invocation-budget`, so "
            "that no second invocation begins while the first may still act.",
        ),
    ] = timedelta(seconds=45)
    operation_poll_interval: Annotated[
        PositiveDuration, About("", "How often an operation that the cloud is carrying out is looked at.")
    ] = timedelta(seconds=10)
    operation_timeout: Annotated[
        PositiveDuration, About("", "How long the cloud may take to carry out an operation before it counts as failed.")
    ] = timedelta(minutes=10)
    ended_operations_kept: Annotated[
        Kept, About("", "How many ended operations the state remembers, with their outcome.", "operations")
    ] = 50
    cloud_request_timeout: Annotated[
        PositiveDuration, About("", "Time limit of one request to the cloud. Shorter than `--invocation-budget`.")
    ] = timedelta(seconds=10)
    cloud_max_attempts: Annotated[
        Attempts, About("", "How often a request that may be repeated is sent before it counts as failed.", "requests")
    ] = 4
    kube_request_timeout: Annotated[PositiveDuration, About("", "Time limit of one request to the Kubernetes API.")] = (
        timedelta(seconds=10)
    )
    kube_page_size: Annotated[
        PageSize, About("", "How many objects one page of a Kubernetes list holds.", "objects")
    ] = 500
    event_sink: Annotated[
        Url,
        About(
            "",
            "Where `operation.planned` is sent. Without any sink, planned operations wait for the next tick.",
            variables=("K_SINK",),
        ),
    ] = None
    scale_up_sink: Annotated[Url, About("", "Where operations that grow a group are announced instead.")] = None
    scale_down_sink: Annotated[Url, About("", "Where operations that shrink a group are announced instead.")] = None
