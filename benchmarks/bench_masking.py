"""How much personal data of the public survives masking, and how much is masked that should stay."""

from __future__ import annotations

from benchmarks.masking_score import score
from benchmarks.report import Report
from trigpoint.review.people import without_people


def run(report: Report) -> None:
    for half, what in (("first", "used to build"), ("second", "held out")):
        found = score(half, without_people)
        report.row(f"personal items masked, {what}", found.recall, "", note=f"{found.personal} items")
        report.row(f"over-masked, {what}", found.over_masked, "", note=f"{found.kept} things that stay")
