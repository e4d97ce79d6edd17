"""The state in a ConfigMap: compare-and-swap on its resourceVersion."""

from __future__ import annotations

from collections.abc import Callable

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.configmaps import ConfigMap, create_config_map, read_config_map, replace_payload
from exoscaler.adapters.kubernetes.quarantine import put_aside
from exoscaler.adapters.kubernetes.retries import is_transient
from exoscaler.core.state import Payload, State, UnreadableState, decode, encode
from exoscaler.errors import Conflict, ExoscalerError, NotFound, RemoteError, StateConflict, StateError
from exoscaler.ports.state import Change, LoadedState, Version

ABSENT: Version = ""
"""The version of a state that is not there yet."""

UPDATE_ATTEMPTS = 8
WRITE_ATTEMPTS = 3
_CONFLICT = 409


class ConfigMapStateStore:
    """Implements `exoscaler.ports.state.StateStore` on one ConfigMap. Safe to use from several threads.

    Reading creates nothing: the ConfigMap comes with the first write. A store that is `read_only` refuses to write, and
    raises `UnreadableState` where another would put the unreadable state aside.
    """

    def __init__(self, access: Access, namespace: str, name: str, *, read_only: bool = False) -> None:
        self._access = access
        self._namespace = namespace
        self._name = name
        self._read_only = read_only

    def load(self) -> LoadedState:
        """The current state; an empty one when there is none yet, or when it was unreadable and is put aside.

        Raises:
            RemoteError: it could not be read, or what is unreadable could not be put aside.
            UnreadableState: this store is read-only, and the state cannot be understood.
        """
        found = read_config_map(self._access, self._namespace, self._name)
        if found is None:
            return LoadedState(State(), ABSENT)
        try:
            return LoadedState(decode(found.payload), found.version)
        except UnreadableState as error:
            if self._read_only:
                raise
            put_aside(self._access, self._namespace, self._name, found, error.reason)
            return LoadedState(State(), found.version)

    def commit(self, state: State, version: Version) -> LoadedState:
        """Write `state` if `version` is still the current one.

        Raises:
            StateConflict: somebody wrote or removed it meanwhile; nothing was written.
            StateTooLarge: it does not fit; nothing was written.
            StateError: this store is read-only.
            RemoteError: any other failure. If the error says so, the write may have arrived after all; a write against
                the same version is then refused, so nothing is lost by looking again.
        """
        if self._read_only:
            raise StateError(f"the state in ConfigMap {self._namespace}/{self._name} is only read here")
        payload = encode(state)
        write = _Write(payload, lambda: self._written(payload, version), self._found)
        return LoadedState(state, self._access.patience.repeat(write, attempts=WRITE_ATTEMPTS, again=is_transient))

    def update(self, change: Change) -> LoadedState:
        """Apply `change` to the current state and write the result, again from the start when others write too.

        Raises:
            StateConflict: others kept writing; nothing was written.
            StateTooLarge: it does not fit; nothing was written.
            RemoteError: see `commit`.
        """

        def once() -> LoadedState:
            loaded = self.load()
            changed = change(loaded.state)
            return loaded if changed == loaded.state else self.commit(changed, loaded.version)

        return self._access.patience.repeat(once, attempts=UPDATE_ATTEMPTS, again=_others_wrote)

    def _found(self) -> ConfigMap | None:
        return read_config_map(self._access, self._namespace, self._name)

    def _written(self, payload: Payload, version: Version) -> ConfigMap:
        if version == ABSENT:
            return create_config_map(self._access, self._namespace, self._name, payload, {})
        try:
            return replace_payload(self._access, self._namespace, self._name, payload, version)
        except NotFound as error:
            raise Conflict(error.operation, error.target, status=_CONFLICT, detail="it was removed") from error


class _Write:
    """One write that may be tried several times, although only one of the tries can take effect.

    When the answer to a try was lost, the next one is refused if that try arrived after all. Then what is there tells
    whose write it was.
    """

    def __init__(self, payload: Payload, write: Callable[[], ConfigMap], read: Callable[[], ConfigMap | None]) -> None:
        self._payload = payload
        self._write = write
        self._read = read
        self._may_have_arrived = False

    def __call__(self) -> Version:
        try:
            return self._write().version
        except Conflict as error:
            if error.status != _CONFLICT:
                raise
            found = self._read() if self._may_have_arrived else None
            if found is not None and found.payload == self._payload:
                return found.version
            raise StateConflict(f"the state was changed by others since it was loaded: {error}") from error
        except RemoteError as error:
            self._may_have_arrived = self._may_have_arrived or error.took_effect
            raise


def _others_wrote(error: ExoscalerError) -> bool:
    return isinstance(error, StateConflict)
