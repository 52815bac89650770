"""What a benchmark prints and keeps: rows of a name, a figure, its unit, and the bar it should clear."""

from __future__ import annotations

import json
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

SHARED_DATA = Path(os.environ.get("TRIGPOINT_TEST_DATA", Path(__file__).parents[2] / "shared" / "data"))


@dataclass(frozen=True)
class Row:
    area: str
    name: str
    value: float
    unit: str
    bar: str | None = None  # as written: "<= 15", ">= 1.9"
    note: str = ""
    must: bool = False  # a promise: the run fails if it is broken

    @property
    def met(self) -> bool | None:
        if self.bar is None:
            return None
        sign, limit = self.bar.split()
        return self.value <= float(limit) if sign == "<=" else self.value >= float(limit)


@dataclass
class Report:
    """Collects the rows of one run."""

    area: str = ""
    rows: list[Row] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    one_run: bool = True  # or areas of earlier runs are kept
    additions: list[float] = field(default_factory=list)  # seconds before each area, for how fast the machine was

    def begin(self, area: str) -> None:
        """Starts an area."""
        self.area = area
        self.additions.append(round(_seconds_of_additions(), 3))
        print(f"{area} (5 million additions: {self.additions[-1]:g} s)")

    def row(
        self, name: str, value: float, unit: str, *, bar: str | None = None, note: str = "", must: bool = False
    ) -> None:
        row = Row(self.area, name, round(float(value), 4), unit, bar, note, must)
        self.rows.append(row)
        print(
            f"  {row.name}: {row.value:g} {row.unit}"
            + (f" (bar {bar}: {'met' if row.met else 'MISSED'})" if bar else "")
        )

    def broken(self) -> list[Row]:
        """Return the promises that were not kept."""
        return [row for row in self.rows if row.must and row.met is False]

    def skip(self, what: str) -> None:
        """Says what was not measured, and why."""
        self.skipped.append(f"{self.area}: {what}")
        print(f"  not measured: {what}")

    def write(self, path: Path) -> None:
        machine = {
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "machine": platform.machine(),
            "additions_s": [min(self.additions), max(self.additions)],
        }
        rows = [asdict(row) | {"met": row.met} for row in self.rows]
        results = {"machine": machine, "one_run": self.one_run, "rows": rows, "skipped": self.skipped}
        path.write_text(json.dumps(results, indent=1) + "\n")

    def print_table(self) -> None:
        table = Table("area", "what", "figure", "unit", "bar", "")
        for row in self.rows:
            mark = {True: "met", False: "[red]missed[/]", None: ""}[row.met]
            table.add_row(row.area, row.name, f"{row.value:g}", row.unit, row.bar or "", mark)
        Console(width=140).print(table)


def _seconds_of_additions() -> float:
    """What one core takes for five million additions: on a shared machine it can double from one hour to the next."""
    start, total = time.perf_counter(), 0
    for number in range(5_000_000):
        total += number
    return time.perf_counter() - start


def percentile_ms(call: Callable[[], object], times: int, *, warm: int = 3) -> tuple[float, float]:
    """p50 and p95 of a call, in milliseconds."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken), statistics.quantiles(taken, n=20)[18]
