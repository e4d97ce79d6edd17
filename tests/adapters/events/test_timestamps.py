"""RFC 3339, as senders write it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exoscaler.adapters.events.timestamps import format_timestamp, parse_timestamp


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-01T03:15:32Z", "2026-12-01T03:15:32+00:00"),
        ("2026-12-01t03:15:32z", "2026-12-01T03:15:32+00:00"),
        ("2026-12-01T03:15:32.106797224Z", "2026-12-01T03:15:32.106797+00:00"),
        ("2026-12-01T03:15:32.999999999Z", "2026-12-01T03:15:32.999999+00:00"),
        ("2026-12-01T03:15:32.1Z", "2026-12-01T03:15:32.100000+00:00"),
        ("2026-12-01T03:15:32+05:30", "2026-11-30T21:45:32+00:00"),
        ("2026-12-01T03:15:32-00:00", "2026-12-01T03:15:32+00:00"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999+00:00"),
    ],
)
def test_timestamp_is_read_into_utc_and_never_rounded_up(text: str, moment: str) -> None:
    assert parse_timestamp(text) == datetime.fromisoformat(moment)
    assert parse_timestamp(text).tzinfo is UTC


@given(
    st.datetimes(
        min_value=datetime(1, 1, 2),  # noqa: DTZ001  # hypothesis wants naive bounds and adds the zone
        max_value=datetime(9999, 12, 30),  # noqa: DTZ001  # the same
        timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
    )
)
def test_what_is_written_is_read_back(moment: datetime) -> None:
    assert parse_timestamp(format_timestamp(moment)) == moment


@given(st.text(max_size=40))
def test_arbitrary_text_is_refused_with_value_error_only(text: str) -> None:
    try:
        parsed = parse_timestamp(text)
    except ValueError:
        return
    assert parsed.tzinfo is UTC
