"""Tables: cells under the right headings, in their place in the text, and nothing lost on the way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
import pytest
from real_tables import FRESH, HELD_OUT, LAST, TUNED, UNSEEN, RealTable

from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Page

Draw = Callable[[pymupdf.Page], None]

PARKING = (("Use", "Rate", "Spaces"), ("Offices", "1 per 75 sqm", "120"), ("Retail", "1 per 100 sqm", "14"))


@pytest.fixture
def read(tmp_path: Path, processor: DocumentProcessor) -> Callable[..., tuple[Page, ...]]:
    """The pages of a document, each drawn by one of the functions given."""

    def pages(*drawings: Draw) -> tuple[Page, ...]:
        path = tmp_path / "drawn.pdf"
        with pymupdf.open() as document:
            for draw in drawings:
                draw(document.new_page())
            document.save(path)
        return processor.extract(path).pages

    return pages


def rows(
    page: pymupdf.Page,
    texts: Sequence[Sequence[str]],
    *,
    top: float = 200,
    left: float = 72,
    width: float = 120,
    height: float = 24,
    vertical: bool = True,
    bold: bool = True,
) -> None:
    """Draw a table; its first row in bold. A text of "" leaves its cell empty."""
    columns = len(texts[0])
    for number, row in enumerate(texts):
        font = "hebo" if number == 0 and bold else "helv"
        for column, text in enumerate(row):
            page.insert_text((left + column * width + 5, top + number * height + 16), text, fontsize=10, fontname=font)
    for number in range(len(texts) + 1):
        page.draw_line((left, top + number * height), (left + columns * width, top + number * height), width=0.5)
    for column in range(columns + 1 if vertical else 0):
        x = left + column * width
        page.draw_line((x, top), (x, top + len(texts) * height), width=0.5)


def test_a_ruled_table_is_in_the_text_as_markdown_rows_between_what_is_above_and_below(
    read: Callable[..., tuple[Page, ...]],
) -> None:
    def draw(page: pymupdf.Page) -> None:
        page.insert_text((72, 150), "Cycle parking is provided as follows.")
        rows(page, PARKING)
        page.insert_text((72, 400), "It is covered and secure.")

    (page,) = read(draw)
    (table,) = page.tables

    assert table.headings == ("Use", "Rate", "Spaces")
    assert table.rows == (("Offices", "1 per 75 sqm", "120"), ("Retail", "1 per 100 sqm", "14"))
    markdown = (
        "| Use | Rate | Spaces |\n|---|---|---|\n| Offices | 1 per 75 sqm | 120 |\n| Retail | 1 per 100 sqm | 14 |"
    )
    before, after = page.text.split(markdown)
    assert "as follows." in before
    assert "covered and secure" in after
    assert "Offices" not in before + after, "the loose words of the table give way to it"


def test_a_table_with_horizontal_lines_only_has_its_columns_by_the_gaps_between_words(
    read: Callable[..., tuple[Page, ...]],
) -> None:
    (page,) = read(lambda page: rows(page, PARKING, vertical=False))

    assert page.tables[0].headings == ("Use", "Rate", "Spaces")
    assert page.tables[0].rows[1] == ("Retail", "1 per 100 sqm", "14")


def test_lines_of_print_are_rows_if_rules_divide_only_the_header_and_the_end(
    read: Callable[..., tuple[Page, ...]],
) -> None:
    texts = (*PARKING, ("Total", "", "134"))

    def draw(page: pymupdf.Page) -> None:
        for number, row in enumerate(texts):
            for column, text in enumerate(row):
                page.insert_text((77 + 120 * column, 214 + 14 * number), text, fontsize=10)
        page.insert_text((77, 284), "Every space has room for a trailer. " * 2, fontsize=10)
        for y in (202, 217, 260):
            page.draw_line((72, y), (432, y), width=0.5)

    ((table,),) = [page.tables for page in read(draw)]
    assert (table.headings, table.rows) == (texts[0], texts[1:])


def test_rows_of_figures_below_their_headings_are_a_table_without_any_rule(
    read: Callable[..., tuple[Page, ...]],
) -> None:
    rows = (("Offices", "120", "96"), ("Retail", "14", "20"), ("Homes", "-", "1,240"), ("Total", "134", "1,356"))
    texts = (("Use", "Existing", "Proposed"), *rows)

    def figures(page: pymupdf.Page) -> None:
        page.insert_text((72, 150), "Cycle parking is provided as follows, in addition to the spaces for visitors.")
        for number, row in enumerate(texts):
            for column, text in enumerate(row):
                page.insert_text((72 + 110 * column, 200 + 16 * number), text, fontsize=10)
        page.insert_text((72, 290), "All of it is covered, lit and overlooked.")

    def contents(page: pymupdf.Page) -> None:
        for number in range(8):
            for left in (72, 320):
                page.insert_text((left, 100 + number * 20), f"Chapter {number} of the report")
                page.insert_text((left + 180, 100 + number * 20), f"{number * 7}")

    with_figures, with_contents = read(figures, contents)
    (table,) = with_figures.tables
    assert (table.headings, table.rows) == (texts[0], texts[1:])
    assert (
        with_figures.text.index("as follows")
        < with_figures.text.index("| Retail | 14 | 20 |")
        < with_figures.text.index("lit")
    )
    assert with_contents.tables == ()


def test_a_wrapped_row_between_rules_is_one_row(read: Callable[..., tuple[Page, ...]]) -> None:
    lines = (
        ("Cycle parking for", "one space for each"),
        ("staff of the shop", "five members of"),
        ("and visitors", "staff"),
    )

    def draw(page: pymupdf.Page) -> None:
        for number, row in enumerate((("Use", "Rate"), *lines)):
            for column, text in enumerate(row):
                page.insert_text((77 + 180 * column, 214 + 14 * number), text, fontsize=10)
        for y in (202, 217, 260):
            page.draw_line((72, y), (432, y), width=0.5)

    ((table,),) = [page.tables for page in read(draw)]
    assert table.rows == (
        ("Cycle parking for staff of the shop and visitors", "one space for each five members of staff"),
    )


def test_a_heading_across_columns_belongs_to_each_of_them(read: Callable[..., tuple[Page, ...]]) -> None:
    def draw(page: pymupdf.Page) -> None:
        texts = [("Tenure", "Number of homes", ""), ("", "1 bed", "2 bed"), ("Social rent", "12", "30")]
        for number, row in enumerate(texts):
            for column, text in enumerate(row):
                page.insert_text((77 + column * 120, 216 + number * 24), text, fontsize=10)
        for y, start in ((200, 72), (224, 192), (248, 72), (272, 72)):
            page.draw_line((start, y), (432, y), width=0.5)
        for x, start in ((72, 200), (192, 200), (312, 224), (432, 200)):
            page.draw_line((x, start), (x, 272), width=0.5)

    (page,) = read(draw)

    assert page.tables[0].headings == ("Tenure", "Number of homes 1 bed", "Number of homes 2 bed")
    assert page.tables[0].rows == (("Social rent", "12", "30"),)


def test_a_cell_that_spans_rows_is_said_in_each(read: Callable[..., tuple[Page, ...]]) -> None:
    def draw(page: pymupdf.Page) -> None:
        texts = (("Zone", "Bay", "Stands"), ("North", "A", "10"), ("", "B", "20"))
        for number, row in enumerate(texts):
            for column, text in enumerate(row):
                page.insert_text(
                    (77 + column * 120, 216 + number * 24), text, fontname="hebo" if not number else "helv"
                )
        for y, start in ((200, 72), (224, 72), (248, 192), (272, 72)):
            page.draw_line((start, y), (432, y), width=0.5)
        for x in (72, 192, 312, 432):
            page.draw_line((x, 200), (x, 272), width=0.5)

    (page,) = read(draw)

    assert page.tables[0].rows == (("North", "A", "10"), ("North", "B", "20"))


def test_a_table_printed_sideways_is_read_as_if_upright(read: Callable[..., tuple[Page, ...]], tmp_path: Path) -> None:
    with pymupdf.open() as upright:
        rows(upright.new_page(), PARKING)

        def draw(page: pymupdf.Page) -> None:
            page.show_pdf_page(page.rect, upright, 0, rotate=90)

        (page,) = read(draw)

    assert page.tables[0].headings == ("Use", "Rate", "Spaces")
    assert page.tables[0].rows[0] == ("Offices", "1 per 75 sqm", "120")


def test_a_table_that_goes_on_over_the_page_keeps_its_headings(read: Callable[..., tuple[Page, ...]]) -> None:
    more = (("Gym", "1 per 20 sqm", "30"), ("Cinema", "1 per 30 seats", "8"))

    first, second = read(lambda page: rows(page, PARKING, top=700), lambda page: rows(page, more, top=72, bold=False))

    assert second.tables[0].headings == first.tables[0].headings == ("Use", "Rate", "Spaces")
    assert second.text.strip().startswith("| Use | Rate | Spaces |\n|---|---|---|\n| Gym |")


def test_underlined_lines_and_framed_paragraphs_are_no_tables(read: Callable[..., tuple[Page, ...]]) -> None:
    def contents(page: pymupdf.Page) -> None:
        for number in range(8):
            y = 100 + number * 20
            page.insert_text((72, y), f"Chapter {number} " + "." * 60 + f" {number * 7}", fontsize=11)
            page.draw_line((72, y + 1), (330, y + 1), width=0.5)

    def framed(page: pymupdf.Page) -> None:
        page.draw_rect((60, 90, 540, 300), width=1)
        page.insert_textbox((70, 100, 530, 290), "Policy. Development will be supported where it is safe. " * 8)
        page.draw_line((60, 120), (540, 120))

    assert [page.tables for page in read(contents, framed)] == [(), ()]


def test_every_word_of_a_page_with_tables_is_in_its_text(shared_data: Path, processor: DocumentProcessor) -> None:
    path = shared_data / "policy/Tewkesbury_Borough_Plan_2011-2031_Adopted_2022.pdf"
    with pymupdf.open(path) as document:
        for page in processor.extract(path).pages:
            if page.tables:
                missing = set(document[page.number - 1].get_text().split()) - set(page.text.split())
                assert not missing, f"page {page.number}"


@pytest.mark.parametrize(
    ("name", "tables"), [("tuned", TUNED), ("unseen", UNSEEN), ("last", LAST), ("held out", HELD_OUT), ("fresh", FRESH)]
)
def test_cells_of_real_tables_have_the_right_headings(
    name: str, tables: Sequence[RealTable], shared_data: Path, processor: DocumentProcessor
) -> None:
    pages = {file: processor.extract(shared_data / file).pages for file in {table.file for table in tables}}
    right = [_is_right(pages[table.file][table.page - 1], cell) for table in tables for cell in table.cells]

    assert sum(right) / len(right) >= 0.9, f"{name}: {sum(right)} of {len(right)}"


def _is_right(page: Page, cell: tuple[str, str, str]) -> bool:
    row_heading, heading, value = map(_plain, cell)
    return any(
        _plain(row[0]).startswith(row_heading)
        and _plain(column) == heading
        and (_plain(text) == value or (len(value) > 30 and _plain(text).startswith(value)))
        for table in page.tables
        for row in table.rows
        for column, text in zip(table.headings, row, strict=True)
    )


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9✓%£.-]", "", unicodedata.normalize("NFKC", text).lower())  # ligatures are letters
