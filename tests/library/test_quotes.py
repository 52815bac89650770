"""Quotations in a text: found however they were set, at the very characters that say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.library.quotes import find_in

TEXT = "The ﬁrst “beacon” was lit; the sec-\nond, at the café, was not. The first beacon burned."


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        ('the first "beacon" was lit', "The ﬁrst “beacon” was lit"),
        ("the second, at the cafe", "the sec-\nond, at the café"),
        ("THE SEC\u00adOND", "the sec-\nond"),
        ("beacon   burned.", "beacon burned."),
        ("cafe\u0301", "café"),
    ],
)
def test_typesetting_makes_no_difference(quote: str, said: str) -> None:
    assert [TEXT[start:end] for start, end in find_in(TEXT, quote)] == [said]


@pytest.mark.parametrize("quote", ["the third beacon", "", " - \n", "\u00ad"])
def test_what_is_not_said_is_not_found(quote: str) -> None:
    assert find_in(TEXT, quote) == []


def test_every_place_is_found_up_to_the_limit() -> None:
    assert find_in("ab ab ab", "ab") == [(0, 2), (3, 5), (6, 8)]
    assert len(find_in("ab" * 100, "ab", limit=5)) == 5


@given(st.text(max_size=60), st.data())
def test_any_piece_of_any_text_is_found_where_it_stands(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    spans = find_in(text, text[start:end], limit=1000)
    if any(find_in(character, character) for character in text[start:end]):
        assert any(a >= start and b <= end for a, b in spans)
    else:
        assert spans == []
