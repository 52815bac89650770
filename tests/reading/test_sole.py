"""What is said only once in each of two documents is compared, by the thing named nearest; where a document says two things, nothing is."""

from __future__ import annotations

import pytest

from trigpoint.reading.contradictions import find_discrepancies
from trigpoint.reading.discrepancies import Discrepancy
from trigpoint.reading.documents import Document
from trigpoint.reading.facts import read_facts
from trigpoint.reading.profile import Application, read_profile
from trigpoint.reading.statements import document_statements


def between(one: str, other: str, title: str = "Transport Assessment") -> list[Discrepancy]:
    read = [
        Document(id=name, name=f"{name}.pdf", text=text) for name, text in (("Planning Statement", one), (title, other))
    ]
    statements = [each for document in read for each in document_statements(document)]
    profile = read_profile(Application(), read)
    return list(find_discrepancies(read_facts(statements, profile, read), profile, statements, read))


def values(found: list[Discrepancy]) -> list[set[float | None]]:
    return [{one.value for one in each.inputs} for each in found]


@pytest.mark.parametrize(
    ("one", "other", "figures"),
    [
        (
            "A path three metres wide, shared by walkers and cyclists, will be laid beside the new road.",
            "The spine road will be 5.5 m wide with a 2.5 m shared footway/cycleway on its eastern side.",
            {3.0, 2.5},
        ),
        (
            "The station can be reached on foot and is only 450 metres off.",
            "Trains leave from the railway station, which lies 900 metres to the south.",
            {450.0, 900.0},
        ),
        (
            "A bus every fifteen minutes passes the site.",
            "The site is served by an hourly bus to the town.",
            {4.0, 1.0},
        ),
        (
            "Cyclists will have the use of three showers.",
            "Five showers and a drying room are provided for staff.",
            {3.0, 5.0},
        ),
        (
            "The Travel Plan aims to bring driving alone down to 55% within five years.",
            "The target is for 60% of staff to be driving alone by the fifth year.",
            {55.0, 60.0},
        ),
    ],
    ids=["width", "station", "buses", "showers", "target"],
)
def test_the_only_figures_of_a_kind_in_two_documents_are_compared(one: str, other: str, figures: set[float]) -> None:
    assert figures in values(between(one, other))
    assert between(one, one) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "A path three metres wide will be laid beside the new road.",
            "A path 2.5 m wide leads to the pond. The path along the frontage will be 3.5 m wide.",
        ),
        ("The path will be three metres wide.", "The County asks for a path 3.5 m wide."),
        ("The path will be three metres wide.", "The carriageway of the new street will be 4.8 m wide."),
        ("The school is 450 metres away.", "The railway station is 900 metres away."),
        ("The path will be three metres wide.", "The existing path is 1.5 m wide and narrows to one metre."),
    ],
    ids=["two paths", "asked for", "another thing", "another place", "existing"],
)
def test_figures_that_may_be_of_two_things_are_left_alone(one: str, other: str) -> None:
    assert between(one, other) == []


def test_an_addendum_changes_a_figure_and_does_not_contradict_it() -> None:
    one, other = "The path will be three metres wide.", "The path will be 2.5 m wide."
    assert len(between(one, other)) == 1
    assert between(one, other, "Transport Addendum") == []


def test_a_technical_note_may_be_the_only_transport_document_of_a_scheme() -> None:
    one, other = "The access will be 5.5 metres wide.", "# Technical Note TN01\n\nThe access will be 4.8 m wide."
    assert values(between(one, other, "Transport Note")) == [{5.5, 4.8}]


@pytest.mark.parametrize(
    ("one", "other", "topic"),
    [
        ("A toucan crossing will be built.", "A zebra crossing will be built by the applicant.", "junction.crossing"),
        (
            "Bicycles will be kept in a secure store in the basement.",
            "A secure cycle store will be provided at street level for residents.",
            "cycle_parking.quality",
        ),
        (
            "A Travel Plan Coordinator will be appointed three months before first occupation.",
            "The Travel Plan Coordinator will be appointed upon occupation of the 50th dwelling.",
            "travel_plan.coordinator",
        ),
        (
            "The Travel Plan will be monitored annually for five years.",
            "Travel Plan monitoring surveys will take place in years 1, 3 and 5.",
            "travel_plan.monitoring",
        ),
    ],
    ids=["crossing", "store", "coordinator", "monitoring"],
)
def test_words_that_exclude_each_other_are_a_contradiction(one: str, other: str, topic: str) -> None:
    assert [(each.kind, each.topic) for each in between(one, other)] == [("words_differ", topic)]
    assert between(one, one) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A toucan crossing will be built.", "A zebra crossing was considered and rejected."),
        ("A toucan crossing will be built.", "A toucan crossing and a zebra crossing will be built."),
        ("Bicycles will be kept in the basement.", "Cars are parked at street level."),
    ],
    ids=["ruled out", "both", "another thing"],
)
def test_words_that_may_both_be_true_are_left_alone(one: str, other: str) -> None:
    assert between(one, other) == []


@pytest.mark.parametrize(
    ("text", "kind", "stated", "computed"),
    [
        ("The travel survey brought 300 replies from a staff of 4,000, a response rate of 15%.", "percentage", 15, 7.5),
        ("The number of cycle spaces rises from 40 to 50, an increase of 35 per cent.", "percentage", 35, 25),
        ("The station is 8 km away; at 16 km/h it can be cycled in 20 minutes.", "rate", 20, 30),
        (
            "The scheme has 200 bedrooms. Trips are forecast at 0.2 vehicles per bedroom, or 70 vehicles a day.",
            "rate",
            70,
            40,
        ),
    ],
    ids=["share", "rise", "time", "rate"],
)
def test_a_product_or_quotient_that_does_not_fit_its_figures_is_found(
    text: str, kind: str, stated: float, computed: float
) -> None:
    (found,) = between(text, "The site is in the town.")
    assert (found.kind, found.stated, found.computed) == (kind, stated, computed)


@pytest.mark.parametrize(
    "text",
    [
        "The travel survey brought 300 replies from a staff of 4,000, a response rate of 7.5%.",
        "The number of cycle spaces rises from 40 to 50, an increase of 25 per cent.",
        "The station is 8 km away; at 16 km/h it can be cycled in 30 minutes.",
        "The scheme has 200 bedrooms. Trips are forecast at 0.2 vehicles per bedroom, or 40 vehicles a day.",
        "The scheme has 200 bedrooms and the hotel 350 bedrooms. Trips are forecast at 0.2 vehicles per bedroom, or 70 vehicles.",
    ],
    ids=["share", "rise", "time", "rate", "rate of a part"],
)
def test_products_and_quotients_that_fit_are_left_alone(text: str) -> None:
    assert between(text, "The site is in the town.") == []


TABLE = """Cycle parking

| User | Spaces |
|---|---|
| Residents | 60 |
| Staff | 24 |
| Visitors | 12 |
"""


def test_a_table_without_a_total_is_added_up_against_the_total_in_a_sentence() -> None:
    (found,) = between("The scheme provides 102 cycle spaces.", TABLE)
    assert (found.kind, found.stated, found.computed) == ("sum", 102, 96)


@pytest.mark.parametrize(
    "text",
    [
        "The scheme provides 96 cycle spaces.",
        "The scheme provides 300 cycle spaces.",
        "The scheme provides 102 car spaces.",
        "The standard requires 102 cycle spaces.",
    ],
    ids=["adds up", "far apart", "another thing", "asked for"],
)
def test_a_table_without_a_total_is_not_compared_with_other_figures(text: str) -> None:
    assert between(text, TABLE) == []
