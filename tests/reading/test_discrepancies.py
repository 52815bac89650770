"""Sums and contradictions are found with their figures, and nothing is found where figures agree or may."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigpoint.reading.contradictions import find_discrepancies
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
    return list(find_discrepancies(facts, profile, statements, documents))


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
        "The school will have 1,200 pupils: 300 in the infants, 700 in years 3 to 9 and 200 in the sixth form.",
    ],
    ids=["adds up", "two cycles to a stand", "open list", "different things", "a part beside a range"],
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
            "A 3.0m wide shared-use path runs along the western side of the spine road.",
            "The shared footway and cycleway along the spine road is 2.5m wide, beside a verge of 2.0m.",
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


MODES = """Mode share targets

| Mode | Now | Year 5 |
|---|---|---|
| Walking | 20% | 22% |
| Cycling | 8% | {cycling}% |
| Bus | 12% | 14% |
| Car | 57% | 48% |
| Other | 3% | 3% |
"""


def test_mode_shares_must_make_the_whole_within_rounding() -> None:
    assert discrepancies(MODES.format(cycling=13)) == discrepancies(MODES.format(cycling=14)) == []
    (found,) = discrepancies(MODES.format(cycling=18))
    assert (found.kind, found.topic, found.computed) == ("sum", "travel_plan.target", 105)
    assert found.calculation == "22 + 18 + 14 + 48 + 3 = 105; the whole is 100"
    assert discrepancies(MODES.format(cycling=18) + "\nFigures may not sum owing to rounding.\n") == []


CONTRIBUTIONS = """Heads of terms

| Contribution | Amount |
|---|---|
| Bus service | £120,000 |
| Cycle route | £85,000 |
| Crossing | £40,000 |
| {total} | £{amount} |
"""


def test_a_table_of_money_is_added_up() -> None:
    assert discrepancies(CONTRIBUTIONS.format(total="Total", amount="245,000")) == []
    (found,) = discrepancies(CONTRIBUTIONS.format(total="Total", amount="235,000"))
    assert (found.topic, found.stated, found.computed) == ("offsite.contribution", 235_000, 245_000)


@pytest.mark.parametrize(
    ("total", "amount"),
    [("Total, highways only", "235,000"), ("Total", "90,000")],
    ids=["total of some rows", "no total of these rows"],
)
def test_a_total_that_may_be_of_other_rows_is_left_alone(total: str, amount: str) -> None:
    assert discrepancies(CONTRIBUTIONS.format(total=total, amount=amount)) == []


def test_a_subtotal_is_not_added_to_its_own_parts() -> None:
    table = """Cycle parking

| User | Now | Proposed |
|---|---|---|
| Residents, Block A | | 120 |
| Residents, Block B | | 96 |
| Residents, both | 180 | 216 |
| Visitors | 12 | 12 |
| Total | 192 | 228 |
"""
    assert discrepancies(table) == []


@pytest.mark.parametrize(
    ("text", "stated", "computed"),
    [
        ("Car parking has 74 standard bays, 5 accessible and 4 for car sharers, 86 bays in total.", 86, 83),
        ("There are 480 car parking spaces: 310 at Unit 1 and 180 at Units 2 and 3.", 480, 490),
        (
            "The hall measures 640 sqm of floorspace and the annex 690 sqm. The total is therefore 1,430 sqm.",
            1_430,
            1_330,
        ),
        ("The target is a reduction of 10 percentage points in car use, from 71 per cent to 64 per cent.", 10, 7),
        ("Sixty Sheffield stands give 150 cycle spaces.", 150, 120),
    ],
    ids=["total last", "total first", "total in the next sentence", "change", "stands"],
)
def test_sums_in_sentences_are_done_again(text: str, stated: float, computed: float) -> None:
    (found,) = discrepancies(text)
    assert (found.stated, found.computed) == (stated, computed)


@pytest.mark.parametrize(
    "text",
    [
        "Car parking has 74 standard bays, 5 accessible and 4 for car sharers, 83 bays in total.",
        "The car park has 86 bays in total, including 5 accessible bays and 4 bays for car sharers.",
        "There are twelve clusters of six rooms and twenty-four rooms in studios, making 96 rooms.",
        "Two parking spaces for each dwelling and a further space for visitors make five spaces in all.",
        "Car use falls by 7 percentage points, from 71 per cent to 64 per cent.",
        "Ten Sheffield stands and 20 two-tier racks provide 60 cycle spaces.",
        "Seven Sheffield stands (14 spaces) are on the footway.",
    ],
)
def test_sentences_that_add_up_or_count_other_things_are_left_alone(text: str) -> None:
    assert discrepancies(text) == []


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(min_value=30, max_value=500), min_size=2, max_size=6), st.integers(min_value=-9, max_value=9)
)
def test_a_column_is_reported_exactly_if_its_total_is_not_its_sum(rows: list[int], wrong: int) -> None:
    total = sum(rows) + wrong
    lines = "".join(f"| Group {'ABCDEF'[index]} | {value} |\n" for index, value in enumerate(rows))
    found = discrepancies(f"Cycle parking\n\n| Users | Spaces |\n|---|---|\n{lines}| Total | {total} |\n")
    rounding = abs(wrong) <= total * 0.001
    assert [(one.stated, one.computed) for one in found] == ([] if rounding or not wrong else [(total, sum(rows))])
