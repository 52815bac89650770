"""E1, E2: one strict parser a form."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint import dates
from trigpoint.errors import InvalidDate


@given(st.dates())
def test_a_day_survives_text_and_integer(day: date) -> None:
    assert dates.parse_day(day.isoformat()) == day
    assert dates.day_to_int(day) == int(f"{day:%Y%m%d}".rjust(8, "0"))


@given(st.dates(max_value=date(9999, 12, 30)), st.dates(max_value=date(9999, 12, 30)))
def test_integers_keep_the_order_of_days_and_no_end_is_after_all(a: date, b: date) -> None:
    assert (a < b) == (dates.day_to_int(a) < dates.day_to_int(b))
    assert dates.day_to_int(a) < dates.day_to_int(None)


@pytest.mark.parametrize(
    "text",
    [
        "2025-2-7",
        "2025-02-30",
        "2025-02-07\n",
        " 2025-02-07",
        "٢٠٢٥-٠٢-٠٧",
        "07/02/2025",
        "20250207",
        "2025-W06-5",
        "",
        None,
        20250207,
        "0000-01-01",
    ],
)
def test_any_other_form_or_impossible_day_is_refused(text: object) -> None:
    with pytest.raises(InvalidDate):
        dates.parse_day(text)


@given(st.text())
def test_no_text_raises_anything_but_our_error(text: str) -> None:
    for parse in (dates.parse_day, dates.parse_utc_timestamp):
        try:
            parse(text)
        except InvalidDate as error:
            assert len(error.message) < 250


@pytest.mark.parametrize("text", ["2025-02-20T14:30:00Z", "2025-02-20T14:30:00.1Z", "2025-02-20T14:30:00.123Z"])
def test_a_utc_timestamp_takes_up_to_three_fraction_digits(text: str) -> None:
    assert dates.parse_utc_timestamp(text).tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "2025-02-20T14:30:00",
        "2025-02-20T14:30:00+00:00",
        "2025-02-20T24:30:00Z",
        "2025-02-30T14:30:00Z",
        "2025-02-20T14:30:00.1234Z",
        "2025-02-20 14:30:00Z",
    ],
)
def test_other_timestamps_are_refused(text: str) -> None:
    with pytest.raises(InvalidDate):
        dates.parse_utc_timestamp(text)


def test_timestamps_are_printed_as_the_two_apis_want_them() -> None:
    moment = datetime(2025, 2, 7, 12, 34, 56, 789000, tzinfo=UTC)
    assert dates.micro_timestamp(moment) == "2025-02-07T12:34:56.789000Z"
    assert dates.milli_timestamp(moment) == "2025-02-07T12:34:56.789Z"
    assert dates.parse_micro_timestamp(dates.micro_timestamp(moment)) == moment
