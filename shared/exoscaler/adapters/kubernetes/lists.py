"""Whole lists, read in pages that all show the same moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from exoscaler import logs
from exoscaler.adapters.kubernetes.access import Access
from exoscaler.adapters.kubernetes.answers import Expired, malformed
from exoscaler.adapters.kubernetes.calls import Call, Resource, Verb
from exoscaler.adapters.kubernetes.decoding import Contained, ObjectReader, Page
from exoscaler.errors import Unavailable

Wire = TypeVar("Wire")
Record = TypeVar("Record")

PAGED_READINGS = 3
"""How often a list is begun anew in pages before it is asked for in one piece."""

_NAMED_IN_LOG = 5
_log = logs.get("exoscaler.adapters.kubernetes")


def read_list(
    access: Access,
    resource: Resource,
    reader: ObjectReader[Wire, Record],
    *,
    page_size: int,
    fields: str = "",
) -> tuple[Record, ...]:
    """All objects of a resource in all namespaces that match the field selector.

    The first page is asked of the API server without a resourceVersion, so that it shows what is true now and not what
    a cache remembers. When the server has forgotten that moment before the last page is read, the list is read again
    from the start: carrying on with the present would mix two moments and might miss an object that moved between them.

    Raises:
        RemoteError: a page could not be read or understood; nothing partial is handed out.
    """
    for _ in range(PAGED_READINGS):
        pages = _read_pages(access, resource, reader, {"limit": str(page_size), "fieldSelector": fields})
        if pages is not None:
            return _together(resource, pages)
    whole = _read_pages(access, resource, reader, {"fieldSelector": fields})
    if whole is None:
        detail = "the API server forgets the list while it hands it out"
        raise Unavailable(f"list {resource.plural}", detail=detail)
    return _together(resource, whole)


def _read_pages(
    access: Access, resource: Resource, reader: ObjectReader[Wire, Record], query: Mapping[str, str]
) -> list[Page[Record]] | None:
    """The pages of one reading; None when the server forgot the moment that they show."""
    pages: list[Page[Record]] = []
    token = ""
    while True:
        call = Call(Verb.LIST, resource, query={**query, "continue": token})
        try:
            content = access.read(call)
        except Expired:
            return None
        page = _understood(call, content, reader)
        pages.append(page)
        token = page.next
        if not token:
            return pages


def _understood(call: Call, content: bytes, reader: ObjectReader[Wire, Record]) -> Page[Record]:
    try:
        return reader.page(content)
    except ValueError as error:
        raise malformed(call, error) from error


def _together(resource: Resource, pages: list[Page[Record]]) -> tuple[Record, ...]:
    report(resource, [contained for page in pages for contained in page.contained])
    return tuple([record for page in pages for record in page.records])


def report(resource: Resource, contained: list[Contained]) -> None:
    """Say in the log which objects were not understood; they are contained, so nothing else tells of them."""
    if contained:
        _log.warning(
            "objects not understood; the nodes they bear on are kept",
            resource=resource.plural,
            count=len(contained),
            names=", ".join(c.name for c in contained[:_NAMED_IN_LOG]),
            why=contained[0].why,
        )
