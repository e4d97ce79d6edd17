"""Command lines, as Go's flag library reads them, from the process or from ``EXOSCALER_FLAGS``.

``--name=value``, ``--name value`` and for booleans ``--name`` alone; ``_`` counts as ``-``; ``-v=4``, ``-v 4`` and
``-v4`` for the one flag with a short form; ``--`` ends the flags. There are no arguments besides flags.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from exoscaler.settings.flag import Flag
from exoscaler.settings.kinds import BOOL
from exoscaler.settings.origin import FLAGS_VARIABLE, Origin, Source
from exoscaler.settings.reading import Reading
from exoscaler.settings.report import Report

_SHORT = re.compile(r"-([a-z])(=?)(.*)", re.DOTALL)
_PROGRAM = "cluster-autoscaler"


def read_command_line(arguments: Sequence[str], source: Source, report: Report) -> Reading:
    """Read the arguments, without the program's name."""
    return _Parser(arguments, source, report).read()


def read_flags_variable(environ: Mapping[str, str], report: Report) -> Reading:
    """Read ``EXOSCALER_FLAGS``: a command line, on one line or on many, quoted as for a shell.

    A line may begin with ``- ``, as in a list of a manifest; lines beginning with ``#`` are comments; the name of the
    upstream program in front is skipped.
    """
    arguments: list[str] = []
    for number, line in enumerate(environ.get(FLAGS_VARIABLE, "").replace("\\\n", " ").splitlines(), start=1):
        text = line.strip().removeprefix("- ")
        if not text or text.startswith("#"):
            continue
        try:
            arguments += shlex.split(text)
        except ValueError:
            report.mistake(FLAGS_VARIABLE, f"a quotation mark on line {number} is never closed")
    if arguments and PurePath(arguments[0]).name == _PROGRAM:
        del arguments[0]
    return read_command_line(arguments, Source.FLAGS_VARIABLE, report)


class _Parser:
    def __init__(self, arguments: Sequence[str], source: Source, report: Report) -> None:
        self._rest = list(arguments)
        self._source = source
        self._report = report
        self._reading = Reading(report)

    def read(self) -> Reading:
        while self._rest:
            argument = self._rest.pop(0)
            if argument == "--":
                self._refuse_arguments()
            elif argument.startswith("--"):
                self._long(argument[2:])
            elif argument.startswith("-") and argument != "-":
                self._short(argument)
            else:
                self._refuse_argument(argument)
        return self._reading

    def _long(self, body: str) -> None:
        written, equals, text = body.partition("=")
        origin = Origin(self._source, written)
        flag = self._reading.find(written, origin)
        if flag is None:
            self._skip_value(equals)
        elif equals:
            self._reading.add(flag, text, origin)
        else:
            self._without_equals(flag, origin)

    def _short(self, argument: str) -> None:
        match = _SHORT.fullmatch(argument)
        flag = self._reading.find(match[1], Origin(self._source, match[1])) if match and match[1] == "v" else None
        if match is None or flag is None:
            name = argument[1:].partition("=")[0]
            self._report.mistake(self._place(f"-{name}"), f"flags have two dashes; write --{name}")
            self._skip_value("=" if "=" in argument else "")
        elif match[2] or match[3]:
            self._reading.add(flag, match[3], Origin(self._source, flag.name))
        else:
            self._without_equals(flag, Origin(self._source, flag.name))

    def _skip_value(self, equals: str) -> None:
        """Pass over what seems to be the value of a flag that is none. It may be a secret: neither read nor shown."""
        if not equals and self._rest and not self._rest[0].startswith("-"):
            self._rest.pop(0)

    def _without_equals(self, flag: Flag, origin: Origin) -> None:
        if flag.kind is BOOL:
            if self._rest and self._rest[0] in ("true", "false"):
                value = self._rest.pop(0)
                self._report.mistake(
                    origin, f"a boolean takes its value after an equals sign; write --{flag.name}={value}"
                )
                return
            self._reading.add(flag, "true", origin)
        elif self._rest and not self._rest[0].startswith("--"):
            self._reading.add(flag, self._rest.pop(0), origin)
        elif flag.kind is None:
            self._reading.add(flag, "", origin)
        else:
            self._report.mistake(origin, f"has no value; write --{flag.name}=value")

    def _refuse_arguments(self) -> None:
        while self._rest:
            self._refuse_argument(self._rest.pop(0))

    def _refuse_argument(self, argument: str) -> None:
        self._report.mistake(
            self._place(self._report.quoted(argument)), "is not a flag; flags begin with --, a value follows its flag"
        )

    def _place(self, shown: str) -> str:
        return f"{shown} (in {FLAGS_VARIABLE})" if self._source is Source.FLAGS_VARIABLE else shown
