"""Gathers everything that is wrong with the settings, and everything worth a warning, without ever telling a secret."""

from __future__ import annotations

import re

from exoscaler.logs import REDACTED, Redactor
from exoscaler.settings.origin import Origin, quoted

# What stands before the last @ of an address: a user name and, worse, a password.
_USER_INFO = re.compile(r"(?<=//)\S*@")


class Report:
    """Collects mistakes and warnings as sentences that begin with the place and the value.

    Secrets are replaced in a value before it is quoted or cut, and once more in the finished sentence.
    """

    def __init__(self, redact: Redactor) -> None:
        self._redact = redact
        self._mistakes: list[str] = []
        self._warnings: list[str] = []

    @property
    def mistakes(self) -> tuple[str, ...]:
        """What prevents the start, each sentence once, in the order found."""
        return tuple(dict.fromkeys(self._mistakes))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What somebody should know, each sentence once, in the order found."""
        return tuple(dict.fromkeys(self._warnings))

    def mistake(self, where: Origin | str, what: str, text: str | None = None) -> None:
        """Something is wrong; `text` is the value as written, when it may be shown."""
        self._mistakes.append(self._sentence(where, what, text))

    def warning(self, where: Origin | str, what: str, text: str | None = None) -> None:
        """Something is odd but works."""
        self._warnings.append(self._sentence(where, what, text))

    def written(self, origin: Origin, text: str) -> str:
        """The value with its place, fit to be shown."""
        return origin.written(self._safe(text))

    def quoted(self, text: str) -> str:
        """The text alone, fit to be shown."""
        return quoted(self._safe(text))

    def _safe(self, text: str) -> str:
        return _USER_INFO.sub(f"{REDACTED}@", self._redact(text))

    def _sentence(self, where: Origin | str, what: str, text: str | None) -> str:
        place = str(where) if text is None or isinstance(where, str) else self.written(where, text)
        return self._redact(f"{place}: {what}")
