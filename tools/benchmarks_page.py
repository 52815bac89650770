"""Writes docs/benchmarks.md, and the README's line on the demo, from benchmarks/results.json. A test compares."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results.json"
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "benchmarks.md"
NOTE = "<!-- Written by tools/benchmarks_page.py from benchmarks/results.json. Run `make bench`, then this. -->\n\n"

BEGIN, END = "<!-- timed: written by tools/benchmarks_page.py -->", "<!-- /timed -->"
DEMO = "make demo, packages installed, cold start to files"


def page(results: dict[str, Any]) -> str:
    machine = results["machine"]
    barred = [row for row in results["rows"] if row["bar"]]
    missed = [row for row in barred if not row["met"]]
    low, high = machine["additions_s"]
    runs = "all areas in one run" if results["one_run"] else "areas in different runs, each"
    lines = [
        "# Benchmarks",
        "",
        f"Measured by `make bench`, {runs} with nothing else running. Apart from [Faults](faults.md), "
        "no other page has figures of speed. Areas are files in `benchmarks/`, and say in their first lines "
        "what they measure. A bar is what we set out to reach.",
        "",
        f"Machine: {machine['cores']} cores, {machine['machine']}, Python {machine['python']}; before each area one core "
        f"took {low:g} to {high:g} s for 5 million additions. "
        f"{len(barred) - len(missed)} of {len(barred)} bars met.",
    ]
    if missed:
        lines += ["", "Missed: " + "; ".join(f"{row['area']}: {_cell(row['name'])}" for row in missed) + "."]
    for area, rows in groupby(results["rows"], key=lambda row: row["area"]):
        lines += ["", f"## {area}", "", "| what | figure | bar | |", "|---|---:|---|---|"]
        lines += [_line(row) for row in rows]
    if results["skipped"]:
        lines += ["", "## Not measured", "", *(f"- {_cell(line)}" for line in results["skipped"])]
    return NOTE + "\n".join(lines) + "\n"


def timed(results: dict[str, Any]) -> str:
    """The README's line: how long the demo takes."""
    found = [row for row in results["rows"] if row["name"] == DEMO]
    if not found:
        return "How long that takes is measured by `make bench`."
    seconds, cores = found[0]["value"], results["machine"]["cores"]
    return f"On {cores} cores, with the packages installed, `make demo` took {seconds:.0f} s from a cold start to the files."


def with_timed(readme: str, results: dict[str, Any]) -> str:
    before, rest = readme.split(BEGIN)
    return before + BEGIN + timed(results) + END + rest.split(END)[1]


def _line(row: dict[str, Any]) -> str:
    verdict = {True: "met", False: "**missed**", None: ""}[row["met"]]
    remarks = ", ".join(part for part in (verdict, _cell(row["note"])) if part)
    return f"| {_cell(row['name'])} | {row['value']:,g} {_cell(row['unit'])} | {_cell(row['bar'] or '')} | {remarks} |"


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


if __name__ == "__main__":
    measured = json.loads(RESULTS.read_text(encoding="utf-8"))
    PAGE.write_text(page(measured), encoding="utf-8")
    README.write_text(with_timed(README.read_text(encoding="utf-8"), measured), encoding="utf-8")
