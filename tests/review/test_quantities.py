"""Quantities as planning documents write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigpoint.review.numbers import number, numbers_in
from trigpoint.review.quantities import parse_quantities
from trigpoint.review.sentences import fold, split_sentences
from trigpoint.review.sums import check_table_sums, parse_breakdowns


@pytest.mark.parametrize(
    ("text", "value", "unit", "per", "per_count"),
    [
        ("2 spaces per dwelling", 2, "space", "dwelling", 1),
        ("two secure, covered cycle parking spaces per dwelling", 2, "space", "dwelling", 1),
        ("1 Sheffield stand per 10 dwellings", 1, "stand", "dwelling", 10),
        ("one visitor cycle space per 5 apartments", 1, "space", "dwelling", 5),
        ("1 space per bedroom", 1, "space", "bedroom", 1),
        ("1 space per 1-bed unit", 1, "space", "dwelling", 1),
        ("A minimum of two secure cycle spaces will be provided per dwelling", 2, "space", "dwelling", 1),
        ("one space for every bedroom", 1, "space", "bedroom", 1),
        ("cycle parking at a rate of one per bedroom", 1, "space", "bedroom", 1),
        ("Each dwelling has covered, secure cycle parking for 2 bikes", 2, "cycle", "dwelling", 1),
        ("Every home will have two cycle parking spaces", 2, "space", "dwelling", 1),
        ("two spaces will be provided for each dwelling", 2, "space", "dwelling", 1),
        ("1 space per 100 m² of floor area", 1, "space", "m2", 100),
        ("1 space per 20 staff", 1, "space", "employee", 20),
        ("a 3.0m wide shared path", 3, "m", None, 1),
        ("3.0 m wide", 3, "m", None, 1),
        ("a 3m-wide cycle track", 3, "m", None, 1),
        ("a 2.5-metre path", 2.5, "m", None, 1),
        ("2km from the town centre", 2, "km", None, 1),
        ("a 20mph speed limit", 20, "mph", None, 1),
        ("300 cyclists per hour", 300, "cyclist", "hour", 1),
        ("6,500 vehicles per day", 6500, "vehicle", "day", 1),
        ("a target of 12% by bicycle", 12, "%", None, 1),
        ("up to 1,200 dwellings", 1200, "dwelling", None, 1),
        ("18 Sheffield stands", 18, "stand", None, 1),
        ("400 metres of a bus stop", 400, "m", None, 1),
        ("every 15 minutes", 15, "minute", None, 1),
        ("144 cycle spaces", 144, "space", None, 1),
        ("twenty-four cycle spaces", 24, "space", None, 1),
        ("thirteen spaces", 13, "space", None, 1),
        ("one hundred and forty-four cycle spaces", 144, "space", None, 1),
        ("Two hundred and eighteen cycle spaces", 218, "space", None, 1),
        ("two hundred dwellings", 200, "dwelling", None, 1),
        ("a thousand homes", 1000, "dwelling", None, 1),
        ("1 200 spaces", 1200, "space", None, 1),
        ("1\u2009200 spaces", 1200, "space", None, 1),
        ("3 000mm", 3000, "mm", None, 1),
        ("2no. spaces per dwelling", 2, "space", "dwelling", 1),
        ("2 no. cycle spaces per dwelling", 2, "space", "dwelling", 1),
        ("one (1) space per bedroom", 1, "space", "bedroom", 1),
        ("half a space per dwelling", 0.5, "space", "dwelling", 1),
        ("one and a half spaces per flat", 1.5, "space", "dwelling", 1),
        ("one space for every two dwellings", 1, "space", "dwelling", 2),
        ("twenty one-bed flats", 20, "dwelling", None, 1),
        ("half a mile", 0.5, "mile", None, 1),
    ],
)
def test_a_quantity_is_read_with_its_unit_and_rate(
    text: str, value: float, unit: str, per: str | None, per_count: float
) -> None:
    first = parse_quantities(text)[0]
    assert (first.value, first.unit, first.per, first.per_count) == (value, unit, per, per_count)


@pytest.mark.parametrize(
    "text",
    [
        "£1.5m",
        "paragraph 116",
        "LTN 1/20",
        "Table 5-2",
        "on 12 March 2025",
        "drawing 1042-P-03",
        "Section 4.2 is met",
        "two-tier racks",
        "2-bed flats",
        "1 in 10 spaces",
        "Unit 3 bike store",
    ],
)
def test_a_number_that_counts_nothing_is_no_quantity(text: str) -> None:
    assert parse_quantities(text) == []


def test_a_stand_is_two_spaces() -> None:
    rate = parse_quantities("1 Sheffield stand per 10 dwellings")[0].in_spaces()
    assert rate.unit == "space"
    assert rate.rate == pytest.approx(0.2)


def test_lengths_compare_in_metres() -> None:
    assert [q.in_metres().value for q in parse_quantities("1.2km, 350 metres and 2500mm")] == [1200, 350, 2.5]


@pytest.mark.parametrize(
    "text",
    [
        "between 2.0 to 3.0m wide",
        "between 2 and 3 metres wide",
        "between 2.0m and 3.0m wide",
        "2.0m to 3.0m wide",
        "2.0–3.0 m wide",
        "from two to three metres wide",
        "narrows between 3.0 and 2.0 metres",
    ],
)
def test_a_range_keeps_both_ends(text: str) -> None:
    (width,) = parse_quantities(text)
    assert (width.value, width.highest) == (2, 3)


def test_what_is_changed_has_its_new_value() -> None:
    assert [q.value for q in parse_quantities("The path will be widened from 2.0m to 3.0m")] == [3]
    assert parse_quantities("Spaces are increased from 40 to 52 spaces")[0].interval == (52, 52)


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("less than 1 space per bedroom", "below"),
        ("fewer than two spaces", "below"),
        ("below 3.0m", "below"),
        ("up to one space per bedroom", "at most"),
        ("no more than 2 spaces", "at most"),
        ("a maximum width of 2.0m", "at most"),
        ("within 400m", "at most"),
        ("2.5m or less", "at most"),
        ("at least 3.0m", "at least"),
        ("no less than 3.0m", "at least"),
        ("no fewer than two spaces", "at least"),
        ("a minimum of 2 spaces", "at least"),
        ("3.0m minimum", "at least"),
        ("over 3.0m", "above"),
        ("more than 2,500 vehicles a day", "above"),
        ("3.0m wide", None),
    ],
)
def test_a_quantity_may_be_a_limit(text: str, limit: str | None) -> None:
    assert parse_quantities(text)[0].limit == limit


@pytest.mark.parametrize(
    ("text", "bedrooms", "rate"),
    [
        ("1 space per 1-bed flat", 1, 1),
        ("2 spaces per two-bedroom flat", 2, 1),
        ("3 spaces per 3 bed house", 3, 1),
        ("2 spaces per 3-bed house", 3, 2 / 3),
        ("2 cycle spaces for each 4-bedroom home", 4, 0.5),
        ("Each 2-bed flat has 1 cycle space", 2, 0.5),
        ("2 spaces per 3 or 4 bed house", 4, 0.5),
    ],
)
def test_a_rate_by_size_of_home_is_one_for_each_bedroom(text: str, bedrooms: float, rate: float) -> None:
    quantity = parse_quantities(text)[0]
    assert quantity.bedrooms == bedrooms
    assert quantity.per_bedroom().per == "bedroom"
    assert quantity.per_bedroom().rate == pytest.approx(rate)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nineteen", 19),
        ("Ninety-nine", 99),
        ("forty two", 42),
        ("three hundred", 300),
        ("a hundred and one", 101),
        ("five hundred and twelve", 512),
        ("two thousand, one hundred and five", 2105),
        ("twelve thousand", 12000),
        ("1,234.5", 1234.5),
        ("12 345", 12345),
    ],
)
def test_a_number_is_read_whole(text: str, value: float) -> None:
    assert number(text) == value
    assert value in numbers_in(f"There are {text} of them")


def test_several_quantities_of_one_sentence_are_all_found() -> None:
    found = parse_quantities("A 3.0m wide track with a 0.5m buffer on the 30mph road, 450m long")
    assert [(q.value, q.unit) for q in found] == [(3, "m"), (0.5, "m"), (30, "mph"), (450, "m")]


@pytest.mark.parametrize(
    ("text", "total", "parts", "adds_up"),
    [
        ("144 cycle spaces including 127 residential spaces and 7 visitor spaces", 144, [127, 7], False),
        ("144 spaces, comprising 127 spaces for residents and 17 visitor spaces", 144, [127, 17], True),
        ("A total of 144 spaces is made up of 127 for residents and 7 for visitors.", 144, [127, 7], False),
        ("200 dwellings comprising 150 houses and 50 flats", 200, [150, 50], True),
        ("144 spaces: 72 two-tier and 72 Sheffield spaces", 144, [72, 72], True),
        ("218 cycle spaces are provided, including 10 visitor spaces and 6 spaces for cargo bikes", 218, [10, 6], True),
        ("40 spaces, including 30 spaces in the yard and 20 spaces for cargo bikes", 40, [30, 20], False),
        ("40 spaces including 4 spaces on Sheffield stands and 2 spaces in racks", 40, [4, 2], True),
        ("up to 40 spaces, comprising 20 long-stay spaces and 10 visitor spaces", 40, [20, 10], True),
        ("up to 40 spaces, comprising 30 long-stay spaces and 20 visitor spaces", 40, [30, 20], False),
        ("at least 40 spaces, comprising 30 long-stay spaces and 20 visitor spaces", 40, [30, 20], True),
        ("144 spaces, comprising 120 long-stay spaces (60 in each block) and 24 visitor spaces", 144, [120, 24], True),
        (
            "one hundred and forty-four cycle spaces, comprising one hundred and twenty long-stay spaces and "
            "twenty-four visitor spaces",
            144,
            [120, 24],
            True,
        ),
        ("144 spaces, made up of one hundred residential and twenty-four visitor spaces", 144, [100, 24], False),
    ],
)
def test_a_sum_is_checked(text: str, total: float, parts: list[float], adds_up: bool) -> None:
    breakdown = parse_breakdowns(text)[0]
    assert breakdown.total.value == total
    assert [part.value for part in breakdown.parts] == parts
    assert breakdown.adds_up is adds_up


def test_a_sentence_without_parts_has_no_sum() -> None:
    assert (
        parse_breakdowns("144 spaces are provided. The 127 residential spaces and 7 others are described below.") == []
    )


@pytest.mark.parametrize(
    "text",
    [
        "120 cycle spaces, of which 6 are reserved for visitors and 4 spaces for cargo bikes",
        "144 spaces: 72 hanging and 60 spaces on stands",
        "144 spaces: 40 stands and 24 visitor spaces and 40 resident spaces",
    ],
)
def test_a_list_that_cannot_be_read_whole_is_not_added_up(text: str) -> None:
    assert parse_breakdowns(text) == []


@pytest.mark.parametrize(
    "table",
    ["Use\nSpaces\nHouses\n127\nVisitors\n7\nTotal\n144\n", "Use   Spaces\nHouses   127\nVisitors   7\nTotal   144\n"],
)
def test_a_table_whose_total_is_wrong_is_reported(table: str) -> None:
    wrong = check_table_sums(table)
    assert [(w.stated, w.computed) for w in wrong] == [(144, 134)]
    assert "Total" in table[wrong[0].start : wrong[0].end]


def test_a_table_that_adds_up_is_not_reported() -> None:
    assert check_table_sums("Type\nDwellings\nSpaces\n1 bed\n20\n20\n2 bed\n30\n60\nTotal\n50\n80\n") == []


def test_only_the_wrong_column_is_reported() -> None:
    wrong = check_table_sums("House type A  20  20\nHouse type B  30  60\nTotal  50  90\n")
    assert [(w.stated, w.computed) for w in wrong] == [(90, 80)]


def test_sentences_keep_abbreviations_and_decimals_together() -> None:
    text = "The path is 3.0 m wide (e.g. Figure 2). It is lit. See para. 4 of the plan.\n\n4.2 A new start\n• a bullet"
    assert [s.text for s in split_sentences(text)] == [
        "The path is 3.0 m wide (e.g. Figure 2).",
        "It is lit.",
        "See para. 4 of the plan.",
        "4.2 A new start",
        "• a bullet",
    ]


def test_a_number_of_things_does_not_end_a_sentence() -> None:
    assert len(split_sentences("There are 12no. Sheffield stands and 2 no. Lockers.")) == 1


def test_a_sentence_cut_by_the_passage_is_marked() -> None:
    first, last = split_sentences(
        "of the site will be lit. The track continues along the whole of the northern boundary and then turns towards the"
    )
    assert (first.whole, last.whole) == (False, False)


def test_a_heading_is_no_part_of_the_sentence_below_it() -> None:
    text = (
        "7.1 Primary street\nThe primary street is 6.1m wide with a design speed of 20mph. A 3.0m wide shared footway and cycleway\n"
        "runs along the northern side.\nSecondary streets\nSecondary streets carry fewer than 1,000 vehicles a day."
    )
    assert [s.text for s in split_sentences(text)] == [
        "7.1 Primary street",
        "The primary street is 6.1m wide with a design speed of 20mph.",
        "A 3.0m wide shared footway and cycleway runs along the northern side.",
        "Secondary streets",
        "Secondary streets carry fewer than 1,000 vehicles a day.",
    ]


def test_a_table_row_is_its_label_with_its_values() -> None:
    text = "Route\nWidth\nSurface\nPrimary street shared footway\n3.0m\nBound\nGreen corridor path\n3.5m\nBound gravel"
    rows = [s.text for s in split_sentences(text)]
    assert "Primary street shared footway 3.0m" in rows
    assert "Green corridor path 3.5m" in rows


_PIECES = (
    "2 |3.0m |1,200 |1 200|twenty-|four |hundred |and |half a |between |up to |2-bed |no. |per |dwelling|spaces |including |and |Total|\n|\n\n|. |£|%|each |Sheffield stands |wide |(|)|-|12|Houses| of |½|\x00"
).split("|")
_PLANNING = st.lists(
    st.sampled_from(_PIECES),
    max_size=40,
).map("".join)


@given(st.one_of(st.text(max_size=300), _PLANNING))
@settings(max_examples=300, deadline=None)
def test_any_text_can_be_read_and_every_quotation_stands_in_it(text: str) -> None:
    for quantity in parse_quantities(text):
        assert text[quantity.start : quantity.end] == quantity.text
        assert quantity.value >= 0
    for sentence in split_sentences(text):
        assert fold(sentence.text) in fold(text)
    parse_breakdowns(text)
    for wrong in check_table_sums(text):
        assert wrong.stated != wrong.computed
