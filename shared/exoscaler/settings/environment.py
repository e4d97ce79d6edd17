"""Environment variables: the only module that looks at those of the process.

Every flag has a variable, ``EXOSCALER_`` and its name in capitals; a few have a second one with a fixed name. Lists
are separated by commas or by line ends; a list with a line end in it is separated by line ends alone, so that its
values may contain commas. A blank variable counts as not set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from types import MappingProxyType

from exoscaler.settings.catalogue import flags, nearest, normal_name
from exoscaler.settings.flag import VARIABLE_PREFIX, Flag
from exoscaler.settings.kinds import Gathers
from exoscaler.settings.origin import FLAGS_VARIABLE, Origin, Source
from exoscaler.settings.reading import Reading
from exoscaler.settings.report import Report

_OTHERS = frozenset({FLAGS_VARIABLE, "EXOSCALER_TEST_KUBECONFIG"})
# Kubernetes describes the Services of a namespace in the environment of its pods; one may be called exoscaler-web.
_OF_A_SERVICE = re.compile(
    r"EXOSCALER(_[A-Z0-9_]+)?_(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


def process_environment() -> Mapping[str, str]:
    """The environment of this process, as it is now."""
    return MappingProxyType(dict(os.environ))


def read_environment(environ: Mapping[str, str], report: Report) -> Reading:
    """Read every flag that a variable sets, and point at variables of ours that set none."""
    reading = Reading(report)
    for flag in flags().values():
        set_ones = [variable for variable in flag.variables if environ.get(variable, "").strip()]
        for variable in set_ones[:1]:
            origin = Origin(Source.ENVIRONMENT, variable)
            for text in _values(flag, environ[variable]):
                reading.add(flag, text, origin)
        for variable in set_ones[1:]:
            if environ[variable].strip() != environ[set_ones[0]].strip():
                report.warning(variable, f"does not count, since {set_ones[0]} is set")
    _point_at_unknown(environ, report)
    return reading


def _values(flag: Flag, text: str) -> list[str]:
    gathers = flag.kind.gathers if flag.kind else Gathers.LAST
    if gathers is Gathers.LAST:
        return [text.strip()]
    if gathers is Gathers.WHOLE:
        return [",".join(_listed(text))]
    return _listed(text)


def _listed(text: str) -> list[str]:
    separated = text.splitlines() if "\n" in text else text.split(",")
    return [value.strip() for value in separated if value.strip()]


def _point_at_unknown(environ: Mapping[str, str], report: Report) -> None:
    known = {variable for flag in flags().values() for variable in flag.variables} | _OTHERS
    for variable in sorted(environ):
        if not variable.startswith(VARIABLE_PREFIX) or variable in known or _OF_A_SERVICE.fullmatch(variable):
            continue
        alike = nearest(normal_name(variable.removeprefix(VARIABLE_PREFIX).lower()))
        meant = [name for found in alike for name in flags()[found].variables[:1]]
        hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
        report.warning(variable, f"sets nothing: there is no such setting{hint}")
