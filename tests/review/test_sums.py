"""A finding is not met if its own calculation asks for more than it provides."""

from __future__ import annotations

import pytest
from review_samples import evidence_of_text

from trigpoint.review.findings import Citation, Finding, Outcome
from trigpoint.review.verify_figures import calculation_of, proposed_reasons
from trigpoint.review.verify_sums import shortfall_reasons

RATE = "For shops, one customer space per 40 sqm."


def _finding(text: str, quote: str, rate: str = RATE, outcome: Outcome = "met") -> Finding:
    cited = [
        Citation.model_validate(
            {
                "passage_id": words,
                "document_id": "d",
                "document": "d.pdf",
                "quote": words,
                "status": status,
                "pages": (1,),
            }
        )
        for words, status in ((quote, "proposed"), (rate, "policy"))
    ]
    sums = (calculation_of("648 / 40 = 16.2"),)
    return Finding(check="c", requirement="R", outcome=outcome, text=text, evidence=tuple(cited), calculations=sums)


def test_what_is_fewer_than_its_own_calculation_asks_for_is_not_met() -> None:
    given = _finding("There are 16 spaces; 648 sqm at one per 40 sqm comes to 16.2.", "Eight stands, or 16 spaces.")
    (reason,) = shortfall_reasons(given)
    assert reason.startswith("16 is fewer than the 16.2 of your own calculation (648 / 40 = 16.2)")


@pytest.mark.parametrize(
    ("text", "quote", "rate", "outcome"),
    [
        ("There are 17 spaces where 16.2 are asked for.", "17 spaces are provided.", RATE, "met"),
        (
            "There are 12 spaces and 8 spaces where 16.2 are asked for.",
            "12 spaces in front, 8 spaces behind.",
            RATE,
            "met",
        ),
        ("There are 16 spaces where 16.2 are asked for.", "16 spaces are provided.", RATE, "failed"),
        ("There are 16 spaces.", "16 spaces are provided.", "A maximum of one space per 40 sqm.", "met"),
        ("The 16 homes have a hall; 16.2 spaces are asked for.", "16 homes have a hall.", RATE, "met"),
    ],
)
def test_what_is_enough_or_not_comparable_is_left_alone(text: str, quote: str, rate: str, outcome: Outcome) -> None:
    assert shortfall_reasons(_finding(text, quote, rate, outcome)) == []


@pytest.mark.parametrize(
    ("asked", "sum_", "holds"),
    [
        ("Provide seven staff spaces", "648 / 100 = 6.48", True),
        ("Provide 7 staff spaces", "648 / 100 = 6.48", True),
        ("Provide 8 staff spaces", "648 / 100 = 6.48", False),
    ],
)
def test_a_number_that_was_worked_out_may_be_asked_for_rounded_up(asked: str, sum_: str, holds: bool) -> None:
    evidence = evidence_of_text("The proposed path will be lit.")
    assert (proposed_reasons(asked, ["648 sqm"], [calculation_of(sum_)], evidence) == []) is holds
