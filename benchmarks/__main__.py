"""`make bench`, or `python -m benchmarks [AREA…]`: runs the areas one after another; results.json keeps the last of each.

What has been measured is written after each area. An area that breaks is named at the end and does not stop the others.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
import traceback
from pathlib import Path

from benchmarks.report import Report, Row

RESULTS = Path(__file__).with_name("results.json")


def main() -> None:
    areas = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    chosen = sys.argv[1:] or areas
    unknown = set(chosen) - set(areas)
    if unknown:
        sys.exit(f"no such benchmark: {', '.join(sorted(unknown))}. There are: {', '.join(areas)}")
    report = Report()
    if sys.argv[1:] and RESULTS.exists():  # keep the figures of the areas that are not measured now
        before = json.loads(RESULTS.read_text())
        report.one_run = False
        report.rows = [
            Row(**{k: v for k, v in row.items() if k != "met"}) for row in before["rows"] if row["area"] not in chosen
        ]
        report.additions = before["machine"].get("additions_s", [])
        report.skipped = [line for line in before["skipped"] if line.split(":")[0] not in chosen]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # told to stop: what was measured is kept
    broken: list[str] = []
    for area in chosen:
        report.begin(area)
        try:
            importlib.import_module(f"benchmarks.bench_{area}").run(report)
        except KeyboardInterrupt:
            report.skip("the rest: it was stopped before its end")
            break
        except Exception as error:
            traceback.print_exc()
            broken.append(f"{area} ended with {type(error).__name__}")
            report.skip(f"the rest: it ended with {type(error).__name__}")
        finally:
            report.write(RESULTS)
    report.print_table()
    broken += [f"{row.area}, {row.name}: {row.value:g}, bar {row.bar}" for row in report.broken() if row.area in chosen]
    if broken:
        sys.exit("\n".join(f"broken: {what}" for what in broken))


if __name__ == "__main__":
    main()
