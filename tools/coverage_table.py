"""Prints the files that tests cover least, out of coverage.py's JSON report. Run by `make coverage`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

SHOWN = 25


def main() -> None:
    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    rows = sorted(
        (one["summary"]["percent_covered"], one["summary"]["missing_lines"], name)
        for name, one in report["files"].items()
    )
    for percent, missing, name in rows[:SHOWN]:
        print(f"{percent:5.1f} %  {missing:4} lines not run  {name}")
    print(f"{report['totals']['percent_covered']:5.1f} %  of all lines")


if __name__ == "__main__":
    main()
