"""Rules of the kinds that keep pods."""

from __future__ import annotations

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.json_values import section
from exoscaler.sandbox.kubernetes.label_selectors import selector_of
from exoscaler.sandbox.kubernetes.validation.names import label_problems
from exoscaler.sandbox.kubernetes.validation.pods import pod_spec_problems
from exoscaler.sandbox.objects import JsonObject

_COUNTS = ("replicas", "minReadySeconds", "parallelism", "completions", "backoffLimit", "revisionHistoryLimit")
_MUTABLE_OF_STATEFUL_SET = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)
_JOB_RESTART = ("OnFailure", "Never")


def workload_problems(obj: JsonObject) -> list[FieldProblem]:
    """What is wrong with a Deployment, ReplicaSet, DaemonSet, StatefulSet or ReplicationController."""
    spec = section(obj, "spec")
    problems = _count_problems(spec)
    labels = section(section(section(spec, "template"), "metadata"), "labels")
    if obj["kind"] == "ReplicationController":
        matches = bool(spec.get("selector")) and spec["selector"].items() <= labels.items()
    else:
        selector = selector_of(section(spec, "selector"))
        matches = selector is not None and selector.matches(labels)
    if not spec.get("selector"):
        problems.append(FieldProblem.required("spec.selector"))
    elif not matches:
        note = "`selector` does not match template `labels`"
        problems.append(FieldProblem.invalid("spec.template.metadata.labels", labels, note))
    problems += _template_problems(spec, "spec.template", allowed=("Always",))
    return problems


def job_problems(obj: JsonObject) -> list[FieldProblem]:
    """What is wrong with a Job."""
    spec = section(obj, "spec")
    return [*_count_problems(spec), *_template_problems(spec, "spec.template", allowed=_JOB_RESTART)]


def cron_job_problems(obj: JsonObject) -> list[FieldProblem]:
    """What is wrong with a CronJob."""
    spec = section(obj, "spec")
    problems = [] if spec.get("schedule") else [FieldProblem.required("spec.schedule")]
    template = section(section(spec, "jobTemplate"), "spec")
    return problems + _template_problems(template, "spec.jobTemplate.spec.template", allowed=_JOB_RESTART)


def selector_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """The selector of a workload never changes."""
    return _frozen(old, new, "selector")


def job_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """What cannot change in a Job: which pods it has, and how many it needs."""
    problems = _frozen(old, new, "selector")
    if not section(old, "spec").get("suspend"):
        problems += _frozen(old, new, "template")
    if section(new, "spec").get("completionMode") != "Indexed":
        problems += _frozen(old, new, "completions")
    return problems + _frozen(old, new, "completionMode")


def stateful_set_change_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """Most of a StatefulSet cannot change."""
    before, after = section(old, "spec"), section(new, "spec")
    changed = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    if set(changed) <= set(_MUTABLE_OF_STATEFUL_SET):
        return []
    names = ", ".join(f"'{name}'" for name in _MUTABLE_OF_STATEFUL_SET)
    return [FieldProblem.forbidden("spec", f"updates to statefulset spec for fields other than {names} are forbidden")]


def _frozen(old: JsonObject, new: JsonObject, name: str) -> list[FieldProblem]:
    before, after = section(old, "spec").get(name), section(new, "spec").get(name)
    return [] if before == after else [FieldProblem.invalid(f"spec.{name}", after, "field is immutable")]


def _count_problems(spec: JsonObject) -> list[FieldProblem]:
    problems: list[FieldProblem] = []
    for name in _COUNTS:
        value = spec.get(name)
        if isinstance(value, int) and value < 0:
            problems.append(FieldProblem.invalid(f"spec.{name}", value, "must be greater than or equal to 0"))
        elif value is not None and not isinstance(value, int):
            problems.append(FieldProblem.invalid(f"spec.{name}", value, "must be an integer"))
    return problems


def _template_problems(spec: JsonObject, field: str, *, allowed: tuple[str, ...]) -> list[FieldProblem]:
    template = section(spec, "template")
    if not template:
        return [FieldProblem.required(field)]
    problems = label_problems(section(section(template, "metadata"), "labels"), f"{field}.metadata.labels")
    pod_spec = section(template, "spec")
    problems += pod_spec_problems(pod_spec, f"{field}.spec")
    policy = pod_spec.get("restartPolicy")
    if pod_spec and policy not in allowed:
        problems.append(FieldProblem.unsupported(f"{field}.spec.restartPolicy", policy, allowed))
    return problems
