"""Figures of a model's findings next to their standard: only what the finding itself sets side by side."""

from __future__ import annotations

import pytest

from trigpoint.review.aspects import aspect
from trigpoint.review.assemble import assemble_review
from trigpoint.review.comparisons import comparison_of
from trigpoint.review.findings import Citation, Comparison, Finding, Outcome, PolicyCitation
from trigpoint.review.models import ReviewOptions
from trigpoint.review.result import AspectReview, Judgement
from trigpoint.review.verify_figures import calculation_of

REFUGE = "A refuge that cyclists use should be at least 3.0 m deep, so that it shelters a cycle with a trailer."


def finding(
    outcome: Outcome, text: str, *quotes: str, policy: str = "", sums: tuple[str, ...] = (), check: str = "x"
) -> Finding:
    """A finding whose quotations are on pages 1, 2 … of a Transport Assessment."""
    evidence = tuple(
        Citation(passage_id="p", document_id="d", document="Transport Assessment.pdf", pages=(page,), quote=quote)
        for page, quote in enumerate(quotes, 1)
    )
    cited = PolicyCitation(
        passage_id="p", source="LTN_1_20", revision_id="r", version_label="", section_ref="1", ref="1", quote=policy
    )
    return Finding(
        check=check,
        requirement="Asked",
        outcome=outcome,
        text=text,
        evidence=evidence,
        policy=(cited,) if policy else (),
        calculations=tuple(calculation_of(one) for one in sums),
    )


def drawn(comparison: Comparison | None) -> tuple[list[tuple[str, str]], str]:
    assert comparison is not None
    standard = f"{comparison.wanted or ''} {comparison.bound_shown}".strip()
    return [(one.label, one.shown) for one in comparison.measures], standard


def test_a_figure_is_held_against_the_bound_of_the_policy_that_its_sentence_names() -> None:
    text = "The refuge is 1.5m deep, half of the 3.0 m in LTN 1/20. The corner radius is 10m, against 4m at side roads."
    quotes = (
        "A refuge of 1.5m cannot shelter a cycle.",
        "The site access has a corner radius of 10m.",
        "Radii are 4m.",
    )
    assert drawn(comparison_of(finding("failed", text, *quotes, policy=REFUGE))) == (
        [("Transport Assessment, page 1", "1.5m")],
        "at least 3.0 m",
    )


def test_a_bound_without_its_unit_in_the_text_is_known_from_the_policy() -> None:
    text = "At 6,840 vehicles a day the road carries more than the 4,000 for which the crossing is suitable."
    made = finding(
        "failed", text, "A flow of 6,840 vehicles a day.", policy="light traffic, up to about 4,000 vehicles a day"
    )
    assert drawn(comparison_of(made))[1] == "at most 4,000 vehicles a day"


def test_a_share_that_was_worked_out_is_held_against_the_share_that_is_asked() -> None:
    text = "Only 7 of 488 spaces, about 1.4 per cent, are for larger cycles, against 5% in LTN 1/20."
    made = finding(
        "failed", text, "144 spaces, 7 of them for larger cycles.", policy="typically 5%", sums=("7 / 488 * 100 = 1.4",)
    )
    assert drawn(comparison_of(made)) == ([("Worked out", "1.4 per cent")], "at least 5%")


def test_how_far_a_figure_is_off_is_not_drawn_as_a_figure() -> None:
    text = "The route narrows to 2.6 m, 0.4 m less than the 3.0 m of LTN 1/20."
    made = finding("failed", text, "It draws in to 2.6 m.", policy="at least 3.0 m", sums=("3.0 - 2.6 = 0.4",))
    measures, standard = drawn(comparison_of(made))
    assert [shown for _, shown in measures] == ["2.6 m"]
    assert standard.endswith("3.0 m")


def test_the_bound_of_the_question_is_used_and_a_verge_is_no_route() -> None:
    made = finding(
        "contradicted",
        "The route is 3.0m wide in one place, but 2.5m in the other.",
        "A 3.0m wide route runs along the street for 640m.",
        "The route is 2.5m wide, beside a verge of 2.0m.",
    )
    assert drawn(comparison_of(made, aspect("cycle_routes").check("width"))) == (
        [("Transport Assessment, page 1", "3.0m"), ("Transport Assessment, page 2", "2.5m")],
        "at least 3.0 m",
    )


def test_a_contradiction_shows_both_figures() -> None:
    text = "The plan aims at 10 per cent of trips; the assessment says that the target is 7 per cent."
    made = finding("contradicted", text, "The target is that 10 per cent of trips are made by bicycle.", "7 per cent.")
    measures, standard = drawn(comparison_of(made))
    assert [shown for _, shown in measures] == ["10 per cent of trips", "7 per cent"]
    assert standard == ""


def test_a_sum_shows_what_is_stated_and_what_was_worked_out() -> None:
    made = finding(
        "contradicted",
        "144 spaces are stated, but 127 and 7 make 134; 10 spaces are unexplained.",
        "144 spaces including 127 spaces in racks and 7 spaces on stands.",
        sums=("127 + 7 = 134", "144 - 134 = 10"),
    )
    assert drawn(comparison_of(made))[0] == [("Stated", "144"), ("Worked out", "134")]


@pytest.mark.parametrize(
    "made",
    [
        finding(
            "partly", "Only Route C, at 76%, passes the test of 70%.", "Route C scores 76%.", policy="at least 70%"
        ),
        finding("met", "The refuge of 1.5m is near 3.0 m.", "A refuge of 1.5m.", policy=REFUGE),
        finding(
            "failed", "Houses get 2 spaces, against 1 space per bedroom.", "2 spaces.", policy="1 space per bedroom"
        ),
        finding("failed", "The refuge is 1.5m deep. LTN 1/20 asks for 3.0 m.", "A refuge of 1.5m.", policy=REFUGE),
        finding("contradicted", "144 and 7 spaces are named.", "144 spaces, 7 spaces for larger cycles."),
        finding("failed", "The path is 2.5m wide.", "The path is 3m wide.", policy="at least 2.5m"),
        finding("failed", "Nothing is said in figures.", "No route is provided."),
    ],
    ids=["not the outcome", "not met", "other units", "two sentences", "one place", "not stated", "no figures"],
)
def test_what_is_not_certain_is_not_compared(made: Finding) -> None:
    assert comparison_of(made) is None


def test_a_review_by_a_model_has_its_figures_compared_and_those_of_the_rules_stay() -> None:
    text = "The refuge is 1.5m deep, half of the 3.0 m in LTN 1/20."
    judged = finding("failed", text, "A refuge of 1.5m.", policy=REFUGE, check="junctions-geometry-f1")
    own = Comparison(measures=(), bound=1, bound_shown="1 m")
    ruled = judged.model_copy(update={"comparison": own, "check": "geometry"})
    area = AspectReview(
        id="junctions", name="Junctions", rating="red", key_issue="The refuge", findings=(judged, ruled)
    )
    judgement = Judgement(aspects=(area,), contradictions=(judged,), analyser="llm", model="test")
    body = assemble_review(judgement, ReviewOptions())
    first, second = body.aspects[0].findings
    assert drawn(first.comparison) == ([("Transport Assessment, page 1", "1.5m")], "at least 3.0 m")
    assert second.comparison == own
    assert drawn(body.contradictions[0].comparison)[1] == "at least 3.0 m"


WIDTHS = "The Planning Statement gives the cycle track as 3.0 m wide, Table 4.1 of the Transport Assessment as 2.5 m."


def test_a_figure_in_a_table_row_has_the_unit_of_the_sentence_that_names_it() -> None:
    quotes = ("A 3.0 m wide two-way cycle track.", "Cycle track, two-way | 2.5", "We shall require 3.0 m.")
    found = comparison_of(finding("contradicted", WIDTHS, *quotes), aspect("cycle_routes").check("width"))
    assert drawn(found)[0] == [
        ("Transport Assessment, page 1", "3.0 m"),
        ("Transport Assessment, page 3", "3.0 m"),
        ("Transport Assessment, page 2", "2.5 m"),
    ]


def test_a_number_of_a_row_that_no_sentence_names_is_not_drawn() -> None:
    quotes = ("A 3.0 m wide two-way cycle track.", "Cycle track | 2.5", "Verge | 2.0")
    found = comparison_of(finding("contradicted", WIDTHS, *quotes), aspect("cycle_routes").check("width"))
    assert [shown for _, shown in drawn(found)[0]] == ["3.0 m", "2.5 m"]


def test_a_contradiction_whose_figures_agree_is_not_drawn() -> None:
    quotes = ("A 3.0 m wide two-way cycle track.", "The track is narrow.", "We shall require 3.0 m.")
    assert comparison_of(finding("contradicted", WIDTHS, *quotes), aspect("cycle_routes").check("width")) is None


def test_a_standard_that_a_document_quotes_is_not_drawn_as_a_figure_of_the_scheme() -> None:
    told = finding("failed", "The path is 2.5 m wide, below 3.0 m.", "It will be 2.5 m wide.", "LTN 1/20 has 3.0 m.")
    own, standard = told.evidence
    quoted = told.model_copy(update={"evidence": (own, standard.model_copy(update={"status": "policy"}))})
    compared = comparison_of(quoted, aspect("cycle_routes").check("width"))
    assert drawn(compared)[0] == [("Transport Assessment, page 1", "2.5 m")]


def test_whoever_denies_a_figure_is_not_drawn_as_giving_it() -> None:
    text = "One page has a limit of 30 mph, another has 40 mph, and the county does not promote 30 mph."
    quotes = ("A 30 mph limit.", "The limit stays at 40 mph.", "The County would not promote a 30 mph limit.")
    assert [label for label, _ in drawn(comparison_of(finding("contradicted", text, *quotes)))[0]] == [
        "Transport Assessment, page 1",
        "Transport Assessment, page 2",
    ]


def test_a_million_is_written_out() -> None:
    text = "The sum of £1,035,000 should be £1,150,000, which is £115,000 more."
    sums = ("230000 * 5 = 1150000", "1150000 - 1035000 = 115000")
    told = finding("contradicted", text, "£1,035,000, being £230,000 a year for five years", sums=sums)
    assert drawn(comparison_of(told))[0] == [("Stated", "1,035,000"), ("Worked out", "1,150,000")]


def test_a_sum_that_is_stated_as_well_is_not_drawn_as_what_a_figure_should_be() -> None:
    text = "The text has 80,179 sqm of offices, while the parts of the table make 80,179 and offices are 74,753 of it."
    quotes = ("80,179 sqm of offices", "Offices | 74,753", "Shops | 5,426")
    sums = ("74753 + 5426 = 80179", "80179 - 74753 = 5426")
    assert comparison_of(finding("contradicted", text, *quotes, sums=sums)) is None


def test_a_share_is_not_set_against_the_sum_of_shares() -> None:
    text = "9 of 65 are given as 15%, and the shares add up to 101%."
    told = finding("contradicted", text, "9 of 65 (15%)", sums=("11 + 14 + 5 + 71 = 101",))
    assert comparison_of(told) is None


def test_a_length_is_not_held_against_the_bound_of_a_width() -> None:
    text = "The path of 1,160 m stays below the 3.0 m that LTN 1/20 asks for."
    wide = "A shared path should be 3.0 m wide."
    assert comparison_of(finding("failed", text, "The path is 1,160 m long.", policy=wide)) is None
