"""Calls of one reading: failures as values, a few calls side by side, and whether anything was allowed at all."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from types import TracebackType
from typing import Self, TypeVar

from exoscaler.errors import Denied, RemoteError

T = TypeVar("T")

PARALLEL = 4
"""Calls at the same time, so that one that hangs does not use up the time of the others."""


class Attempts:
    """Makes the calls of one reading; to be used as a context manager."""

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(max_workers=PARALLEL, thread_name_prefix="exoscale")
        self._refusal: Denied | None = None
        self._allowed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(cancel_futures=True)

    @property
    def refusal(self) -> Denied | None:
        """The first refusal, when every call so far was refused for lack of permission."""
        return None if self._allowed else self._refusal

    def call(self, function: Callable[[], T]) -> T | RemoteError:
        """The call's result, or how it failed."""
        return self._noted(_attempt(function))

    def begin(self, function: Callable[[], T]) -> Future[T | RemoteError]:
        """Starts a call beside others; the caller's context goes with it."""
        context = copy_context()
        return self._executor.submit(lambda: context.run(_attempt, function))

    def end(self, begun: Future[T | RemoteError]) -> T | RemoteError:
        """Waits for a call that was begun: its result, or how it failed."""
        return self._noted(begun.result())

    def _noted(self, result: T | RemoteError) -> T | RemoteError:
        if isinstance(result, Denied):
            self._refusal = self._refusal or result
        else:
            self._allowed = True
        return result


def _attempt(function: Callable[[], T]) -> T | RemoteError:
    try:
        return function()
    except RemoteError as error:
        return error
