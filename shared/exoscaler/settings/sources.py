"""Which source says what about each flag: the strongest that mentions it counts.

The order is command line, ``EXOSCALER_FLAGS``, environment, file. Lists are not mixed: the values of a list come from
one source.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exoscaler.settings.catalogue import flags
from exoscaler.settings.command_line import read_command_line, read_flags_variable
from exoscaler.settings.config_file import read_config_file
from exoscaler.settings.environment import read_environment
from exoscaler.settings.kinds import Gathers
from exoscaler.settings.origin import Source
from exoscaler.settings.reading import Given, Reading
from exoscaler.settings.report import Report

_CONFIG = "config"


def read_sources(argv: Sequence[str], environ: Mapping[str, str], report: Report) -> Mapping[str, tuple[Given, ...]]:
    """Every flag that is mentioned anywhere, with the occurrences that count, in the order written."""
    readings = [
        read_command_line(argv, Source.COMMAND_LINE, report),
        read_flags_variable(environ, report),
        read_environment(environ, report),
    ]
    if config := _strongest(_CONFIG, readings):
        readings.append(read_config_file(config[-1].text, report))
    mentioned = dict.fromkeys(name for reading in readings for name in reading)
    return {name: _counting(name, _strongest(name, readings), report) for name in mentioned}


def _strongest(name: str, readings: Sequence[Reading]) -> tuple[Given, ...]:
    return next((reading.of(name) for reading in readings if name in reading), ())


def _counting(name: str, given: tuple[Given, ...], report: Report) -> tuple[Given, ...]:
    kind = flags()[name].kind
    if kind is not None and kind.gathers in (Gathers.EACH, Gathers.COMMAS):
        return given
    last = given[-1]
    for earlier in given[:-1]:
        if earlier.text != last.text:
            report.warning(
                earlier.origin, f"does not count, since {report.written(last.origin, last.text)} follows", earlier.text
            )
    return (last,)
