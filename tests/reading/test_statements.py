"""Statements are whole, in order, and know their page, headings, list and table."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.reading.statements import Statement, read_statements


def texts(document: str, kind: str | None = None) -> list[str]:
    return [one.text for one in read_statements(document) if kind in (None, one.kind)]


def test_a_sentence_runs_over_lines_and_over_a_page_with_running_lines_between() -> None:
    pages = [
        "Transport Statement\n\n3.1 The development would provide 24 covered cycle\nspaces in a store next to\n",
        "Transport Statement\n\nthe main entrance. It is lit.\n\n2\n",
        "Transport Statement\n\nNothing else is proposed.\n\n3\n",
    ]
    statements = read_statements("\f".join(pages))
    first = statements[0]
    assert first.text == "The development would provide 24 covered cycle spaces in a store next to the main entrance."
    assert (first.page, first.last_page, first.number) == (1, 2, "3.1")
    assert "Transport Statement" not in {one.text for one in statements}


def test_abbreviations_decimals_and_quotes_end_no_sentence() -> None:
    text = "The path is approx. 3.5 m wide, e.g. at Plot B. The Council said: “It is too narrow.” The route ends at St. John's."
    assert texts(text) == [
        "The path is approx. 3.5 m wide, e.g. at Plot B.",
        "The Council said: “It is too narrow.”",
        "The route ends at St. John's.",
    ]


def test_a_bullet_knows_the_sentence_that_introduces_its_list() -> None:
    text = "The site benefits from:\n• bus stops on High Street;\n• a railway\nstation 800 m away; and\n• a shop.\n"
    bullets = [one for one in read_statements(text) if one.kind == "bullet"]
    assert [one.text for one in bullets] == [
        "bus stops on High Street;",
        "a railway station 800 m away; and",
        "a shop.",
    ]
    assert {one.lead for one in bullets} == {"The site benefits from:"}


def test_a_table_row_knows_its_column_headings() -> None:
    text = "Cycle parking\n\n| Use | Rate | Spaces |\n|---|---|---|\n| Houses (152) | 2 per dwelling | 304 |\n\nAll covered."
    row = next(one for one in read_statements(text) if one.kind == "row")
    assert row.columns == ("Use", "Rate", "Spaces")
    assert row.cells == ("Houses (152)", "2 per dwelling", "304")
    assert row.text == "Houses (152) | 2 per dwelling | 304"
    assert row.headings == ("Cycle parking",)


def test_headings_nest_by_their_numbers() -> None:
    text = (
        "4. THE PROPOSALS\n\n4.1 Access\n\nAccess is from Mill Lane.\n\n5. POLICY CONTEXT\n\n5.1 The plan is adopted."
    )
    by_text = {one.text: one for one in read_statements(text)}
    assert by_text["Access is from Mill Lane."].headings == ("THE PROPOSALS", "Access")
    assert by_text["The plan is adopted."].headings == ("POLICY CONTEXT",)


def test_the_cells_of_a_torn_table_become_rows() -> None:
    text = "Use\nExisting\nProposed\nOffice\n120\n0\nFlats\n0\n35\nTotal\n120\n35\n"
    rows = [one.cells for one in read_statements(text) if one.kind == "row"]
    assert rows[1:] == [("Flats", "0", "35"), ("Total", "120", "35")]


def test_offsets_lead_back_to_the_words(shared_data: Path) -> None:
    path = shared_data / "reading" / "appeals" / "6003588.txt"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    text = path.read_text()
    statements = read_statements(text)
    assert len(statements) > 100
    for one in statements:
        if one.kind == "sentence" and one.page == one.last_page:
            assert " ".join(text[one.start : one.end].split()) == one.text


def test_a_statement_is_the_same_after_json() -> None:
    one = read_statements("The route is 3 m wide.")[0]
    assert Statement.model_validate_json(one.model_dump_json()) == one


@given(
    st.lists(
        st.sampled_from(
            ["A sentence. ", "• bullet;\n", "| a | b |\n", "|---|---|\n", "3.1 ", "\n", "\f", "Title\n", "9 "]
        )
    )
)
def test_any_arrangement_of_lines_is_read_in_order(parts: list[str]) -> None:
    text = "".join(parts)
    starts = [one.start for one in read_statements(text)]
    assert starts == sorted(starts)
    assert all(0 <= one.start <= one.end <= len(text) for one in read_statements(text))


@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    assert all(one.text.strip() for one in read_statements(text))
