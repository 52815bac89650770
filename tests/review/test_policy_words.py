"""The words of policy next to a finding are those that ask for it: a row for the use that is built, or none."""

from __future__ import annotations

import pytest
from benchmarks.policy_words import score, section

from trigpoint.land_uses import Use
from trigpoint.reading.profile import Profile, UseSize
from trigpoint.review.policy_words import fitting_words, passage_shown, policy_units, unwrapped


@pytest.mark.parametrize(
    ("use", "row"),
    [
        ("dwellings", "Residential, all except"),
        ("care_home", "Residential, sheltered"),
        ("office", "Employment, offices"),
        ("storage", "Employment, industry"),
        ("school", "Educational"),
    ],
)
def test_the_row_of_a_table_is_that_of_the_use_that_is_built(use: Use, row: str) -> None:
    table = section("LTN_1_20", "Table 11-1")
    words = fitting_words(table, "There are 40 long-stay cycle spaces.", Profile(uses=(UseSize(use=use),)))
    assert words.startswith(row)
    assert words in table.text


def test_a_section_that_does_not_speak_of_the_point_is_cited_without_words() -> None:
    assert fitting_words(section("NPPF", "Para 114"), "The cycle store is 0.75 m wide.", Profile()) == ""


def test_a_long_paragraph_is_read_clause_by_clause() -> None:
    units = policy_units(section("NPPF", "Para 115").text)
    assert "(b) safe and suitable access to the site can be achieved for all users;" in units


@pytest.mark.parametrize(("half", "fewest", "most_wrong"), [("first", 20, 0), ("second", 14, 1)])
def test_the_measured_choice_does_not_get_worse(half: str, fewest: int, most_wrong: int) -> None:
    right, wrong, _, missed = score(half)
    assert right >= fewest, missed
    assert wrong <= most_wrong, missed


def test_lines_that_a_page_has_broken_are_put_together_and_headings_stay_apart() -> None:
    printed = (
        "Table 11-1: Suggested cycle parking for different types of\n"
        "use\n"
        "Residential, all except nursing homes: long stay 1 space per\n"
        "bedroom.\n"
        "Retail, small: short stay 1 per 100 m2.\n"
        "Leisure and institutions, hospitals: short stay at the\n"
        "greater of 1 per 50 m2 or 1 per 30 seats.\n"
    )
    assert unwrapped(printed) == [
        "Table 11-1: Suggested cycle parking for different types of use",
        "Residential, all except nursing homes: long stay 1 space per bedroom.",
        "Retail, small: short stay 1 per 100 m2.",
        "Leisure and institutions, hospitals: short stay at the greater of 1 per 50 m2 or 1 per 30 seats.",
    ]


def test_a_second_reader_is_shown_every_row_that_is_quoted() -> None:
    table = section("LTN_1_20", "Table 11-1")
    quoted = ["short stay 1 per 250 m2", "long stay 1 per 5 employees"]
    shown = passage_shown(table, "cycle parking", Profile(), 1_200, quoted)
    assert shown.startswith("[Table 11-1")
    assert "Retail, large" in shown
    assert "Leisure" in shown
    assert "Educational" not in shown
