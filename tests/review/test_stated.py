"""Figures of a claim: true ones are recognised however they are written, false ones of the same kind are refused."""

from __future__ import annotations

import pytest
from review_samples import evidence_of_text

from trigpoint.review.verify_figures import calculation_of, calculation_reasons, figure_reasons

PAGE = (
    "5.2 Cycling\n\nNational Cycle Route 51 runs along the A4421. NPPF paragraph 115 and Table 11-1 apply. "
    "The homes meet M4(2). Bus 26 calls at Mill Lane. The survey was made on 12 March 2025. "
    "It is drawn on GD-100 and on drawing 1234-P-05.\n"
)


def wrong(claim: str, *quoted: str, calculations: tuple[str, ...] = ()) -> list[str]:
    made = [calculation_of(one) for one in calculations]
    return figure_reasons(claim, quoted, made, evidence_of_text(PAGE))


@pytest.mark.parametrize(
    ("claim", "quoted", "false_claim"),
    [
        ("1,840 trips are forecast", "1840 trips a day", "840 trips are forecast"),
        ("1840 trips are forecast", "1,840 trips a day", "840 trips are forecast"),
        ("1,840 trips are forecast", "1 840 trips a day", "840 trips are forecast"),
        ("1,840 trips are forecast", "1\u00a0840 trips a day", "840 trips are forecast"),
        ("340 cars and 12 cycles", "Surveyed 12 340 25", "12,340 cars"),
        ("9 homes are proposed", "nine homes", "19 homes are proposed"),
        ("nine homes are proposed", "9 dwellings", "twelve homes are proposed"),
        ("a quarter of trips are by bicycle", "25% of trips", "a third of trips are by bicycle"),
        ("25% of trips are by bicycle", "a quarter of all trips", "20% of trips are by bicycle"),
        ("a third of trips are by car", "33% of trips", "a third of trips are by car, and half of staff drive"),
        ("67% of staff drive", "two-thirds of staff", "76% of staff drive"),
        ("80% of the requirement", "a factor of 0.8", "8% of the requirement"),
        ("100 per cent of homes have a charger", "all homes will have a charger", "90 per cent of homes have one"),
        ("0 visitor spaces are proposed", "no visitor spaces", "4 visitor spaces are proposed"),
        ("30 to 40 minutes on foot", "a walk of 30–40 minutes", "30 to 50 minutes on foot"),
        ("400 m from the stop", "0.4 km from the stop", "4 m from the stop"),
        ("about 1,800 vehicles", "1,840 vehicles", "about 2,500 vehicles"),
        ("a bus every 20 minutes", "three buses an hour", "a bus every 10 minutes"),
        ("£1.2m is offered", "a contribution of £1,200,000", "£2.1m is offered"),
        ("paragraphs 115 and 116 apply", "116 homes", "paragraphs 115 and 999 apply"),
        ("NPPF para.115 applies", "policy", "NPPF para.915 applies"),
        ("LTN 1/20, Table 11-1 applies", "policy", "LTN 1/20, Table 91-1 applies"),
        ("section 5.2 says so", "policy", "section 7.2 says so"),
        ("Route 51 is not reached", "the path", "Route 5 is not reached"),
        ("the A4421 is not crossed", "the path", "the A442 is not crossed"),
        ("homes to M4(2)", "homes", "homes to M4(3)"),
        ("Bus 26 calls there", "a bus", "Bus 27 calls there"),
        ("surveyed in March 2025", "the survey", "surveyed in March 2019"),
        ("GD-100 shows the path", "the path", "GD-101 shows the path"),
        ("drawing no. 1234-P-05 shows it", "the path", "drawing 1234-P-06 shows it"),
        ("the A4421/M4(2) homes", "the path", "the A4422/M4(2) homes"),
        ("they add up to 95%, not 100%", "95% of trips", "they add up to 95%, and 100% of them are lit"),
        ("95% and not the whole 100%", "95% of trips", "the full 100% of them, where 95% is asked for"),
        ("it has 4 stands rather than 6", "4 stands", "it has 6 stands rather than 4"),
        ("half of the stands are covered", "50% of the stands", "half of the stands are covered, a quarter of racks"),
        ("20 of 40 stands, half of them", "20 covered stands and 40 stands", "20 of 40 stands, a third of them"),
        ("the 2nd floor", "on the second floor", "the 3rd floor"),
    ],
)  # fmt: skip
def test_a_true_figure_is_recognised_however_it_is_written_and_a_false_one_is_not(
    claim: str, quoted: str, false_claim: str
) -> None:
    assert wrong(claim, quoted) == []
    assert wrong(false_claim, quoted) != []


def test_a_figure_that_begins_a_sentence_is_checked_as_a_whole() -> None:
    """ "At 2" is on the page; that must not make a name of "At 2.9 m"."""
    assert wrong("At 2.9 m it is narrow", "At 2.5 m it is narrow") != []


def test_a_share_is_not_read_out_of_a_measure() -> None:
    assert wrong("80% of the path is lit", "a verge of 0.8 m") != []


def test_a_share_in_words_may_be_a_result() -> None:
    assert wrong("A third of staff drive", "20 of the 60 staff drive", calculations=("20 / 60 = 0.333",)) == []
    assert wrong("Half of staff drive", "20 of the 60 staff drive", calculations=("20 / 60 = 0.333",)) != []


def test_a_reference_proves_no_figure() -> None:
    assert wrong("0 visitor spaces are proposed", "GD-100 shows the path") != []
    assert wrong("100 visitor spaces are proposed", "GD-100 shows the path") != []


def test_a_result_may_be_rounded_and_told_per_cent() -> None:
    assert wrong("That is 23.6% of them", "212 of 900 homes", calculations=("212 / 900 = 0.2356",)) == []
    assert wrong("That is 26.3% of them", "212 of 900 homes", calculations=("212 / 900 = 0.2356",)) != []


def test_a_calculation_may_use_a_share_as_a_fraction_and_nothing_else() -> None:
    assert calculation_reasons([calculation_of("0.8 * 250 = 200")], ["80% of 250 homes"]) == []
    assert calculation_reasons([calculation_of("0.7 * 250 = 175")], ["80% of 250 homes"]) != []
