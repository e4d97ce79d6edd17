"""Where a value comes from, and how a message points at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum

FLAGS_VARIABLE = "EXOSCALER_FLAGS"


class Source(StrEnum):
    """The places that settings come from, the strongest first."""

    COMMAND_LINE = "command line"
    FLAGS_VARIABLE = FLAGS_VARIABLE
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where one value was written.

    Attributes:
        source: the kind of place.
        name: the flag, variable or key as written there.
        place: for a file its path and line.
    """

    source: Source
    name: str
    place: str = ""

    def __str__(self) -> str:
        match self.source:
            case Source.COMMAND_LINE | Source.DEFAULT:
                return f"--{self.name}"
            case Source.FLAGS_VARIABLE:
                return f"--{self.name} (in {FLAGS_VARIABLE})"
            case Source.ENVIRONMENT:
                return self.name
            case Source.FILE:
                return f"{self.name} ({self.place})"

    def written(self, text: str) -> str:
        """The value as it was written there: ``--scan-interval=10``, ``EXOSCALER_V=4``, ``nodes: 1:5:a (…)``."""
        value = quoted(text)
        match self.source:
            case Source.COMMAND_LINE | Source.DEFAULT:
                return f"--{self.name}={value}"
            case Source.FLAGS_VARIABLE:
                return f"--{self.name}={value} (in {FLAGS_VARIABLE})"
            case Source.ENVIRONMENT:
                return f"{self.name}={value}"
            case Source.FILE:
                return f"{self.name}: {value} ({self.place})"


_LONGEST_VALUE = 200


def quoted(text: str) -> str:
    """The text as it can stand in a sentence: cut when very long, in quotation marks when it could be misread."""
    shown = text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
    return shown if shown and shown.isprintable() and " " not in shown else json.dumps(shown, ensure_ascii=False)
