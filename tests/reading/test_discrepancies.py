"""Sums and contradictions are found with their figures, and nothing is found where figures agree or may."""

from __future__ import annotations

import pytest

from trigpoint.reading.arithmetic import check_sums
from trigpoint.reading.contradictions import find_contradictions
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import read_facts
from trigpoint.reading.profile import Application, read_profile
from trigpoint.reading.statements import document_statements


def discrepancies(*texts: str) -> list[Discrepancy]:
    documents = [Document(id=f"d{number}", name=f"{number}.pdf", text=text) for number, text in enumerate(texts)]
    statements = [one for document in documents for one in document_statements(document)]
    profile = read_profile(Application(), documents)
    facts = read_facts(statements, profile, documents)
    return [*check_sums(facts, statements), *find_contradictions(facts, profile)]


def test_parts_whose_shares_make_the_whole_must_make_the_total() -> None:
    (found,) = discrepancies(
        "The store has a total of 60 cycle spaces, including 40 (80%) two-tier cycle spaces and 10 (20%) Sheffield cycle spaces."
    )
    assert (found.kind, found.stated, found.computed) == ("sum", 60, 50)
    assert [one.value for one in found.inputs] == [60, 40, 10]
    assert found.calculation == "40 + 10 = 50; stated: 60"


@pytest.mark.parametrize(
    "text",
    [
        "The store has 60 cycle spaces, comprising 40 two-tier spaces and 20 spaces on the ground.",
        "The store has 60 cycle spaces, comprising 40 two-tier spaces and 10 Sheffield stands.",
        "The store has 60 cycle spaces, including 20 covered cycle spaces and 10 cycle spaces for visitors.",
        "The 24 homes have 48 cycle spaces and 30 car spaces.",
    ],
    ids=["adds up", "two cycles to a stand", "open list", "different things"],
)
def test_sums_that_add_up_or_may_are_left_alone(text: str) -> None:
    assert discrepancies(text) == []


def test_a_list_is_added_up_against_the_sentence_that_introduces_it() -> None:
    text = "The scheme provides 100 cycle parking spaces comprising:\n• 60 two-tier spaces;\n• 30 covered spaces.\n"
    (found,) = discrepancies(text)
    assert (found.stated, found.computed) == (100, 90)


def test_a_share_that_does_not_fit_its_count_is_found() -> None:
    text = "There are 80 cycle parking spaces comprising:\n• Two-tier spaces: 70 (87%)\n• Larger spaces: 10 (13%)\n"
    assert discrepancies(text) == []
    (found,) = discrepancies(text.replace("(13%)", "(5%)"))
    assert (found.kind, found.stated, found.computed) == ("percentage", 5, 12.5)


TABLE = """Cycle parking

| Use | Rate | Cycle spaces |
|---|---|---|
| Houses (152) | 2 per dwelling | {houses} |
| Flats (40) | 1 per dwelling | 40 |
| Total | | {total} |
"""


def test_a_tables_total_and_rates_are_checked() -> None:
    assert discrepancies(TABLE.format(houses=304, total=344)) == []
    (wrong_total,) = discrepancies(TABLE.format(houses=304, total=350))
    assert (wrong_total.kind, wrong_total.stated, wrong_total.computed) == ("sum", 350, 344)
    (wrong_rate,) = discrepancies(TABLE.format(houses=290, total=330))
    assert (wrong_rate.kind, wrong_rate.stated, wrong_rate.computed) == ("rate", 290, 304)


def test_two_documents_with_different_totals_are_found_once() -> None:
    first = "The scheme will provide 320 cycle parking spaces. In all, 320 cycle parking spaces are proposed."
    (found,) = discrepancies(first, "The development provides 307 cycle parking spaces.")
    assert found.kind == "figures_differ"
    assert [(one.value, one.source.document) for one in found.inputs] == [(320, "0.pdf"), (307, "1.pdf")]


@pytest.mark.parametrize(
    "other",
    [
        "Policy T5 requires 307 cycle parking spaces.",
        "This generates a requirement for 307 cycle parking spaces.",
        "The previous consent secured 307 cycle parking spaces.",
        "The highway authority asked for 307 cycle parking spaces.",
        "The neighbouring scheme will provide 307 cycle parking spaces.",
        "There are 307 existing cycle parking spaces on the street.",
        "Block B has 40 cycle parking spaces.",
        "An additional 40 cycle parking spaces are proposed.",
        "Commuters find 180 cycle parking spaces there.",
    ],
)
def test_policy_the_existing_parts_and_what_nobody_calls_the_total_are_not_compared(other: str) -> None:
    assert discrepancies("The scheme will provide 320 cycle parking spaces.", other) == []


def test_a_claim_of_compliance_next_to_an_admitted_shortfall_is_found() -> None:
    text = (
        "Cycle parking is provided in full accordance with the London Plan standards. "
        "It is proposed to provide 160 cycle parking spaces, which equates to 80% of the London Plan requirement."
    )
    (found,) = discrepancies(text)
    assert found.kind == "claim_against_shortfall"
    assert "full accordance" in found.inputs[0].words
    assert "80%" in found.inputs[1].words


@pytest.mark.parametrize(
    ("one", "other", "topic"),
    [
        (
            "A shared path 3.0m wide will be constructed along Mill Lane.",
            "A shared path with a width of 2.5m will be provided on Mill Lane.",
            "cycle_route.width",
        ),
        (
            "The nearest bus stop is located 380m from the site.",
            "The nearest bus stop is located 650m from the centre of the site.",
            "bus.stop_distance",
        ),
        (
            "Bicester North railway station is located 1.8km from the site.",
            "Bicester North station is located 2.6km to the east.",
            "rail.access",
        ),
        (
            "The development would generate 76 two-way vehicle trips in the AM peak.",
            "The development is forecast to generate 94 two-way vehicle trips in the morning peak.",
            "trips.forecast",
        ),
    ],
)
def test_one_thing_with_two_measures_is_found(one: str, other: str, topic: str) -> None:
    assert [found.topic for found in discrepancies(one, other)] == [topic]
    assert discrepancies(one, one) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "A shared path 3.0m wide will be built along Mill Lane.",
            "A footway 2.0m wide will be built along Mill Lane.",
        ),
        ("A shared path 3.0m wide will be built along Mill Lane.", "The shared path on Elm Road will be 2.5m wide."),
        ("A shared path 3.0m wide will be built along Mill Lane.", "Mill Lane has an existing shared path 1.8m wide."),
        ("The nearest bus stop is 380m away.", "The nearest bus stop is approximately 400m away."),
        ("Oakley station is 1.8km from the site.", "Marsh End station is 4km from the site."),
    ],
    ids=["another kind", "another road", "another status", "rounded", "another station"],
)
def test_measures_of_different_things_are_left_alone(one: str, other: str) -> None:
    assert discrepancies(one, other) == []


def test_a_rate_a_number_and_a_result_in_one_sentence_are_checked() -> None:
    text = "At 1 cycle space per 75 sqm, the 9,150 sqm of floorspace gives {} cycle spaces."
    assert discrepancies(text.format(122)) == []
    (found,) = discrepancies(text.format(112))
    assert (found.kind, found.stated, found.computed) == ("rate", 112, 122)


def test_a_share_of_homes_is_checked() -> None:
    text = "The scheme comprises 148 dwellings, of which 52 ({}%) would be affordable."
    assert discrepancies(text.format(35)) == []
    assert [found.kind for found in discrepancies(text.format(40))] == ["percentage"]
