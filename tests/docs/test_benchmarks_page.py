"""docs/benchmarks.md is what benchmarks/results.json says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import benchmarks_page


def test_the_page_says_what_was_measured() -> None:
    if not benchmarks_page.RESULTS.exists():
        pytest.skip("no benchmarks/results.json: run `make bench`")
    written = benchmarks_page.PAGE.read_text(encoding="utf-8")
    expected = benchmarks_page.page(json.loads(benchmarks_page.RESULTS.read_text(encoding="utf-8")))
    assert written == expected, "docs/benchmarks.md is out of date: run tools/benchmarks_page.py"
    readme = benchmarks_page.README.read_text(encoding="utf-8")
    results = json.loads(benchmarks_page.RESULTS.read_text(encoding="utf-8"))
    assert readme == benchmarks_page.with_timed(readme, results), "README is out of date: run tools/benchmarks_page.py"


def test_the_readme_takes_the_demos_time_from_the_results() -> None:
    row = {"area": "product", "name": benchmarks_page.DEMO, "value": 41.6, "met": True}
    readme = benchmarks_page.README.read_text(encoding="utf-8")
    written = benchmarks_page.with_timed(readme, {"machine": {"cores": 2}, "rows": [row]})
    assert "On 2 cores, with the packages installed, `make demo` took 42 s" in written
    assert "cold start to files" in (benchmarks_page.ROOT / "benchmarks" / "bench_product.py").read_text(
        encoding="utf-8"
    )


def test_a_missed_bar_is_named_at_the_top() -> None:
    row = {"area": "x", "name": "slow thing", "value": 9.0, "unit": "s", "bar": "<= 5", "note": "", "met": False}
    machine = {"cores": 2, "python": "3.11", "machine": "x86_64", "additions_s": [0.3, 0.6]}
    page = benchmarks_page.page({"machine": machine, "one_run": True, "rows": [row], "skipped": ["x: no data"]})
    assert "0 of 1 bars met" in page
    assert "Missed: x: slow thing." in page
    assert "| slow thing | 9 s | &lt;= 5 | **missed** |" in page
    assert "- x: no data" in page
