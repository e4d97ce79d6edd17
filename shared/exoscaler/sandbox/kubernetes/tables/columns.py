"""The columns of a table, and the cells that many tables share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from exoscaler.sandbox.kubernetes.json_values import entries, section, text
from exoscaler.sandbox.kubernetes.object_metadata import parse_time
from exoscaler.sandbox.objects import JsonObject

Cell: TypeAlias = str | int | bool
Reader: TypeAlias = Callable[[JsonObject, datetime], Cell]

NONE = "<none>"
UNKNOWN = "<unknown>"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `wide` ones show with ``-o wide`` only."""

    name: str
    read: Reader
    wide: bool = False
    type: str = "string"

    def to_json(self) -> JsonObject:
        """The column's definition on the wire."""
        return {
            "name": self.name,
            "type": self.type,
            "format": "name" if self.name == "Name" else "",
            "description": "",
            "priority": 1 if self.wide else 0,
        }


def at(path: str, *, absent: str = "") -> Reader:
    """Reads the text at a dotted path."""
    return lambda obj, _now: text(obj, path) or absent


def count_at(path: str) -> Reader:
    """Reads the number at a dotted path, 0 when it is absent."""
    return lambda obj, _now: int(text(obj, path) or 0)


def size_of(*parts: str) -> Reader:
    """Counts the entries of the parts of an object together."""
    return lambda obj, _now: sum(len(obj.get(part) or ()) for part in parts)


def number_column(name: str, read: Reader, *, wide: bool = False) -> Column:
    """A column of integers."""
    return Column(name, read, wide=wide, type="integer")


def human_duration(seconds: float) -> str:
    """A span of time in at most two units, as kubectl shows ages: ``75s``, ``3m12s``, ``5d``."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    whole = max(whole, 0)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86_400
    years = days // 365
    steps = (
        (whole < 120, (whole, "s", 0, "")),
        (minutes < 10, (minutes, "m", whole % 60, "s")),
        (minutes < 180, (minutes, "m", 0, "")),
        (hours < 8, (hours, "h", minutes % 60, "m")),
        (hours < 48, (hours, "h", 0, "")),
        (days < 8, (days, "d", hours % 24, "h")),
        (days < 730, (days, "d", 0, "")),
        (years < 8, (years, "y", days % 365, "d")),
    )
    large, unit, small, small_unit = next((shown for fits, shown in steps if fits), (years, "y", 0, ""))
    return f"{large}{unit}{small}{small_unit}" if small else f"{large}{unit}"


def since(stamp: str, now: datetime) -> str:
    """How long ago a time stamp is."""
    moment = parse_time(stamp)
    return human_duration((now - moment).total_seconds()) if moment else UNKNOWN


def age(obj: JsonObject, now: datetime) -> Cell:
    """How long the object exists."""
    return since(text(obj, "metadata.creationTimestamp"), now)


def joined(labels: Mapping[str, object]) -> str:
    """Labels as ``a=b,c=d``, or none."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def selector_text(selector: JsonObject) -> str:
    """A `LabelSelector` as a query writes it, or none."""
    terms = [f"{key}={value}" for key, value in sorted(section(selector, "matchLabels").items())]
    for expression in entries(selector, "matchExpressions"):
        key, operator = expression.get("key", ""), expression.get("operator", "")
        values = ",".join(expression.get("values") or ())
        shown = {"Exists": key, "DoesNotExist": f"!{key}"}
        terms.append(shown.get(operator, f"{key} {operator.lower()} ({values})"))
    return ",".join(terms) or NONE


def _template_values(name: str) -> Reader:
    def read(obj: JsonObject, _now: datetime) -> Cell:
        spec = section(obj, "spec")
        template = section(spec, "template") or section(section(section(spec, "jobTemplate"), "spec"), "template")
        containers = entries(section(template, "spec"), "containers")
        return ",".join(str(container.get(name, "")) for container in containers)

    return read


def _selector(obj: JsonObject, _now: datetime) -> Cell:
    spec = section(obj, "spec")
    selector = section(spec, "selector")
    return joined(selector) if obj.get("kind") == "ReplicationController" else selector_text(selector)


NAME = Column("Name", at("metadata.name"))
AGE = Column("Age", age)
TEMPLATE: Sequence[Column] = (
    Column("Containers", _template_values("name"), wide=True),
    Column("Images", _template_values("image"), wide=True),
)
SELECTOR = Column("Selector", _selector, wide=True)
