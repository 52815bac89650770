"""Quantities are read as a reader reads them, and what is printed is read back as the same quantity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.reading.counts import read_counts
from trigpoint.reading.numerals import number_in_words, take_number
from trigpoint.reading.quantities import read_quantities
from trigpoint.reading.quantity import Limit, Quantity
from trigpoint.reading.tokens import Cursor, tokenise


def read(text: str) -> list[tuple[object, ...]]:
    return [(one.value, one.unit, one.per, one.per_count) for one in read_quantities(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one space per five dwellings", [(1, "space", "dwelling", 5)]),
        ("a space for each bedroom", [(1, "space", "bedroom", 1)]),
        ("1,600 long-stay cycle parking spaces", [(1600, "cycle space", None, 1)]),
        ("1 space per 150 sqm", [(1, "space", "m2", 150)]),
        ("two thirds of trips", [(66.6667, "%", None, 1)]),
        ("80% of the requirement", [(80, "%", None, 1)]),
        ("buses run every 20 minutes", [(3, "service", "hour", 1)]),
        ("half-hourly, none on Sundays", [(2, "service", "hour", 1), (0, "service", "hour", 1)]),
        ("two buses an hour", [(2, "service", "hour", 1)]),
        ("4,850 vehicles per day", [(4850, "vehicle", "day", 1)]),
        ("£1.2m and £1,333.60 per dwelling", [(1200000, "pound", None, 1), (1333.6, "pound", "dwelling", 1)]),
        ("a ramp of 1 in 20", [(1, "gradient", "unit", 20)]),
        ("a ratio of 1:20", [(1, "ratio", "unit", 20)]),
        ("400 yards, six feet and 3 miles", [(400, "yard", None, 1), (6, "foot", None, 1), (3, "mile", None, 1)]),
        ("one hundred and forty-four spaces", [(144, "space", None, 1)]),
        ("63 covered scooter and cycle spaces", [(63, "cycle space", None, 1)]),
        ("12 x 2 bed", [(12, "dwelling", None, 1)]),
        ("a 60 bed care home", [(60, "bed", None, 1)]),
    ],
)
def test_a_quantity_is_read_with_its_unit_and_basis(text: str, expected: list[tuple[object, ...]]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "limit", "low", "high"),
    [
        ("up to 180 dwellings", "at most", 180, None),
        ("no less than 2 m", "at least", 2, None),
        ("a minimum of 3.0 metres", "at least", 3, None),
        ("the path reduces to 1.5m", "reduces to", 1.5, None),
        ("approximately 2.3–2.5km", "about", 2.3, 2.5),
        ("between 1.2 and 3.0 metres", "exactly", 1.2, 3),
        ("1.2m to 3.0m wide", "exactly", 1.2, 3),
        ("in excess of 40 spaces", "more than", 40, None),
    ],
)
def test_limits_and_ranges_are_kept(text: str, limit: str, low: float, high: float | None) -> None:
    (one,) = read_quantities(text)
    assert (one.limit, one.value, one.high) == (limit, low, high)


@pytest.mark.parametrize(
    "text",
    ["Policy 5 applies", "LTN 1/20 Table 11-1", "the A120 roundabout", "UTT/25/3011/OP", "a two-way street", "in 2025"],
)
def test_a_number_in_a_name_is_no_quantity(text: str) -> None:
    assert read(text) == []


def test_a_count_keeps_the_share_in_brackets() -> None:
    assert read("127 (95%) two-tier and 7 (5%) Sheffield stands") == [
        (127, "", None, 1),
        (95, "%", None, 1),
        (7, "cycle stand", None, 1),
        (5, "%", None, 1),
    ]


def test_offsets_lead_back_to_the_words() -> None:
    text = "The store has 24 secure cycle spaces."
    (one,) = read_quantities(text)
    assert text[one.start : one.end] == "24 secure cycle spaces"


@given(st.integers(min_value=0, max_value=999_999))
def test_a_number_in_words_is_read_back(value: int) -> None:
    tokens = tokenise(number_in_words(value))
    cursor = Cursor(tokens)
    assert take_number(cursor) == value
    assert cursor.at == len(tokens)


limits: st.SearchStrategy[Limit] = st.sampled_from(
    ["exactly", "about", "at least", "at most", "more than", "less than", "reduces to"]
)
values = st.integers(min_value=1, max_value=10_000_000).map(lambda value: value / 100)
measures = st.sampled_from(["m", "km", "mile", "yard", "foot", "m2", "ha", "mph", "minute", "year", "%"])
nouns = st.sampled_from(["space", "dwelling", "tree", "shower", "locker", "pupil", "trip", "storey", "vehicle"])
bases = st.sampled_from(["dwelling", "bedroom", "pupil", "employee", "m2", "hour", "day"])


@st.composite
def measured(draw: st.DrawFn) -> Quantity:
    low = draw(values)
    high = draw(st.none() | values)
    return Quantity(
        value=low,
        high=high if high is not None and high > low else None,
        unit=draw(measures),
        limit=draw(limits),
    )


@st.composite
def rates(draw: st.DrawFn) -> Quantity:
    return Quantity(
        value=float(draw(st.integers(min_value=1, max_value=5_000))),
        unit=draw(nouns),
        limit=draw(limits),
        per=draw(bases),
        per_count=float(draw(st.integers(min_value=1, max_value=500))),
    )


@st.composite
def sums_of_money(draw: st.DrawFn) -> Quantity:
    return Quantity(value=draw(values), unit="pound", limit=draw(limits), per=draw(st.none() | st.just("dwelling")))


@given(measured() | rates() | sums_of_money())
def test_what_is_printed_is_read_back_as_the_same(quantity: Quantity) -> None:
    (found,) = read_quantities(f"It is {quantity}.")
    assert found.model_copy(update={"start": 0, "end": 0}) == quantity


@given(st.text(max_size=200))
def test_no_text_breaks_the_grammar(text: str) -> None:
    for one in read_quantities(text):
        assert 0 <= one.start < one.end <= len(text)


@given(st.integers(min_value=1, max_value=999), st.sampled_from([("half", 0.5), ("quarter", 0.25), ("third", 1 / 3)]))
def test_a_number_and_a_half_in_words_is_read(value: int, part: tuple[str, float]) -> None:
    (one,) = read_quantities(f"It is {number_in_words(value)} and a {part[0]} metres wide.")
    assert (one.value, one.unit) == (value + part[1], "m")


@given(st.lists(st.integers(min_value=2, max_value=999), min_size=1, max_size=6))
def test_every_count_of_a_list_is_read_although_its_noun_is_left_out(values: list[int]) -> None:
    text = f"There are {', '.join(f'{value} for group' for value in values)} in the store."
    assert [one.value for one in read_counts(text)] == values


@pytest.mark.parametrize(
    "text", ["Units 2 and 3 are let.", "Gates close at 23:00.", "It was built in 1971.", "A two-way road."]
)
def test_names_times_years_and_compounds_are_no_counts(text: str) -> None:
    assert read_counts(text) == ()


@given(st.text(max_size=200))
def test_no_text_breaks_the_counts(text: str) -> None:
    for one in read_counts(text):
        assert 0 <= one.start < one.end <= len(text)
