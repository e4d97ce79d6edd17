"""Rules of pods and pod templates."""

from __future__ import annotations

from fractions import Fraction

from exoscaler.sandbox.kubernetes.failures import FieldProblem
from exoscaler.sandbox.kubernetes.json_values import clone, entries, section
from exoscaler.sandbox.kubernetes.quantities import parse_quantity
from exoscaler.sandbox.kubernetes.validation.names import is_dns_label, is_qualified, label_problems
from exoscaler.sandbox.objects import JsonObject

_RESTART = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_OPERATORS = ("Equal", "Exists")
_HIGHEST_PORT = 65_535
_MUTABLE_NOTE = (
    "pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, "
    "`spec.activeDeadlineSeconds`, `spec.tolerations` (only additions), "
    "`spec.terminationGracePeriodSeconds` (1 if it was negative)"
)


def pod_spec_problems(spec: JsonObject, field: str) -> list[FieldProblem]:
    """What is wrong with a pod's spec, or a template's; `field` is where it is."""
    problems: list[FieldProblem] = []
    if not entries(spec, "containers"):
        problems.append(FieldProblem.required(f"{field}.containers"))
    volumes = [volume.get("name", "") for volume in entries(spec, "volumes")]
    problems += _unique(volumes, f"{field}.volumes[{{}}].name")
    names: list[str] = []
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(entries(spec, kind)):
            place = f"{field}.{kind}[{index}]"
            problems += _container_problems(container, place, set(volumes))
            if container.get("name") in names:
                problems.append(FieldProblem.duplicate(f"{place}.name", container["name"]))
            names.append(container.get("name", ""))
    for name, allowed in (("restartPolicy", _RESTART), ("dnsPolicy", _DNS)):
        if spec.get(name) not in allowed:
            problems.append(FieldProblem.unsupported(f"{field}.{name}", spec.get(name), allowed))
    problems += label_problems(section(spec, "nodeSelector"), f"{field}.nodeSelector")
    for index, toleration in enumerate(entries(spec, "tolerations")):
        problems += _toleration_problems(toleration, f"{field}.tolerations[{index}]")
    return problems


def pod_update_problems(old: JsonObject, new: JsonObject) -> list[FieldProblem]:
    """What an update changes in a pod that cannot change."""
    before, after = _frozen_part(old), _frozen_part(new)
    if before == after and _tolerations_only_added(old, new):
        return []
    return [FieldProblem.forbidden("spec", _MUTABLE_NOTE)]


def _frozen_part(pod: JsonObject) -> JsonObject:
    spec = section(pod, "spec")
    frozen = {name: value for name, value in spec.items() if name not in ("tolerations", "activeDeadlineSeconds")}
    for kind in ("containers", "initContainers"):
        if kind in frozen:
            frozen[kind] = [
                {name: value for name, value in container.items() if name != "image"}
                for container in entries(spec, kind)
            ]
    grace = frozen.get("terminationGracePeriodSeconds", 0)
    if isinstance(grace, int) and grace < 0:
        frozen["terminationGracePeriodSeconds"] = 1
    frozen.pop("schedulingGates", None)
    return clone(frozen)


def _tolerations_only_added(old: JsonObject, new: JsonObject) -> bool:
    def identities(pod: JsonObject) -> set[tuple[str, ...]]:
        return {
            tuple(str(toleration.get(part, "")) for part in ("key", "operator", "value", "effect"))
            for toleration in entries(section(pod, "spec"), "tolerations")
        }

    return identities(old) <= identities(new) and _gates_only_removed(old, new)


def _gates_only_removed(old: JsonObject, new: JsonObject) -> bool:
    before, after = (
        {gate.get("name") for gate in entries(section(pod, "spec"), "schedulingGates")} for pod in (old, new)
    )
    return after <= before


def _container_problems(container: JsonObject, field: str, volumes: set[str]) -> list[FieldProblem]:
    problems: list[FieldProblem] = []
    name = container.get("name", "")
    if not name:
        problems.append(FieldProblem.required(f"{field}.name"))
    elif not is_dns_label(str(name)):
        problems.append(FieldProblem.invalid(f"{field}.name", name, "must be a lowercase RFC 1123 label"))
    if not container.get("image"):
        problems.append(FieldProblem.required(f"{field}.image"))
    problems += _budget_problems(section(container, "resources"), f"{field}.resources")
    for index, port in enumerate(entries(container, "ports")):
        value = port.get("containerPort")
        if not isinstance(value, int) or not 0 < value <= _HIGHEST_PORT:
            problems.append(
                FieldProblem.invalid(f"{field}.ports[{index}].containerPort", value, "must be between 1 and 65535")
            )
    for index, mount in enumerate(entries(container, "volumeMounts")):
        if mount.get("name") not in volumes:
            problems.append(FieldProblem("FieldValueNotFound", f"{field}.volumeMounts[{index}].name", _missing(mount)))
    return problems


def _missing(mount: JsonObject) -> str:
    return f'Not found: "{mount.get("name", "")}"'


def _budget_problems(budget: JsonObject, field: str) -> list[FieldProblem]:
    problems: list[FieldProblem] = []
    amounts: dict[tuple[str, str], Fraction] = {}
    for kind in ("requests", "limits"):
        for name, value in section(budget, kind).items():
            amount = parse_quantity(value)
            place = f"{field}.{kind}[{name}]"
            if amount is None:
                problems.append(FieldProblem.invalid(place, value, "must be a quantity such as 500m or 2Gi"))
            elif amount < 0:
                problems.append(FieldProblem.invalid(place, value, "must be greater than or equal to 0"))
            else:
                amounts[kind, name] = amount
    for (kind, name), amount in amounts.items():
        if kind == "requests" and amount > amounts.get(("limits", name), amount):
            note = f"must be less than or equal to {name} limit of {budget['limits'][name]}"
            problems.append(FieldProblem.invalid(f"{field}.requests", budget["requests"][name], note))
    return problems


def _toleration_problems(toleration: JsonObject, field: str) -> list[FieldProblem]:
    problems: list[FieldProblem] = []
    key, operator = toleration.get("key", ""), toleration.get("operator", "") or "Equal"
    if key and not is_qualified(str(key)):
        problems.append(FieldProblem.invalid(f"{field}.key", key, "must be a qualified name"))
    if operator not in _OPERATORS:
        problems.append(FieldProblem.unsupported(f"{field}.operator", operator, _OPERATORS))
    if not key and operator != "Exists":
        note = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        problems.append(FieldProblem.invalid(f"{field}.operator", operator, note))
    if toleration.get("effect", "") not in ("", *_EFFECTS):
        problems.append(FieldProblem.unsupported(f"{field}.effect", toleration["effect"], _EFFECTS))
    return problems


def _unique(names: list[str], place: str) -> list[FieldProblem]:
    return [
        FieldProblem.duplicate(place.format(index), name) for index, name in enumerate(names) if name in names[:index]
    ]
