"""All flags there are, found by name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from pydantic.fields import FieldInfo

from exoscaler.settings.fields import Section
from exoscaler.settings.flag import About, Flag, Status, flag_of_field, variable_of
from exoscaler.settings.kinds import INT, LOG_FORMAT, TEXTS, Kind
from exoscaler.settings.refused import refused_flags
from exoscaler.settings.values import SECTIONS
from exoscaler.settings.without_effect import flags_without_effect

VERBOSE = 4
"""From this ``--v`` on, debug lines are logged."""


@cache
def flags() -> Mapping[str, Flag]:
    """Every flag by its name, in the order of the reference page."""
    known: dict[str, Flag] = {}
    for flag in (*_fields(), *_stand_ins(), *flags_without_effect(), *refused_flags()):
        if flag.name in known:
            raise AssertionError(f"the flag {flag.name} is described twice")
        known[flag.name] = flag
    return MappingProxyType(known)


def normal_name(written: str) -> str:
    """The flag's name as the catalogue has it: an underscore counts as a dash, as upstream."""
    return written.replace("_", "-")


def nearest(name: str) -> tuple[str, ...]:
    """Up to three names that look like this one, those that work first; none that would be refused."""
    offered = [flag.name for flag in flags().values() if flag.status is not Status.REFUSED]
    alike = difflib.get_close_matches(name, offered, n=6, cutoff=0.75)
    return tuple(sorted(alike, key=lambda found: flags()[found].status is not Status.WORKS)[:3])


def _fields() -> Iterable[Flag]:
    for section in SECTIONS:
        for field, info in section.model_fields.items():
            if field in section.__annotations__:
                yield _of_field(section, field, info)


def _of_field(section: type[Section], field: str, info: FieldInfo) -> Flag:
    name = flag_of_field(field)
    kind = next(extra for extra in info.metadata if isinstance(extra, Kind))
    about = next(extra for extra in info.metadata if isinstance(extra, About))
    return Flag(
        name=name,
        group=section.section,
        rule=about.rule,
        kind=kind,
        default=info.default,
        meaning=about.meaning,
        status=Status.ACCEPTED if about.not_yet else Status.WORKS,
        why=about.not_yet,
        field=field,
        variables=(variable_of(name), *about.variables),
        unit=about.unit,
    )


def _stand_ins() -> Iterable[Flag]:
    """Other names under which a setting may be written; see `exoscaler.settings.stand_ins`."""
    process, taints = "Process and cluster", "Taints of starting nodes"
    rows = (
        ("v", process, "F16", INT, 0, f"{VERBOSE} and more mean `--log-level=debug`, unless that is set itself."),
        ("logging-format", process, "F16", LOG_FORMAT, "", "Another name of `--log-format`."),
        ("ignore-taint", taints, "F119", TEXTS, (), "Deprecated name of `--startup-taint`; values of both count."),
    )
    for name, group, rule, kind, default, meaning in rows:
        yield Flag(
            name=name,
            group=group,
            rule=rule,
            kind=kind,
            default=default,
            meaning=meaning,
            status=Status.WORKS,
            variables=(variable_of(name),),
        )
