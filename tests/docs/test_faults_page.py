"""The fault matrix in the docs has a row for every test that takes something away, and no other."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))

import faults


def test_the_page_has_a_row_for_every_fault_test() -> None:
    declared = sorted(row["test"] for row in faults.collected(run=False))
    assert len(declared) > 20
    assert sorted(faults.tests_on_page(faults.PAGE.read_text())) == declared, "run: python tools/faults.py --names"
