"""A log has one line per event, and nothing of what a caller sends can change that or reach the operator's terminal."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from trigpoint.config import load_settings
from trigpoint.logs import configure_logging

SENT = "/reviews/a\r\n2026-01-01 ERROR forged\x1b[31m\x9b2J\u2028\x00 Östlich"


@pytest.fixture
def untouched_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.usefixtures("untouched_logging")
def test_a_path_forges_no_line_of_the_log_and_no_code_for_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(load_settings())
    logging.getLogger("trigpoint.http.context").info("GET %s 404", SENT)
    try:
        raise ValueError(SENT)
    except ValueError:
        logging.getLogger("trigpoint.http.context").exception("failed")
    first, *others = capsys.readouterr().err.removesuffix("\n").split("\n")
    assert first.endswith(r"GET /reviews/a\r\n2026-01-01 ERROR forged\x1b[31m\x9b2J\u2028\x00 Östlich 404")
    assert all(line.isprintable() for line in others)
    assert others[0].endswith("failed")


@pytest.mark.usefixtures("untouched_logging")
def test_a_line_of_json_says_the_same_and_is_as_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging(load_settings(log_format="json"))
    logging.getLogger("trigpoint.http.context").info("GET %s 404", SENT)
    (line,) = capsys.readouterr().err.removesuffix("\n").split("\n")
    assert line.isprintable()
    assert json.loads(line)["message"] == f"GET {SENT} 404"
