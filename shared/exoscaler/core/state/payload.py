"""The form in which a state is stored: three named documents, as text while they are small, compressed past that."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from exoscaler.errors import StateError

NODE_GROUPS = "node-groups"
OPERATIONS = "operations"
OBSERVATIONS = "observations"
DOCUMENTS = (NODE_GROUPS, OPERATIONS, OBSERVATIONS)
"""The documents' names; a key is a name with the suffix of its form."""

TEXT_SUFFIX = ".json"
PACKED_SUFFIX = ".json.gz"
TEXT_KEYS = tuple(name + TEXT_SUFFIX for name in DOCUMENTS)
PACKED_KEYS = tuple(name + PACKED_SUFFIX for name in DOCUMENTS)

EXPANDED_LIMIT = 32 * 1024 * 1024
"""Bytes that all documents together may expand to: tens of times what exoscaler writes, far from hurting a function."""

_GZIP = 16 + zlib.MAX_WBITS


class UnreadableState(StateError):
    """The stored state cannot be understood. `reason` says which part and why; nothing was changed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the stored state cannot be read: {reason}")


@dataclass(frozen=True, slots=True)
class Payload:
    """Documents by key. Of each document there is one form: text in `text` or compressed in `binary`."""

    text: Mapping[str, str] = field(default_factory=dict)
    binary: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes that count towards a ConfigMap's limit."""
        texts = sum(len(key) + len(value.encode()) for key, value in self.text.items())
        return texts + sum(len(key) + len(value) for key, value in self.binary.items())

    @property
    def is_empty(self) -> bool:
        """Whether no document is stored, in either form."""
        return not any(key in self.text for key in TEXT_KEYS) and not any(key in self.binary for key in PACKED_KEYS)


def as_text(documents: Mapping[str, bytes]) -> Payload:
    """The documents, by name, as readable text."""
    return Payload(text={name + TEXT_SUFFIX: content.decode() for name, content in documents.items()})


def packed(documents: Mapping[str, bytes]) -> Payload:
    """The documents, by name, compressed. The same content gives the same bytes: no time is written into them."""
    return Payload(
        binary={name + PACKED_SUFFIX: gzip.compress(content, mtime=0) for name, content in documents.items()}
    )


def unpacked(payload: Payload) -> dict[str, bytes]:
    """The documents by name; keys that are not ours are ignored.

    Raises:
        UnreadableState: a document is missing, is there in both forms, is damaged, or expands to an absurd size.
    """
    documents: dict[str, bytes] = {}
    room = EXPANDED_LIMIT
    for name in DOCUMENTS:
        content = _content(payload, name, room)
        room -= len(content)
        documents[name] = content
    return documents


def _content(payload: Payload, name: str, room: int) -> bytes:
    text = payload.text.get(name + TEXT_SUFFIX)
    compressed = payload.binary.get(name + PACKED_SUFFIX)
    if text is not None and compressed is not None:
        raise UnreadableState(f"{name} is there twice, as {TEXT_SUFFIX} and as {PACKED_SUFFIX}")
    if text is not None:
        return text.encode("utf-8", "surrogatepass")
    if compressed is None:
        raise UnreadableState(f"{name} is missing while other documents are there")
    return _expanded(name + PACKED_SUFFIX, compressed, room)


def _expanded(key: str, compressed: bytes, room: int) -> bytes:
    """Expand step by step, so that a small input cannot ask for more memory than the limit."""
    expander = zlib.decompressobj(wbits=_GZIP)
    try:
        content = expander.decompress(compressed, room + 1)
    except zlib.error as error:
        raise UnreadableState(f"{key} is damaged: {error}") from error
    if len(content) > room:
        raise UnreadableState(f"{key} expands to more than {EXPANDED_LIMIT:,} bytes together with the others")
    if not expander.eof:
        raise UnreadableState(f"{key} is cut off")
    if expander.unused_data:
        raise UnreadableState(f"{key} is followed by something else")
    return content
