"""A page as a picture: the passage is found and marked, and a file that cannot be drawn harms nobody."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from trigpoint.config import Settings
from trigpoint.errors import ExtractionFailed
from trigpoint.text.picture import PageRenderer, find_run

WORDS = "Each house has 2 cycle park- ing spaces, in the ﬁrst row. Visitors use the stands.".split()


@pytest.fixture
def renderer(settings: Settings) -> Iterator[PageRenderer]:
    made = PageRenderer(settings)
    yield made
    made.close()


def make_pdf(path: Path, *pages: str) -> Path:
    canvas = Canvas(str(path), pagesize=A4)
    for text in pages:
        for index, line in enumerate(text.splitlines()):
            canvas.drawString(72, 760 - 18 * index, line)
        canvas.showPage()
    canvas.save()
    return path


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("Each house has 2 cycle parking spaces", "Each house has 2 cycle park- ing spaces,"),
        ("in the first row", "in the ﬁrst row."),
        ("VISITORS  use\nthe stands", "Visitors use the stands."),
        ("Visitors use the stands that follow on the next page and beyond", ""),
        (
            "in the first row. Visitors use the stands. And the text goes on overleaf",
            "in the ﬁrst row. Visitors use the stands.",
        ),
        ("nothing of the kind", ""),
        ("", ""),
        ("…—", ""),
    ],
)
def test_a_quotation_is_found_whatever_its_hyphens_ligatures_breaks_and_case(quote: str, found: str) -> None:
    assert " ".join(WORDS[index] for index in find_run(WORDS, quote)) == found


def test_a_page_is_drawn_with_the_passage_marked(renderer: PageRenderer, tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", "One.", "Each house is provided with\n2 cycle parking spaces.\nNothing else.")
    marked = renderer.render_page(path, 2, "provided with 2 cycle parking spaces")
    plain = renderer.render_page(path, 2, "words that are not there")
    assert marked.marked
    assert not plain.marked
    assert marked.png.startswith(b"\x89PNG")
    assert marked.png != plain.png
    assert (marked.width, marked.height) == (plain.width, plain.height)
    assert renderer.render_page(path, 2, "words that are not there").png == plain.png  # marks do not stay


def test_a_huge_sheet_is_drawn_smaller(renderer: PageRenderer, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "sheet.pdf"), pagesize=(14_000, 14_000))
    canvas.drawString(100, 100, "A0 and beyond")
    canvas.save()
    picture = renderer.render_page(tmp_path / "sheet.pdf", 1)
    assert picture.width * picture.height <= 6_100_000


@pytest.mark.parametrize("content", [b"", b"%PDF-1.7\ngarbage", b"\x89PNG\r\n\x1a\n"])
def test_a_broken_file_is_an_error_and_the_next_one_is_drawn(
    renderer: PageRenderer, tmp_path: Path, content: bytes
) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(content)
    with pytest.raises(ExtractionFailed):
        renderer.render_page(broken, 1)
    assert renderer.render_page(make_pdf(tmp_path / "good.pdf", "Good."), 1, "Good").marked


def test_a_page_that_is_not_there_is_an_error(renderer: PageRenderer, tmp_path: Path) -> None:
    with pytest.raises(ExtractionFailed, match="no page 3"):
        renderer.render_page(make_pdf(tmp_path / "a.pdf", "One."), 3)
