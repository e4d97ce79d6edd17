"""ConfigMaps as they travel, and the three calls that are made about them."""

from __future__ import annotations

import base64
from collections.abc import Mapping

import msgspec

from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import malformed
from exoscaler.adapters.kubernetes.calls import CONFIG_MAPS, Call, JsonObject, Verb
from exoscaler.core.state import Payload
from exoscaler.core.state.payload import PACKED_KEYS, TEXT_KEYS
from exoscaler.errors import NotFound

MANAGED_BY: Mapping[str, str] = {"app.kubernetes.io/managed-by": "exoscaler"}


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str
    resource_version: str


class ConfigMap(msgspec.Struct, rename="camel"):
    """A ConfigMap that was read. Compressed values are bytes here and base64 on the wire."""

    metadata: _Metadata
    data: dict[str, str] | None = None
    binary_data: dict[str, bytes] | None = None

    @property
    def version(self) -> str:
        """The resourceVersion at which it was read."""
        return self.metadata.resource_version

    @property
    def payload(self) -> Payload:
        """The keys that are the state's; others' keys are left out."""
        text = {key: value for key, value in (self.data or {}).items() if key in TEXT_KEYS}
        binary = {key: value for key, value in (self.binary_data or {}).items() if key in PACKED_KEYS}
        return Payload(text, binary)


def read_config_map(access: Access, namespace: str, name: str) -> ConfigMap | None:
    """The ConfigMap, from the API server itself; None when there is none.

    Raises:
        RemoteError: any other failure.
    """
    call = Call(Verb.GET, CONFIG_MAPS, namespace=namespace, name=name)
    try:
        content = access.read(call)
    except NotFound:
        return None
    return _understood(call, content)


def create_config_map(
    access: Access, namespace: str, name: str, payload: Payload, annotations: JsonObject
) -> ConfigMap:
    """Create a ConfigMap.

    Raises:
        Conflict: there is one of that name.
        RemoteError: any other failure.
    """
    body: JsonObject = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": MANAGED_BY, "annotations": annotations},
        "data": dict(payload.text),
        "binaryData": _on_wire(payload.binary),
    }
    call = Call(Verb.CREATE, CONFIG_MAPS, namespace=namespace, name=name, body=body)
    return _understood(call, access.ask(call).content())


def replace_payload(access: Access, namespace: str, name: str, payload: Payload, version: str) -> ConfigMap:
    """Write the state's keys into the ConfigMap of this very version; keys of others stay as they are.

    Raises:
        Conflict: it is of another version.
        NotFound: it is gone.
        RemoteError: any other failure.
    """
    # A key that is not written now is taken away: the state is there in one form only.
    data: dict[str, object] = {key: payload.text.get(key) for key in TEXT_KEYS}
    packed = _on_wire(payload.binary)
    binary: dict[str, object] = {key: packed.get(key) for key in PACKED_KEYS}
    body: JsonObject = {
        "metadata": {"resourceVersion": version, "labels": MANAGED_BY},
        "data": data,
        "binaryData": binary,
    }
    call = Call(Verb.PATCH, CONFIG_MAPS, namespace=namespace, name=name, body=body)
    return _understood(call, access.ask(call).content())


def _on_wire(binary: Mapping[str, bytes]) -> dict[str, object]:
    return {key: base64.b64encode(value).decode("ascii") for key, value in binary.items()}


def _understood(call: Call, content: bytes) -> ConfigMap:
    try:
        return msgspec.json.decode(content, type=ConfigMap)
    except msgspec.DecodeError as error:
        raise malformed(call, error) from error
