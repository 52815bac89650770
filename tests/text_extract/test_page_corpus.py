"""Over forty pages made here, of all the kinds that lose text: what is printed is read, and losses are said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from page_corpus import (
    DIGITAL,
    SCANNED,
    Sample,
    image,
    picture,
    pixmap_of,
    private_letters,
    prose,
    recall,
    scanned_table,
    stamped_scan,
)

from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Extraction

Maker = Callable[[Path], Sample]
QUICK = (stamped_scan, scanned_table, private_letters)


def check(sample: Sample, extraction: Extraction) -> list[float]:
    """Return the recall of each page, after checking that nothing hidden is in it and that every loss is said."""
    assert extraction.page_count == len(sample.pages)
    scores = [recall(truth, page.text) for truth, page in zip(sample.pages, extraction.pages, strict=True)]
    for score, page in zip(scores, extraction.pages, strict=True):
        assert score >= 0.9 or extraction.warnings, f"page {page.number} lost text and nothing is said"
        assert not any(secret in " ".join(page.text.split()) for secret in sample.unseen)
        assert not sample.unseen or page.hidden, f"page {page.number} lost hidden text and nothing is said"
    assert sample.warns in " ".join(extraction.warnings)
    return scores


@pytest.mark.parametrize("maker", DIGITAL, ids=lambda maker: maker.__name__)
def test_digital_pages_keep_their_text(maker: Maker, processor: DocumentProcessor, tmp_path: Path) -> None:
    sample = maker(tmp_path)
    scores = check(sample, processor.extract(sample.path))
    assert min(scores) >= 0.97, scores


@pytest.mark.parametrize("maker", QUICK, ids=lambda maker: maker.__name__)
def test_print_beside_a_text_layer_is_read(maker: Maker, processor: DocumentProcessor, tmp_path: Path) -> None:
    sample = maker(tmp_path)
    scores = check(sample, processor.extract(sample.path))
    assert min(scores) >= 0.93, scores


@pytest.mark.parametrize("turned", [90, 180])
def test_a_scan_is_recorded_with_the_turn_that_makes_it_upright(
    turned: int, processor: DocumentProcessor, tmp_path: Path
) -> None:
    text = prose(350, 3)
    with pymupdf.open() as document:
        scan = image(picture(text, dpi=150)).rotate(turned, expand=True)
        page = document.new_page(width=scan.width * 0.48, height=scan.height * 0.48)
        page.insert_image(page.rect, pixmap=pixmap_of(scan))
        document.save(tmp_path / "turned.pdf")

    extraction = processor.extract(tmp_path / "turned.pdf")

    assert extraction.account.pages[0].turned == turned
    assert recall(text, extraction.pages[0].text) >= 0.93


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_scanned_pages_keep_their_text(processor: DocumentProcessor, tmp_path: Path) -> None:
    scores = {}
    for maker in SCANNED:
        sample = maker(tmp_path)
        scores[maker.__name__] = check(sample, processor.extract(sample.path))
    every = [score for several in scores.values() for score in several]
    assert len(every) + sum(len(maker(tmp_path).pages) for maker in DIGITAL) >= 40
    assert sum(every) / len(every) >= 0.93, scores
    assert min(every) >= 0.85, scores
