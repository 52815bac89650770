"""Running headers, footers and page numbers are marked, never taken out of a page; passages leave them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trigpoint.config import load_settings
from trigpoint.text.chunk import TextChunker, document_text
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Extraction, MarginLine, Page
from trigpoint.text.running_lines import Body, mark_running_lines

PROSE = "The proposal provides {n} covered stands next to entrance {n} and a raised crossing of the side road. "
Print = tuple[float, str]  # distance from the top of an A4 page, in points, and the text


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Sequence[Sequence[Print]]], Extraction]:
    """Print pages, each a list of lines with their places, and read them."""
    folder = tmp_path_factory.mktemp("running")
    processor = DocumentProcessor(load_settings(trigpoint_data_dir=folder, enable_ocr=False, text_workers=1))

    def print_and_read(pages: Sequence[Sequence[Print]]) -> Extraction:
        path: Path = folder / "printed.pdf"
        with pymupdf.open() as document:
            for lines in pages:
                page = document.new_page()
                for place, text in lines:
                    page.insert_text((72, place), text, fontsize=11)
            document.save(path)
        return processor.extract(path)

    return print_and_read


def body(n: int) -> list[Print]:
    return [(150 + 14 * line, PROSE.format(n=n * 40 + line)) for line in range(12)]


def running(extraction: Extraction) -> list[list[str]]:
    return [[page.text[start:end].strip() for start, end in page.running] for page in extraction.pages]


Reader = Callable[[Sequence[Sequence[Print]]], Extraction]


def test_a_header_and_a_footer_with_the_page_number_are_marked_and_stay(read: Reader) -> None:
    header = "Transport Assessment, Land at Langford Lane"
    extraction = read([[(40, header), *body(n), (810, f"Page {n} of 6")] for n in range(1, 7)])
    assert running(extraction) == [[header, f"Page {n} of 6"] for n in range(1, 7)]
    assert all(header in page.text and f"Page {page.number} of 6" in page.text for page in extraction.pages)
    assert [page.label for page in extraction.pages] == ["1", "2", "3", "4", "5", "6"]
    assert not any("Langford" in page.text for page in Body.of(extraction.pages).pages)


def test_a_footer_with_text_and_a_running_number_is_marked(read: Reader) -> None:
    extraction = read([[*body(n), (812, f"AB12/R01 Rev C | {n}")] for n in range(1, 9)])
    assert running(extraction) == [[f"AB12/R01 Rev C | {n}"] for n in range(1, 9)]


def test_a_header_of_one_chapter_is_marked(read: Reader) -> None:
    extraction = read([[(40, "Walking and cycling"), *body(n)] if 5 <= n < 11 else body(n) for n in range(25)])
    assert [page.number - 1 for page in extraction.pages if page.running] == [5, 6, 7, 8, 9, 10]


def test_the_same_sentence_at_the_top_of_nine_letters_is_no_running_line(read: Reader) -> None:
    for place in (48, 60, 75, 90, 110):
        letters = []
        for n in range(1, 10):
            rest = [(place + 28 + 14 * line, PROSE.format(n=n * 40 + line)) for line in range(12)]
            letters.append([(place, "I object to the loss of the cycle path"), *rest])
        assert running(read(letters)) == [[]] * 9


def test_a_whole_sentence_is_no_running_line_even_where_one_would_be(read: Reader) -> None:
    letters = [[(50, "I object to the loss of the cycle path."), *body(n)] for n in range(1, 10)]
    assert running(read(letters)) == [[]] * 9


def test_ratings_that_happen_to_be_at_the_top_of_pages_are_no_running_lines(read: Reader) -> None:
    rating = "C13c – 3 (High Value)"
    pages = [[(60, rating), *body(n), (500, rating if n % 2 else "C14a – 2 (Low Value)")] for n in range(1, 10)]
    assert running(read(pages)) == [[]] * 9


def test_lines_below_the_margin_are_body_text_however_often_they_repeat(read: Reader) -> None:
    extraction = read([[(100, "Site name"), *body(n), (745, "Reason for delivery")] for n in range(1, 9)])
    assert running(extraction) == [[]] * 8


def test_a_line_of_the_margin_that_wanders_is_no_running_line(read: Reader) -> None:
    extraction = read([[(20 + 11 * (n % 5), "Highly valued"), *body(n)] for n in range(1, 7)])
    assert running(extraction) == [[]] * 6


def test_numbers_that_are_not_the_pages_are_not_marked(read: Reader) -> None:
    extraction = read([[*body(n), (812, str(value))] for n, value in enumerate((40, 7, 300, 12, 9), 1)])
    assert running(extraction) == [[]] * 5


def test_figure_captions_that_keep_step_with_the_pages_are_not_marked(read: Reader) -> None:
    extraction = read([[*body(n), (800, f"Figure {n}")] for n in range(1, 7)])
    assert running(extraction) == [[]] * 6


def test_two_pages_have_no_running_lines(read: Reader) -> None:
    extraction = read([[(40, "Dear Sir or Madam"), *body(n), (812, str(n))] for n in (1, 2)])
    assert running(extraction) == [[], []]


def test_a_passage_over_a_page_break_leaves_the_footer_out_and_knows_where_it_is(read: Reader) -> None:
    extraction = read([[(40, "Planning statement"), *body(n)[:3], (812, str(n))] for n in range(1, 6)])
    text, body_of = document_text(extraction.pages), Body.of(extraction.pages)
    chunks = body_of.placed(TextChunker().chunk_pages(body_of.pages))
    across = [chunk for chunk in chunks if len(chunk.pages) == 2]
    assert across
    for chunk in chunks:
        between = text[chunk.start : chunk.end]
        assert "Planning statement" not in chunk.text
        assert (between[:40], between[-40:]) == (chunk.text[:40], chunk.text[-40:])
    assert any("Planning statement" in text[chunk.start : chunk.end] for chunk in across)
    assert [page.number for page in extraction.pages if page.text.count("Planning statement") == 1] == [1, 2, 3, 4, 5]


def test_the_nppf_has_its_page_numbers_marked_and_nothing_else(
    policy_pages: Callable[[str], tuple[Page, ...]],
) -> None:
    pages = policy_pages("NPPF")
    marked = {page.number: [page.text[a:b].strip() for a, b in page.running] for page in pages if page.running}
    assert marked == {number: [str(number)] for number in marked}
    assert len(marked) == 80
    assert pages[32].label == "33"


@given(st.lists(st.text(alphabet="ab1 \n.", max_size=40), max_size=8))
@settings(max_examples=150, deadline=None)
def test_every_character_of_a_body_is_found_in_the_document(texts: list[str]) -> None:
    pages, margins = [], {}
    for number, text in enumerate(texts, start=1):
        pages.append(Page(number, text, "text_layer"))
        lines = text.splitlines(keepends=True)
        ends = [sum(map(len, lines[: index + 1])) for index in range(len(lines))]
        margins[number] = [MarginLine(e - len(t), t, 0.05) for t, e in zip(lines, ends, strict=True) if t.strip()]
    marked = mark_running_lines(pages, margins)
    assert [page.text for page in marked] == texts
    whole, found = document_text(marked), Body.of(marked)
    rest = document_text(found.pages)
    for position, character in enumerate(rest):
        start, end = found.in_document(position, position + 1)
        assert (whole[start:end], end - start) == (character, 1)
    assert len(rest) == len(whole) - sum(end - start for page in marked for start, end in page.running)
