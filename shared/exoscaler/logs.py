"""Structured logs: one line per event, facts as keywords, secrets never.

``log = logs.get("exoscaler.app.evaluate")`` and then ``log.info("evaluation finished", node_group="pool-a", pods=3)``:
the event is a constant sentence, everything that varies is a fact. Facts that occur all over keep one name:
``node_group``, ``node``, ``pod``, ``operation_id``, ``decision_id``, ``function``, ``duration_seconds``.

Until `configure` has run, logging behaves as the standard library has it. The functions' server leaves the root logger
at WARNING without a handler, so `configure` gives the ``exoscaler`` logger a handler of its own.
Only the standard library is imported here, and of that nothing that reads a clock or the environment.
"""

from __future__ import annotations

import base64
import json
import logging
import math
import sys
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TextIO

Fact = str | int | float | bool | None
"""What a log line may tell of one thing; callers turn durations, times and lists into these."""

ROOT = "exoscaler"

LIBRARIES = ("httpx", "httpcore", "urllib3", "kubernetes", "asyncio", "py.warnings")
"""Loggers of libraries whose warnings belong in the same stream, in the same form, with the same redaction."""

REDACTED = "***"

SHORTEST_SECRET = 4
"""Shorter values are not redacted: replacing them would only garble every line, and no credential is that short."""

_FACTS = "exoscaler_facts"
_RESERVED = frozenset({"time", "level", "logger", "event", "exception"})


class LogLevel(StrEnum):
    """How much is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(StrEnum):
    """How a line looks."""

    JSON = "json"
    TEXT = "text"


class Redactor:
    """Replaces known secret values in any text by ``***``, also where they are quoted, escaped or encoded.

    White space around a secret is no part of it. Values shorter than `SHORTEST_SECRET` are left alone.
    """

    __slots__ = ("_spellings",)

    def __init__(self, secrets: Collection[str]) -> None:
        spellings = {
            spelling
            for secret in secrets
            for value in (secret, secret.strip())
            if len(value.strip()) >= SHORTEST_SECRET
            for spelling in _spellings(value)
        }
        # The longest first: an escaped spelling may contain the plain one, and half a replacement would leave the rest.
        self._spellings = tuple(sorted(spellings, key=lambda spelling: (-len(spelling), spelling)))

    def __call__(self, text: str) -> str:
        """The text without any of the secrets."""
        for spelling in self._spellings:
            text = text.replace(spelling, REDACTED)
        return text

    def __repr__(self) -> str:
        return f"Redactor({len(self._spellings)} spellings)"


def _spellings(value: str) -> set[str]:
    utf8 = value.encode("utf-8", "surrogatepass")
    percent = "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"-._~" else f"%{byte:02X}" for byte in utf8
    )
    return {
        value,
        repr(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        percent,
        base64.b64encode(utf8).decode("ascii").rstrip("="),
    }


class Log:
    """A logger that takes facts as keywords. Made by `get`; `bind` adds facts to every line."""

    __slots__ = ("_facts", "_logger")

    def __init__(self, logger: logging.Logger, facts: Mapping[str, Fact] | None = None) -> None:
        self._logger = logger
        self._facts: dict[str, Fact] = dict(facts or {})

    def bind(self, **facts: Fact) -> Log:
        """The same logger, with these facts on every line."""
        return Log(self._logger, {**self._facts, **facts})

    def debug(self, event: str, /, **facts: Fact) -> None:
        """What only helps when looking for a fault."""
        self._write(logging.DEBUG, event, facts, None)

    def info(self, event: str, /, **facts: Fact) -> None:
        """What an operator wants to read back later."""
        self._write(logging.INFO, event, facts, None)

    def warning(self, event: str, /, error: BaseException | None = None, **facts: Fact) -> None:
        """What goes on working, but somebody should look at it. `error` adds its traceback."""
        self._write(logging.WARNING, event, facts, error)

    def error(self, event: str, /, error: BaseException | None = None, **facts: Fact) -> None:
        """What did not work. `error` adds its traceback."""
        self._write(logging.ERROR, event, facts, error)

    def _write(self, level: int, event: str, facts: Mapping[str, Fact], error: BaseException | None) -> None:
        if self._logger.isEnabledFor(level):
            self._logger.log(level, event, exc_info=error, extra={_FACTS: {**self._facts, **facts}}, stacklevel=3)


def get(name: str) -> Log:
    """The log of a module; `name` begins with ``exoscaler``, so that `configure` reaches it."""
    return Log(logging.getLogger(name))


def configure(
    level: LogLevel, log_format: LogFormat, secrets: Collection[str] = (), *, stream: TextIO | None = None
) -> None:
    """Write exoscaler's logs, and the warnings of its libraries, to the stream (standard error).

    Calling it again replaces what it set before. Nothing is handed on to the root logger, so a root handler that
    somebody else installs does not write each line twice. Libraries never write below WARNING: their debug lines
    hold request and response bodies.
    """
    handler = _Handler(stream if stream is not None else sys.stderr)
    handler.setFormatter(
        _JsonFormatter(Redactor(secrets)) if log_format is LogFormat.JSON else _TextFormatter(Redactor(secrets))
    )
    for name in (ROOT, *LIBRARIES):
        logger = logging.getLogger(name)
        for old in [present for present in logger.handlers if isinstance(present, _Handler)]:
            logger.removeHandler(old)
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(level.upper() if name == ROOT else logging.WARNING)


class _Handler(logging.StreamHandler[TextIO]):
    """Marks what `configure` installed, so that it replaces its own handler and nobody else's."""


def _redacted_facts(record: logging.LogRecord, redact: Redactor) -> dict[str, Fact]:
    found: object = getattr(record, _FACTS, None)
    if not isinstance(found, dict):
        return {}
    facts: dict[str, Fact] = {}
    for key, value in found.items():
        name = f"{key}_" if key in _RESERVED else str(key)
        facts[name] = _plain(value, redact)
    return facts


def _plain(value: object, redact: Redactor) -> Fact:
    """The value as JSON can hold it. A type that should not be here is shown as text rather than losing the line."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int | float):
        shown = str(value)
        return value if redact(shown) == shown else REDACTED
    return redact(str(value))


def _moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _RedactingFormatter(logging.Formatter):
    def __init__(self, redact: Redactor) -> None:
        super().__init__()
        self._redact = redact

    def _event(self, record: logging.LogRecord) -> str:
        try:
            message = record.getMessage()
        except (TypeError, ValueError, KeyError):  # a library's placeholders do not match: better unfilled than lost
            message = str(record.msg)
        return self._redact(message)

    def _exception(self, record: logging.LogRecord) -> str:
        if not record.exc_info:
            return ""
        return self._redact(self.formatException(record.exc_info))


class _JsonFormatter(_RedactingFormatter):
    """One JSON object a line, in ASCII so that no stream's encoding can break it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Fact] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": self._event(record),
            **_redacted_facts(record, self._redact),
        }
        if exception := self._exception(record):
            line["exception"] = exception
        return json.dumps(line, allow_nan=False)


class _TextFormatter(_RedactingFormatter):
    """A line for people: time, level, event, then facts as ``key=value``; a traceback follows on its own lines."""

    def format(self, record: logging.LogRecord) -> str:
        clock = _moment(record)[len("2026-01-01T") : -1]
        event = _one_line(self._event(record))
        facts = "".join(f"  {key}={_word(value)}" for key, value in _redacted_facts(record, self._redact).items())
        exception = self._exception(record)
        return f"{clock} {record.levelname:<7} {event}{facts}" + (f"\n{exception}" if exception else "")


def _word(value: Fact) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    plain = value.isprintable() and value and not set(value) & set(' ="')
    return value if plain else json.dumps(value)


def _one_line(text: str) -> str:
    return text if text.isprintable() else json.dumps(text)[1:-1]
