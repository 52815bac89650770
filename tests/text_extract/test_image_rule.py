"""D2 and D3: which documents are skipped as pictures, which are scans of text, and what renderings give."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from extract_samples import LETTER, add_picture, photograph
from hypothesis import given
from hypothesis import strategies as st

from trigpoint.errors import NoContent
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.images import Box, covered_ratio, is_rendering_name

A4: Box = (0, 0, 595, 842)


def test_overlaps_count_once_and_nothing_counts_off_the_page() -> None:
    page: Box = (0, 0, 100, 100)
    assert covered_ratio([], page) == 0
    assert covered_ratio([(0, 0, 50, 100)], page) == 0.5
    assert covered_ratio([(0, 0, 50, 100), (0, 0, 50, 100)], page) == 0.5
    assert covered_ratio([(0, 0, 50, 50), (25, 25, 75, 75)], page) == pytest.approx(0.4375)
    assert covered_ratio([(-500, -500, 500, 500), (10, 10, 20, 20)], page) == 1
    assert covered_ratio([(200, 200, 300, 300)], page) == 0
    assert covered_ratio([(0, 0, 1, 1)], (5, 5, 5, 5)) == 0


_edge = st.integers(-20, 120)
_boxes = st.lists(
    st.tuples(_edge, _edge, _edge, _edge).map(
        lambda b: (min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3]))
    ),
    max_size=6,
)


@given(_boxes)
def test_the_ratio_is_the_share_of_covered_points(boxes: list[Box]) -> None:
    page: Box = (0, 0, 100, 100)
    covered = sum(
        any(x0 <= x < x1 and y0 <= y < y1 for x0, y0, x1, y1 in boxes) for x in range(100) for y in range(100)
    )
    assert covered_ratio(boxes, page) == pytest.approx(covered / 10_000)


def test_a_picture_without_words_is_image_based(processor: DocumentProcessor, photo_pdf: Path) -> None:
    look = processor.classify_document(photo_pdf)
    assert look.is_image_based
    assert look.image_ratio == 1.0
    assert look.total_pages == 1
    assert not look.is_rendering
    assert look.contains_drawings


def test_a_scan_of_text_is_not_image_based(processor: DocumentProcessor, scan_pdf: Path) -> None:
    look = processor.classify_document(scan_pdf)
    assert look.image_ratio == 1.0
    assert not look.is_image_based
    assert not look.contains_drawings


@pytest.mark.parametrize("literal", [{"image_ratio_strict": True}, {"enable_ocr": False}])
def test_the_literal_rule_skips_scans_too(
    make_processor: Callable[..., DocumentProcessor], scan_pdf: Path, literal: dict[str, bool]
) -> None:
    assert make_processor(**literal).classify_document(scan_pdf).is_image_based


def test_a_text_layer_over_a_picture_is_read_as_text(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "poster.pdf"
    with pymupdf.open() as document:
        add_picture(document, photograph()).insert_text((72, 72), "Proposed layout")
        document.save(path)
    assert not processor.classify_document(path).is_image_based
    assert processor.extract(path).method == "text_layer"


def test_the_threshold_is_a_setting_and_must_be_exceeded(
    make_processor: Callable[..., DocumentProcessor], tmp_path: Path
) -> None:
    path = tmp_path / "half.pdf"
    with pymupdf.open() as document:
        add_picture(document, photograph(), pymupdf.Rect(0, 0, 595, 421))
        document.save(path)
    assert make_processor().classify_document(path).image_ratio == 0.5
    assert not make_processor().classify_document(path).is_image_based
    assert make_processor(image_ratio_threshold=0.4).classify_document(path).is_image_based
    assert not make_processor(image_ratio_threshold=0.51).classify_document(path).is_image_based


def test_a_rendering_without_text_has_no_content(processor: DocumentProcessor, scan_pdf: Path) -> None:
    path = scan_pdf.rename(scan_pdf.with_name("CGI_Bird's_Eye_View.pdf"))
    look = processor.classify_document(path)
    assert look.is_rendering
    assert not look.is_image_based
    with pytest.raises(NoContent, match="rendering"):
        processor.extract(path)


def test_a_rendering_with_text_keeps_its_text(processor: DocumentProcessor, text_pdf: Path) -> None:
    path = text_pdf.rename(text_pdf.with_name("Street scene.pdf"))
    assert processor.extract(path).method == "text_layer"


@pytest.mark.parametrize(
    "name",
    [
        "Bird's Eye View.pdf",
        "Bird_s_Eye_View.pdf",
        "Artist_s_Impression.pdf",
        "birds_eye_01.jpg",
        "BIRD’S-EYE.pdf",
        "Perspective 3.pdf",
        "Site_CGI_02.png",
        "3D Visual.pdf",
        "3D_visualisation.pdf",
        "Artist's impression.jpg",
        "artists-impression.jpg",
        "Photomontage 4.pdf",
        "StreetScene.pdf",
        "Exterior renders.pdf",
        "Rendered view.pdf",
    ],
)
def test_names_of_renderings(name: str) -> None:
    assert is_rendering_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "Surrender of lease.pdf",
        "Tenders.pdf",
        "Prospective purchasers.pdf",
        "Visual impact.pdf",
        "CGIL.pdf",
        "Site plan.pdf",
    ],
)
def test_names_that_are_none(name: str) -> None:
    assert not is_rendering_name(name)


def test_a_sheet_of_lines_contains_drawings_and_prose_does_not(
    processor: DocumentProcessor, tmp_path: Path, text_pdf: Path
) -> None:
    path = tmp_path / "plan.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_textbox(pymupdf.Rect(60, 60, 535, 780), LETTER * 4)
        page = document.new_page(width=1191, height=842)
        for number in range(150):
            page.draw_line((10, 5 * number), (900, 5 * number))
        page.insert_text((72, 800), "Ground floor plan 1:100")
        document.save(path)
    assert processor.classify_document(path).contains_drawings
    assert not processor.classify_document(text_pdf).contains_drawings
