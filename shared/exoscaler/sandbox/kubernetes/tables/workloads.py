"""The tables of the kinds that keep pods."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from exoscaler.sandbox.kubernetes.conditions import find_condition
from exoscaler.sandbox.kubernetes.json_values import metadata, number, section, text
from exoscaler.sandbox.kubernetes.object_metadata import parse_time
from exoscaler.sandbox.kubernetes.tables.columns import (
    AGE,
    NAME,
    NONE,
    SELECTOR,
    TEMPLATE,
    Cell,
    Column,
    at,
    count_at,
    human_duration,
    joined,
    number_column,
    since,
)
from exoscaler.sandbox.objects import JsonObject


def _ready_of_desired(obj: JsonObject, _now: datetime) -> Cell:
    return f"{number(section(obj, 'status'), 'readyReplicas')}/{number(section(obj, 'spec'), 'replicas')}"


def _node_selector(obj: JsonObject, _now: datetime) -> Cell:
    template = section(section(obj, "spec"), "template")
    return joined(section(section(template, "spec"), "nodeSelector"))


def _completions(job: JsonObject, _now: datetime) -> Cell:
    spec, done = section(job, "spec"), number(section(job, "status"), "succeeded")
    if "completions" in spec:
        return f"{done}/{spec['completions']}"
    parallel = number(spec, "parallelism")
    return f"{done}/1 of {parallel}" if parallel > 1 else f"{done}/1"


def _job_status(job: JsonObject, _now: datetime) -> Cell:
    status = section(job, "status")
    for condition, shown in (("Complete", "Complete"), ("Failed", "Failed")):
        if find_condition(status, condition).get("status") == "True":
            return shown
    if "deletionTimestamp" in metadata(job):
        return "Terminating"
    for condition, shown in (
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        if find_condition(status, condition).get("status") == "True":
            return shown
    return "Running"


def _duration(job: JsonObject, now: datetime) -> Cell:
    start = parse_time(text(job, "status.startTime"))
    if start is None:
        return ""
    end = parse_time(text(job, "status.completionTime")) or now
    return human_duration((end - start).total_seconds())


def _last_schedule(obj: JsonObject, now: datetime) -> Cell:
    stamp = text(obj, "status.lastScheduleTime")
    return since(stamp, now) if stamp else NONE


def _suspended(obj: JsonObject, _now: datetime) -> Cell:
    return "True" if section(obj, "spec").get("suspend") else "False"


def _active(obj: JsonObject, _now: datetime) -> Cell:
    return len(section(obj, "status").get("active") or ())


DEPLOYMENT: Sequence[Column] = (
    NAME,
    Column("Ready", _ready_of_desired),
    number_column("Up-to-date", count_at("status.updatedReplicas")),
    number_column("Available", count_at("status.availableReplicas")),
    AGE,
    *TEMPLATE,
    SELECTOR,
)
REPLICA_SET: Sequence[Column] = (
    NAME,
    number_column("Desired", count_at("spec.replicas")),
    number_column("Current", count_at("status.replicas")),
    number_column("Ready", count_at("status.readyReplicas")),
    AGE,
    *TEMPLATE,
    SELECTOR,
)
DAEMON_SET: Sequence[Column] = (
    NAME,
    number_column("Desired", count_at("status.desiredNumberScheduled")),
    number_column("Current", count_at("status.currentNumberScheduled")),
    number_column("Ready", count_at("status.numberReady")),
    number_column("Up-to-date", count_at("status.updatedNumberScheduled")),
    number_column("Available", count_at("status.numberAvailable")),
    Column("Node Selector", _node_selector),
    AGE,
    *TEMPLATE,
    SELECTOR,
)
STATEFUL_SET: Sequence[Column] = (NAME, Column("Ready", _ready_of_desired), AGE, *TEMPLATE)
JOB: Sequence[Column] = (
    NAME,
    Column("Status", _job_status),
    Column("Completions", _completions),
    Column("Duration", _duration),
    AGE,
    *TEMPLATE,
    SELECTOR,
)
CRON_JOB: Sequence[Column] = (
    NAME,
    Column("Schedule", at("spec.schedule")),
    Column("Timezone", at("spec.timeZone", absent=NONE)),
    Column("Suspend", _suspended),
    number_column("Active", _active),
    Column("Last Schedule", _last_schedule),
    AGE,
    *TEMPLATE,
)
