"""The rows of the fault matrix: what the tests that take something away declare and measure.

A test says by `@pytest.mark.fault("Redis", phase="ingest", seen="…")` what it takes away, when, and what the user sees.
The fixture `goes_on` takes the seconds after which work went on. With `FAULT_ROWS=FILE` the rows are written there as
JSON: by a run with the seconds and whether the test passed, by `--collect-only` without. `tools/faults.py` makes the page.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_ROWS: dict[str, dict[str, Any]] = {}
_SECONDS = pytest.StashKey[float]()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "fault(taken, phase, seen): a row of the fault matrix in docs/faults.md")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for marker in item.iter_markers("fault"):
            name = item.nodeid.split("::")[-1]
            _ROWS[item.nodeid] = {"taken": marker.args[0], **marker.kwargs, "test": name}


@pytest.fixture
def goes_on(request: pytest.FixtureRequest) -> Callable[[float], None]:
    """Record after how many seconds work went on, or the answer came."""

    def record(seconds: float) -> None:
        request.node.stash[_SECONDS] = seconds

    return record


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    row = _ROWS.get(item.nodeid)
    if row is not None and report.when == "call":
        row |= {"outcome": report.outcome, "seconds": item.stash.get(_SECONDS, None)}
        _write()  # now, so that a run that is broken off leaves what it has measured
    return report


def pytest_sessionfinish() -> None:
    _write()


def _write() -> None:
    path = os.environ.get("FAULT_ROWS")
    if path:
        Path(path).write_text(json.dumps(list(_ROWS.values()), indent=1))
