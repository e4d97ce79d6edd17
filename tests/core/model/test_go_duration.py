from datetime import timedelta

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from exoscaler.core.model.go_duration import format_duration, parse_duration

unhurried = hypothesis_settings(deadline=None)  # a busy machine is no finding

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
LONGEST = timedelta(microseconds=(2**63 - 1) // 1000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta(0)),
        ("+0", timedelta(0)),
        ("-0", timedelta(0)),
        ("0s", timedelta(0)),
        ("10m", 10 * MINUTE),
        ("1h30m", 90 * MINUTE),
        ("1.5h", 90 * MINUTE),
        ("1.h", HOUR),
        (".5s", SECOND / 2),
        ("300ms", timedelta(milliseconds=300)),
        ("-1m", -MINUTE),
        ("+1m30s", 90 * SECOND),
        ("5us", timedelta(microseconds=5)),
        ("5\u00b5s", timedelta(microseconds=5)),
        ("5\u03bcs", timedelta(microseconds=5)),
        ("30s1m", 90 * SECOND),
        ("1h1h", 2 * HOUR),
        ("87600h", 87600 * HOUR),
    ],
)
def test_reads_what_go_reads(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1999ns", 1), ("-1999ns", -1), ("999ns", 0), ("600ns600ns", 1), ("0.0000019s", 1)],
)
def test_nanoseconds_are_added_up_and_then_cut_off_towards_zero(text: str, expected: int) -> None:
    assert parse_duration(text) == timedelta(microseconds=expected)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "-",
        "+",
        ".",
        "m",
        "10 m",
        " 10m",
        "10m ",
        "1h30",
        "1,5h",
        "--1m",
        "1H",
        "1min",
        "1h-5m",
        "\u0661s",
        "1e3s",
    ],
)
def test_refuses_what_go_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"duration|unit"):
        parse_duration(text)


def test_number_without_unit_is_told_so() -> None:
    with pytest.raises(ValueError, match="no unit; a duration is written like 30s, 10m or 1h30m"):
        parse_duration("10")


def test_days_are_turned_into_hours_in_the_message() -> None:
    with pytest.raises(ValueError, match="write 48h"):
        parse_duration("2d")


@pytest.mark.parametrize("text", ["2562047h47m16.854775808s", "9223372036854775808ns", "99999999999999h"])
def test_longer_than_go_can_hold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="292 years"):
        parse_duration(text)


def test_endless_digits_are_refused_before_they_are_computed_with() -> None:
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration("9" * 100_000 + "s")


def test_longest_duration_is_read() -> None:
    assert parse_duration("9223372036854775807ns") == LONGEST


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (timedelta(0), "0s"),
        (10 * MINUTE, "10m"),
        (90 * MINUTE, "1h30m"),
        (HOUR + SECOND, "1h1s"),
        (SECOND * 1.5, "1.5s"),
        (timedelta(milliseconds=300), "300ms"),
        (timedelta(microseconds=1500), "1.5ms"),
        (timedelta(microseconds=7), "7us"),
        (-10 * MINUTE, "-10m"),
        (MINUTE + timedelta(microseconds=1), "1m0.000001s"),
    ],
)
def test_writes_the_shortest_usual_form(duration: timedelta, text: str) -> None:
    assert format_duration(duration) == text


@unhurried
@given(st.timedeltas(min_value=-LONGEST, max_value=LONGEST))
@example(timedelta(microseconds=1))
@example(LONGEST)
def test_what_is_written_is_read_back_unchanged(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@unhurried
@given(st.timedeltas())
def test_beyond_go_is_never_written(duration: timedelta) -> None:
    if abs(duration) <= LONGEST:
        return
    with pytest.raises(ValueError, match="292 years"):
        format_duration(duration)


@unhurried
@given(st.text(alphabet="0123456789.hmsnu\u00b5\u03bc+-e ", max_size=12))
def test_any_text_is_a_duration_or_a_value_error(text: str) -> None:
    try:
        duration = parse_duration(text)
    except ValueError:
        return
    assert abs(duration) <= LONGEST
