"""Structured logs, and what never appears in them."""

from __future__ import annotations

import base64
import io
import json
import logging
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from exoscaler import logs
from exoscaler.logs import LogFormat, LogLevel, Redactor

unhurried = hypothesis_settings(deadline=None)  # a busy machine is no finding

SECRET = 'hu"sh\\hush é'
NAMES = (logs.ROOT, *logs.LIBRARIES)


@pytest.fixture(autouse=True)
def restore_logging() -> Iterator[None]:
    """Leave the logging of the test process as it was."""
    loggers = [logging.getLogger(name) for name in NAMES]
    before = [(logger, list(logger.handlers), logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, handlers, propagate, level in before:
        logger.handlers[:] = handlers
        logger.propagate = propagate
        logger.setLevel(level)


def written(
    log_format: LogFormat = LogFormat.JSON, level: LogLevel = LogLevel.INFO, secrets: tuple[str, ...] = ()
) -> io.StringIO:
    stream = io.StringIO()
    logs.configure(level, log_format, secrets, stream=stream)
    return stream


def only_line(stream: io.StringIO) -> dict[str, object]:
    (line,) = stream.getvalue().splitlines()
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def raised(error: Exception) -> Exception:
    """The error with the traceback of having been raised."""
    with pytest.raises(type(error)) as caught:
        raise error
    return caught.value


log = logs.get("exoscaler.app.evaluate")


def test_line_is_json_with_facts_beside_the_event() -> None:
    stream = written()

    log.info("evaluation finished", node_group="pool-a", pods=3, ratio=0.5, forced=False, operation_id=None)

    line = only_line(stream)
    moment = line.pop("time")
    assert isinstance(moment, str)
    assert moment.endswith("Z")
    assert line == {
        "level": "info",
        "logger": "exoscaler.app.evaluate",
        "event": "evaluation finished",
        "node_group": "pool-a",
        "pods": 3,
        "ratio": 0.5,
        "forced": False,
        "operation_id": None,
    }


def test_text_is_one_line_for_people() -> None:
    stream = written(LogFormat.TEXT)

    log.warning("pool is busy", node_group="pool a", node="n-1", size=3, state=None)

    clock, _, rest = stream.getvalue().partition(" ")
    assert len(clock) == len("12:00:00.000")
    assert rest == 'WARNING pool is busy  node_group="pool a"  node=n-1  size=3  state=null\n'


def test_facts_that_are_bound_come_with_every_line() -> None:
    stream = written()
    bound = log.bind(operation_id="op-1").bind(node="n-1")

    bound.info("first", node="n-2")
    bound.info("second")

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["operation_id"], line["node"]) for line in lines] == [("op-1", "n-2"), ("op-1", "n-1")]


def test_fact_cannot_replace_what_every_line_has() -> None:
    stream = written()

    log.info("an event", level="high", time=12, logger="x", exception="y")

    line = only_line(stream)
    assert (line["level"], line["level_"], line["time_"], line["logger_"]) == ("info", "high", 12, "x")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (LogLevel.DEBUG, ["debug", "info", "warning", "error"]),
        (LogLevel.INFO, ["info", "warning", "error"]),
        (LogLevel.WARNING, ["warning", "error"]),
        (LogLevel.ERROR, ["error"]),
    ],
)
def test_level_says_how_much_is_written(level: LogLevel, expected: list[str]) -> None:
    stream = written(level=level)

    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")

    assert [json.loads(line)["level"] for line in stream.getvalue().splitlines()] == expected


def test_error_brings_its_traceback() -> None:
    stream = written()

    log.error("refresh failed", error=raised(LookupError("no such pool")), node_group="pool-a")

    line = only_line(stream)
    assert str(line["exception"]).startswith("Traceback")
    assert str(line["exception"]).endswith("LookupError: no such pool")


@pytest.mark.parametrize("log_format", LogFormat)
def test_line_ends_in_a_value_cannot_forge_a_line(log_format: LogFormat) -> None:
    stream = written(log_format)

    log.info("pod\nfound", pod="a\n12:00:00 ERROR forged\u2028x")

    assert len(stream.getvalue().splitlines()) == 1


def test_json_is_plain_ascii_and_strict() -> None:
    stream = written()

    log.info("größer", name="\ud800 é", ratio=float("nan"), most=float("inf"))

    assert stream.getvalue().isascii()
    line = only_line(stream)
    assert (line["event"], line["ratio"], line["most"]) == ("größer", "nan", "inf")


def test_configuring_again_replaces_and_never_doubles() -> None:
    first, second = written(), written()

    log.info("once")

    assert first.getvalue() == ""
    assert len(second.getvalue().splitlines()) == 1


def test_root_handler_of_somebody_else_sees_nothing_twice() -> None:
    elsewhere = io.StringIO()
    handler = logging.StreamHandler(elsewhere)
    logging.getLogger().addHandler(handler)
    try:
        stream = written()
        log.error("once")
    finally:
        logging.getLogger().removeHandler(handler)

    assert elsewhere.getvalue() == ""
    assert len(stream.getvalue().splitlines()) == 1


def test_root_level_of_the_functions_server_hides_nothing() -> None:
    stream = written()
    assert logging.getLogger().level == logging.WARNING

    log.info("still here")

    assert only_line(stream)["event"] == "still here"


def test_handler_of_somebody_else_on_our_logger_stays() -> None:
    others = logging.NullHandler()
    logging.getLogger(logs.ROOT).addHandler(others)

    written()

    assert others in logging.getLogger(logs.ROOT).handlers


def test_libraries_warn_in_the_same_form_and_never_below_warning() -> None:
    stream = written(level=LogLevel.DEBUG, secrets=(SECRET,))

    logging.getLogger("kubernetes.client.rest").debug("response body: %s", SECRET)
    logging.getLogger("urllib3.connectionpool").warning("retrying %s", f"/api?{SECRET}")

    line = only_line(stream)
    assert (line["level"], line["event"]) == ("warning", "retrying /api?***")


def test_library_whose_placeholders_do_not_match_loses_no_line() -> None:
    stream = written()

    logging.getLogger("httpx").warning("a %d b", "text")

    assert only_line(stream)["event"] == "a %d b"


@pytest.mark.parametrize("log_format", LogFormat)
def test_secret_appears_nowhere(log_format: LogFormat) -> None:
    stream = written(log_format, secrets=(SECRET, "12345678"))
    event = f"cannot sign with {SECRET}"
    failure = raised(ValueError(f"signature of {SECRET!r} failed"))

    log.error(event, error=failure, key=SECRET, header=f"x {SECRET} y", number=12345678)

    text = stream.getvalue()
    assert "hush" not in text
    assert "12345678" not in text
    assert text.count("***") >= 5


@pytest.mark.parametrize(
    "spelling",
    [
        SECRET,
        repr(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_secret_is_recognised_however_it_is_spelt(spelling: str) -> None:
    redacted = Redactor([SECRET])(f"before {spelling} after")

    assert redacted.startswith("before ")
    assert redacted.endswith(" after")
    assert "hu" not in redacted


def test_white_space_around_a_secret_is_no_part_of_it() -> None:
    assert Redactor(["hush-hush\n"])("a hush-hush b") == "a *** b"


@pytest.mark.parametrize("nothing", ["", "  ", "abc"])
def test_value_too_short_to_be_a_secret_garbles_nothing(nothing: str) -> None:
    assert Redactor([nothing])("abc  def") == "abc  def"


def test_redactor_does_not_show_what_it_hides() -> None:
    assert "hush" not in repr(Redactor([SECRET]))


@unhurried
@given(st.text(min_size=4).filter(lambda text: len(text.strip()) >= 4), st.text(), st.text())
def test_no_text_holds_the_secret_after_redaction(secret: str, before: str, after: str) -> None:
    redacted = Redactor([secret])(f"{before}{secret}{after}")

    assert secret not in redacted or set(secret) == {"*"}


def test_event_with_percent_signs_is_taken_literally() -> None:
    stream = written()

    log.info("100% done %s")

    assert only_line(stream)["event"] == "100% done %s"
