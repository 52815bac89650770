"""Figures that need no quotation of their own: dates and pages of the documents, rounding up, and what is proposed."""

from __future__ import annotations

import pytest
from review_samples import evidence_of_text

from trigpoint.review.verify_figures import calculation_of, figure_reasons, proposed_reasons, used_in

EVIDENCE = evidence_of_text("The county council wrote on 24 March 2026. The path is 2.5 m wide.\fItem 5 of the list.\n")
SOURCES = ["The path is 2.5 m wide.", "648 sqm at 1 per 100 sqm"]
SUM = calculation_of("648 / 100 = 6.48")


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("On 24 March 2026 the county council wrote.", True),
        ("On 25 March 2026 the county council wrote.", False),
        ("We did not find it on pages 1 and 2.", True),
        ("We did not find it on page 9.", False),
        ("Seven spaces are needed.", True),
        ("7 spaces are needed.", True),
        ("8 spaces are needed.", False),
        ("The path is 7 m wide.", False),
    ],
)
def test_dates_pages_and_what_is_rounded_up_have_their_source(text: str, holds: bool) -> None:
    assert (figure_reasons(text, SOURCES, (SUM,), EVIDENCE) == []) is holds


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("Monitoring shall be reported in years 1, 3 and 5.", True),
        ("Within 6 months seven spaces shall be provided.", True),
        ("A path of 4 m shall be provided.", False),
    ],
)
def test_years_of_monitoring_are_for_a_condition_to_propose(text: str, holds: bool) -> None:
    assert (proposed_reasons(text, SOURCES, (SUM,), EVIDENCE) == []) is holds


def test_of_several_sums_those_are_used_that_lead_to_a_figure_of_the_text() -> None:
    sums = ("100 + 20 = 120", "120 / 4 = 30", "7 + 7 = 14")
    assert used_in("There are 30 of them.", sums) == sums[:2]
    assert used_in("There are none.", sums) == ()


def test_the_number_in_a_policy_s_name_needs_no_page_that_has_it() -> None:
    elsewhere = evidence_of_text("1 Proposed\n\nA path is proposed.\n", without=("OCC_LTCP", "BICESTER_LCWIP"))
    assert not any("1/20" in passage.text for passage in elsewhere.policies.values())
    assert figure_reasons("LTN 1/20, section 8.3, has a presumption against access controls.", [], [], elsewhere) == []
    [reason] = figure_reasons("LTN 2/20 asks for it.", [], [], elsewhere)
    assert "2/20" in reason
