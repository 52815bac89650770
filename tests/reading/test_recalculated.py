"""Products, shares, rises in per cent and tables without a total are calculated again; figures that fit are left alone."""

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
        "We aim to reduce single-occupancy driving by 12 percentage points, and to increase cycling from 3% to 8%.",
    ],
    ids=["share", "rise", "time", "rate", "rate of a part", "two changes"],
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


def test_a_table_of_floor_areas_in_a_chapter_on_cycle_parking_counts_no_spaces() -> None:
    areas = "# Cycle parking\n\nTable 2 Shops\n\n| Unit | Area (sqm GIA) |\n|---|---|\n| Unit 1 | 300 |\n| Unit 2 | 120 |\n| All units | 420 |\n"
    assert between("The scheme provides 102 cycle spaces in total.", areas) == []
