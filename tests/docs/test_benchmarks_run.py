"""`python -m benchmarks`: what was measured is kept when an area breaks, and what an area makes is what the product takes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as runner
from benchmarks import bench_pages
from benchmarks.report import Report


def measured(value: float) -> Callable[[Report], None]:
    return lambda report: report.row("speed", value, "s", bar="<= 2")


def breaks(report: Report) -> None:
    report.row("before it broke", 3, "s")
    raise ValueError("no such field")


@pytest.fixture
def areas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """`portal` and `review` measure one figure each, `product` between them breaks."""
    runs = {"portal": measured(1), "product": breaks, "review": measured(2)}
    monkeypatch.setattr(
        runner.importlib,
        "import_module",
        lambda name: SimpleNamespace(run=runs[name.removeprefix("benchmarks.bench_")]),
    )
    results = tmp_path / "results.json"
    monkeypatch.setattr(runner, "RESULTS", results)
    return results


def run(monkeypatch: pytest.MonkeyPatch, *chosen: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks", *chosen])
    runner.main()


def test_an_area_that_breaks_does_not_stop_the_others(areas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="broken: product ended with ValueError"):
        run(monkeypatch, "portal", "product", "review")
    results = json.loads(areas.read_text())
    assert [(row["area"], row["value"]) for row in results["rows"]] == [("portal", 1), ("product", 3), ("review", 2)]
    assert results["skipped"] == ["product: the rest: it ended with ValueError"]


def test_an_area_measured_alone_leaves_the_others_figures(areas: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, "portal", "review")
    assert json.loads(areas.read_text())["one_run"]
    run(monkeypatch, "review")
    results = json.loads(areas.read_text())
    assert not results["one_run"]
    assert [row["area"] for row in results["rows"]] == ["portal", "review"]
    quickest, slowest = results["machine"]["additions_s"]
    assert 0 < quickest <= slowest


def test_the_large_review_of_the_pages_area_is_one_of_ours() -> None:
    result = bench_pages._large_result("25_10000_F_0a495d")
    assert len(result.review.aspects) == 10
