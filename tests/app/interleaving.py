"""Letting a whole other invocation run in the middle of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from tests.app.wired import CallKind

T = TypeVar("T")


@dataclass
class Interleaver:
    """A probe: the other runs whole before, or after, the call of this number; `seen` counts the calls."""

    at: int
    other: Callable[[], object]
    after: bool
    seen: int = 0

    def around(self, label: str, kind: CallKind, call: Callable[[], T]) -> T:
        self.seen += 1
        mine = self.seen == self.at
        if mine and not self.after:
            self.other()
        result = call()
        if mine and self.after:
            self.other()
        return result
