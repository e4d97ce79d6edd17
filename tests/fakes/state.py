"""A state store in memory that behaves like the one in a ConfigMap: same versions, same conflicts, same bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable

from exoscaler.core.state import Payload, State, UnreadableState, decode, encode
from exoscaler.errors import ExoscalerError, StateConflict
from exoscaler.ports.state import Change, LoadedState, Version

ABSENT: Version = ""
UPDATE_ATTEMPTS = 8


class FakeStateStore:
    """Implements `exoscaler.ports.state.StateStore`. Thread-safe.

    What is stored went through the codec, so a state that could not be stored for real fails here, too.

    Attributes:
        before_commit: called just before a commit compares versions, and then forgotten; a test lets others write here.
        quarantined: payloads that were unreadable and put aside, each once.
        loads, commits: how often it was read, and successfully written.
    """

    def __init__(self, state: State | None = None) -> None:
        self._lock = threading.RLock()
        self._payload: Payload | None = None
        self._version = 0
        self._read_before: tuple[Payload | None, State] = (None, State())
        self._failures: list[ExoscalerError] = []
        self.before_commit: Callable[[], None] | None = None
        self.quarantined: list[Payload] = []
        self.loads = 0
        self.commits = 0
        if state is not None:
            self.put(encode(state))

    @property
    def payload(self) -> Payload | None:
        """What is stored now, as it is stored; None when nothing is."""
        return self._payload

    @property
    def state(self) -> State:
        """What is stored now, read without counting as a load."""
        return self._read(self._payload) if self._payload is not None else State()

    def _read(self, payload: Payload) -> State:
        """Read once what is looked at often: whole lives of a cluster are played on this store."""
        known, state = self._read_before
        if payload is not known:
            state = decode(payload)
            self._read_before = payload, state
        return state

    def put(self, payload: Payload | None) -> None:
        """Somebody writes past the store; None removes what is stored."""
        with self._lock:
            self._payload = payload
            self._version += 1

    def fail(self, *errors: ExoscalerError) -> None:
        """Let the next calls fail with these errors, one each, with nothing done."""
        self._failures.extend(errors)

    def load(self) -> LoadedState:
        with self._lock:
            self._fail_if_asked()
            self.loads += 1
            if self._payload is None:
                return LoadedState(State(), ABSENT)
            try:
                return LoadedState(self._read(self._payload), str(self._version))
            except UnreadableState:
                if self._payload not in self.quarantined:
                    self.quarantined.append(self._payload)
                return LoadedState(State(), str(self._version))

    def commit(self, state: State, version: Version) -> LoadedState:
        payload = encode(state)
        meanwhile, self.before_commit = self.before_commit, None
        if meanwhile is not None:
            meanwhile()
        with self._lock:
            self._fail_if_asked()
            if version != (str(self._version) if self._payload is not None else ABSENT):
                raise StateConflict("the state was changed by others since it was loaded")
            self.put(payload)
            self.commits += 1
            return LoadedState(state, str(self._version))

    def update(self, change: Change) -> LoadedState:
        for left in range(UPDATE_ATTEMPTS - 1, -1, -1):
            loaded = self.load()
            changed = change(loaded.state)
            if changed == loaded.state:
                return loaded
            try:
                return self.commit(changed, loaded.version)
            except StateConflict:
                if not left:
                    raise
        raise AssertionError("at least one attempt returns or raises")

    def _fail_if_asked(self) -> None:
        if self._failures:
            raise self._failures.pop(0)
