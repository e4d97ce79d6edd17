"""Values that point at something else: addresses, ids of the cloud, names in Kubernetes."""

from __future__ import annotations

import ipaddress
import re
import uuid
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator

from exoscaler.settings.kinds import TEXT, Kind

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"(?=.{{1,253}}$){_LABEL.pattern}([.]{_LABEL.pattern})*")


def read_url(text: str) -> str:
    """Read an http or https address without credentials, query or fragment; trailing slashes are dropped."""
    split = _split(text)
    if split.scheme not in ("http", "https") or not split.hostname:
        raise ValueError("not an address; write it like https://host/path")
    if split.username is not None or split.password is not None:
        raise ValueError("holds credentials, which do not belong in an address")
    if split.query or split.fragment:
        raise ValueError("must have no query (?...) and no fragment (#...)")
    return text.rstrip("/")


def _split(text: str) -> SplitResult:
    if " " in text or not text.isprintable():
        raise ValueError("an address holds no white space")
    try:
        split = urlsplit(text)
        _ = split.port  # reading it is what checks it
    except ValueError as wrong:
        raise ValueError("not an address; write it like https://host/path") from wrong
    return split


def is_loopback(url: str) -> bool:
    """Whether the address is of this very machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def read_uuid(text: str) -> str:
    """Read an id of the cloud, in lower case."""
    try:
        found = str(uuid.UUID(text))
    except ValueError:
        found = ""
    if found != text.lower():
        raise ValueError("not an id; write it like 5b0f7a9e-1c2d-4e3f-8a9b-0c1d2e3f4a5b")
    return found


def dns_label(text: str) -> str:
    """A validator: one part of a host name, which is also what a namespace is called."""
    if not _LABEL.fullmatch(text):
        raise ValueError("must be 1 to 63 lower-case letters, digits and dashes, with no dash at either end")
    return text


def object_name(text: str) -> str:
    """A validator: the name of a Kubernetes object."""
    if not _SUBDOMAIN.fullmatch(text):
        raise ValueError("must be a name of lower-case letters, digits, dashes and dots, as Kubernetes takes it")
    return text


Uuid = Annotated[str | None, Kind("id", read_uuid)]
Url = Annotated[str | None, Kind("URL", read_url)]
Namespace = Annotated[str, TEXT, AfterValidator(dns_label)]
ObjectName = Annotated[str, TEXT, AfterValidator(object_name)]
