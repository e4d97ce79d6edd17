"""Reads one kind of object, alone or a page at a time, and contains the objects that cannot be understood.

Nearly always everything is understood, and a page is read in one go. When it is not, the page is read again object by
object: those that can be understood become records as ever, and each of the others becomes the record that its kind's
`contain` makes of the little that is certain about it, or is left out. What that means is chosen per kind so that the
error leads to nodes that stay, never to nodes that go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import msgspec

from exoscaler.adapters.kubernetes import wire
from exoscaler.adapters.kubernetes.decoding.fragments import Fragments

Wire = TypeVar("Wire")
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Contained:
    """An object that could not be understood. `why` is for people."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Record]):
    """The records of one page. `next` is the token for the following page, empty on the last."""

    records: tuple[Record, ...]
    next: str = ""
    contained: tuple[Contained, ...] = ()


class ObjectReader(Generic[Wire, Record]):
    """How objects of one kind are read.

    Args:
        item: the wire type of one object.
        page: the wire type of a page of them.
        convert: makes the record; raises ValueError when a value is not what the API promises.
        contain: makes the record that stands for an object which is not understood, None to leave it out; raises
            ValueError when even that little is not certain.
    """

    def __init__(
        self,
        item: type[Wire],
        page: type[wire.Page[Wire]],
        convert: Callable[[Wire], Record],
        contain: Callable[[Fragments], Record | None],
    ) -> None:
        self._item = msgspec.json.Decoder(item)
        self._page = msgspec.json.Decoder(page)
        self._convert = convert
        self._contain = contain

    def page(self, content: bytes) -> Page[Record]:
        """The records of a list, or of one page of it.

        Raises:
            ValueError: it is no list, or an object in it cannot even be told apart from others.
        """
        try:
            whole = _a_list(self._page.decode(content))
            convert = self._convert
            return Page(tuple([convert(item) for item in whole.items or ()]), whole.metadata.next or "")
        except ValueError:
            return self._page_piece_by_piece(content)

    def one(self, content: bytes) -> tuple[Record | None, Contained | None]:
        """The record of a single object, and what was not understood about it.

        Raises:
            ValueError: it cannot even be told which object it is.
        """
        try:
            return self._convert(self._item.decode(content)), None
        except ValueError as error:
            fragments = Fragments.of(content)
            return self._contain(fragments), Contained(fragments.name, str(error))

    def _page_piece_by_piece(self, content: bytes) -> Page[Record]:
        whole = _a_list(msgspec.json.decode(content, type=wire.Page[msgspec.Raw]))
        records: list[Record] = []
        contained: list[Contained] = []
        for raw in whole.items or ():
            record, trouble = self.one(bytes(raw))
            if record is not None:
                records.append(record)
            if trouble is not None:
                contained.append(trouble)
        return Page(tuple(records), whole.metadata.next or "", tuple(contained))


def _a_list(found: wire.Page[Wire]) -> wire.Page[Wire]:
    if not found.kind.endswith("List"):
        raise ValueError(f"a list was asked for and a {found.kind} came")
    return found
