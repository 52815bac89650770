"""Strips of the documents' pages next to a report's main points."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from trigpoint.config import Settings
from trigpoint.review.findings import Citation, Comparison, Finding, Measure
from trigpoint.review.pictures import draw_strips, files_here, pictured
from trigpoint.review.render import render_pdf
from trigpoint.review.result import Application, AspectReview, Metadata, ReviewBody, ReviewResult
from trigpoint.text.picture import PageRenderer, strip_around

QUOTE = "The shared path is 2.5 m wide for its whole length."
PAGE = (0.0, 0.0, 595.0, 842.0)


@pytest.fixture
def renderer(settings: Settings) -> Iterator[PageRenderer]:
    made = PageRenderer(settings)
    yield made
    made.close()


@pytest.fixture
def file(settings: Settings) -> Path:
    path = settings.data_dir / "Transport Statement.pdf"
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), pagesize=A4)
    canvas.drawString(72, 500, QUOTE)
    canvas.save()
    return path


def citation(document: str = "one", quote: str = QUOTE) -> Citation:
    name = "Transport Statement.pdf"
    return Citation(passage_id=f"{document}:1", document_id=document, document=name, pages=(1,), quote=quote)


def review(*findings: Finding) -> ReviewResult:
    aspect = AspectReview(id="cycle_routes", name="Cycle Routes", rating="red", key_issue="", findings=findings)
    body = ReviewBody(overall_rating="red", summary="", aspects=(aspect,))
    return ReviewResult(application=Application(reference="25/00001/F"), review=body, metadata=Metadata())


def failed(*evidence: Citation, outcome: str = "failed") -> Finding:
    measures = (Measure(label="Transport Statement, page 1", value=2.5, shown="2.5 m"),)
    compared = Comparison(measures=measures, wanted="at least", bound=3, bound_shown="3.0 m")
    return Finding(
        check="width", requirement="3 m", outcome=outcome, text="Too narrow", evidence=evidence, comparison=compared
    )


def test_main_points_and_both_sides_of_a_contradiction_are_pictured() -> None:
    one, two, three = citation("one"), citation("two"), citation("three")
    body = review(failed(one, two), failed(two, three, outcome="contradicted"), failed(one, outcome="met")).review
    assert pictured(body) == [one, two, three]


def test_a_report_shows_the_strip_and_the_figures(renderer: PageRenderer, file: Path) -> None:
    result = review(failed(citation()))
    strips = draw_strips(result.review, {"one": file}, renderer.render_strip)
    plain, shown = render_pdf(result), render_pdf(result, strips)
    with pymupdf.open(stream=shown) as document:
        assert len(document[0].get_images()) == 1
        assert "at least 3.0 m" in document[0].get_text()
        assert b"/MarkInfo" in document.xref_object(document.pdf_catalog()).encode()
    with pymupdf.open(stream=plain) as document:
        assert not document[0].get_images()
        assert QUOTE in " ".join(document[0].get_text().split())
    assert render_pdf(result, strips) == shown


def test_what_cannot_be_drawn_or_marked_is_left_out(renderer: PageRenderer, file: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7 no")
    lost, unmarked, absent = citation("lost"), citation("one", "Words that are nowhere on it"), citation("absent")
    body = review(failed(lost), failed(unmarked), failed(absent)).review
    assert draw_strips(body, {"one": file, "lost": broken}, renderer.render_strip) == {}


def test_only_files_below_the_roots_are_used(settings: Settings, file: Path) -> None:
    listed = [
        {"document_id": "one", "file_path": str(file)},
        {"document_id": "out", "file_path": "/etc/hostname"},
        {"document_id": "gone", "file_path": str(file.with_name("gone.pdf"))},
    ]
    assert files_here(settings, listed) == {"one": file}


@pytest.mark.parametrize(
    "box",
    [(72, 500, 300, 512), (0, 0, 10, 10), (580, 830, 595, 842), (72, 10, 500, 800), (-20, -20, 5, 5)],
)
def test_a_strip_lies_on_the_page_and_holds_the_beginning(box: tuple[float, float, float, float]) -> None:
    left, top, right, bottom = strip_around(box, PAGE)
    assert PAGE[0] <= left < right <= PAGE[2]
    assert PAGE[1] <= top < bottom <= PAGE[3]
    assert top <= max(box[1], 0)
    assert left <= max(box[0], 0)


def test_a_drawing_is_shown_around_the_words_and_not_whole() -> None:
    left, _, right, _ = strip_around((2000, 1000, 2100, 1012), (0, 0, 2384, 1684))
    assert right - left < 600
    assert left < 2000 < 2100 < right
