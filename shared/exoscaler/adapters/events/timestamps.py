"""RFC 3339 timestamps, as CloudEvents and Kubernetes write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"(?P<date>\d{4}-\d\d-\d\d)[Tt](?P<hours>\d\d:\d\d):(?P<seconds>\d\d)(?:\.(?P<fraction>\d+))?"
    r"(?:[Zz]|(?P<offset>[+-](?:[01]\d|2[0-3]):[0-5]\d))",
    re.ASCII,
)


def parse_timestamp(text: str) -> datetime:
    """Reads an RFC 3339 timestamp into UTC.

    Fractions beyond microseconds are cut, never rounded up: an event must not look younger than it is. A leap second
    becomes the last microsecond before it.

    Raises:
        ValueError: not RFC 3339, no such date, or outside the years that can be represented. The message does not
            repeat the text.
    """
    match = _RFC3339.fullmatch(text)
    if match is None:
        raise ValueError("not an RFC 3339 timestamp")
    seconds, fraction = match["seconds"], (match["fraction"] or "")[:6].ljust(6, "0")
    if seconds == "60":
        seconds, fraction = "59", "999999"
    try:
        local = datetime.fromisoformat(
            f"{match['date']}T{match['hours']}:{seconds}.{fraction}{match['offset'] or '+00:00'}"
        )
        return local.astimezone(UTC)
    except (ValueError, OverflowError) as wrong:
        raise ValueError("no such date or time") from wrong


def format_timestamp(moment: datetime) -> str:
    """Writes a time with time zone as RFC 3339 in UTC, with a trailing ``Z``."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
