"""Text layers, OCR, image files: what `extract` gives for sound files (FR-005)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pymupdf
import pytest
from extract_samples import LETTER, add_picture, letter_picture, png_of_zeros, write_text_pdf
from PIL import Image

from trigpoint.errors import Cancelled, ExtractionFailed, FileMissing, NoContent, UnsupportedFileType
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import clean_text


def words(text: str) -> set[str]:
    return {word.strip(".,").lower() for word in text.split()}


def test_text_layers_come_out_as_pymupdf_reads_them(processor: DocumentProcessor, text_pdf: Path) -> None:
    extraction = processor.extract(text_pdf)
    with pymupdf.open(text_pdf) as document:
        expected = [page.get_text("text") for page in document]
    assert [page.text for page in extraction.pages] == expected
    assert [page.number for page in extraction.pages] == [1, 2, 3]
    assert {page.method for page in extraction.pages} == {"text_layer"} == {extraction.method}
    assert {page.confidence for page in extraction.account.pages} == {None}
    assert extraction.account.summary == "3 pages: 3 text."
    assert extraction.page_count == 3
    assert extraction.warnings == ()


def test_all_82_pages_of_the_nppf_are_read(processor: DocumentProcessor, shared_data: Path) -> None:
    path = shared_data / "policy" / "NPPF_December_2024.pdf"
    extraction = processor.extract(path)
    with pymupdf.open(path) as document:
        layers = ["".join(page.get_text("text").split()) for page in document]
    assert extraction.page_count == len(extraction.pages) == 82
    assert all(layer in "".join(page.text.split()) for layer, page in zip(layers, extraction.pages, strict=True))
    assert "Ministry of Housing" in extraction.pages[0].text  # printed in the logo only
    assert extraction.warnings == ()
    assert sum("116." in page.text for page in extraction.pages) >= 1


def test_a_long_document_keeps_its_order_over_several_readers(processor: DocumentProcessor, tmp_path: Path) -> None:
    extraction = processor.extract(write_text_pdf(tmp_path / "long.pdf", 130))
    assert [page.number for page in extraction.pages] == list(range(1, 131))
    assert all(page.text.startswith(f"Page {page.number} of") for page in extraction.pages)


def test_printed_page_labels_are_given(processor: DocumentProcessor, text_pdf: Path) -> None:
    with pymupdf.open(text_pdf) as document:
        document.set_page_labels([{"startpage": 0, "style": "r", "firstpagenum": 4}, {"startpage": 1, "style": "D"}])
        document.saveIncr()
    assert [page.label for page in processor.extract(text_pdf).pages] == ["iv", "1", "2"]


def test_pages_without_labels_have_none(processor: DocumentProcessor, text_pdf: Path) -> None:
    assert {page.label for page in processor.extract(text_pdf).pages} == {None}


def test_a_scan_is_read_by_ocr_with_its_confidence(processor: DocumentProcessor, scan_pdf: Path) -> None:
    extraction = processor.extract(scan_pdf)
    assert extraction.method == "ocr"
    assert extraction.account.summary == "2 pages: 2 OCR."
    for page, account in zip(extraction.pages, extraction.account.pages, strict=True):
        assert page.method == "ocr"
        assert 80 < (account.confidence or 0) <= 100
        assert len(words(LETTER) - words(page.text)) <= 3


def test_a_document_of_both_kinds_is_mixed(processor: DocumentProcessor, text_pdf: Path) -> None:
    with pymupdf.open(text_pdf) as document:
        add_picture(document, letter_picture())
        document.saveIncr()
    extraction = processor.extract(text_pdf)
    assert extraction.method == "mixed"
    assert [page.method for page in extraction.pages] == ["text_layer"] * 3 + ["ocr"]


def test_a_short_text_layer_counts_and_ocr_adds_what_it_lacks(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "short.pdf"
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "123456789", fontsize=30)
        add_picture(document, letter_picture()).insert_text((450, 30), "Page 2")
        document.save(path)
    first, second = processor.extract(path).pages
    assert (first.text.strip(), first.method) == ("123456789", "ocr")
    assert second.method == "ocr"
    assert second.text.count("Page 2") == 1
    assert len(words(LETTER) - words(second.text)) <= 3


def test_a_sideways_scan_is_turned_and_noted(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "sideways.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=842, height=595)
        page.insert_image(page.rect, pixmap=letter_picture(), rotate=90, keep_proportion=False)
        document.save(path)
    extraction = processor.extract(path)
    assert len(words(LETTER) - words(extraction.pages[0].text)) <= 5
    assert extraction.account.pages[0].turned == 90
    assert extraction.warnings == ("Page 1: read turned by 90°.",)


def test_low_ocr_confidence_is_logged(
    processor: DocumentProcessor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "blurred.pdf"
    with pymupdf.open() as document:
        add_picture(document, letter_picture(dpi=38, size=14))
        document.save(path)
    with caplog.at_level(logging.WARNING, "trigpoint.text"):
        extraction = processor.extract(path)
    assert (extraction.account.pages[0].confidence or 100) < 70
    assert "read by OCR with a confidence of" in extraction.warnings[0]
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "blurred.pdf page 1" in record.message


def test_good_ocr_logs_nothing(processor: DocumentProcessor, scan_pdf: Path, caplog: pytest.LogCaptureFixture) -> None:
    processor.extract(scan_pdf)
    assert caplog.records == []


def test_without_ocr_a_scan_has_no_content(make_processor: Callable[..., DocumentProcessor], scan_pdf: Path) -> None:
    with pytest.raises(NoContent, match="ENABLE_OCR=false"):
        make_processor(enable_ocr=False).extract(scan_pdf)


def test_a_blank_document_has_no_content(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "blank.pdf"
    with pymupdf.open() as document:
        document.new_page()
        document.save(path)
    with pytest.raises(NoContent, match="no text"):
        processor.extract(path)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".jpeg", ".tiff", ".tif", ".bmp"])
def test_an_image_is_a_one_page_document_read_by_ocr(processor: DocumentProcessor, tmp_path: Path, suffix: str) -> None:
    picture = letter_picture()
    path = tmp_path / f"letter{suffix}"
    Image.frombytes("L", (picture.width, picture.height), picture.samples).save(path)
    extraction = processor.extract(path)
    assert extraction.method == "ocr"
    assert extraction.page_count == 1
    assert len(words(LETTER) - words(extraction.pages[0].text)) <= 3


def test_every_frame_of_a_tiff_is_a_page(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "letters.tiff"
    frames = []
    for text in ("The first sheet of the fax", "The second sheet of the fax"):
        picture = letter_picture(text)
        frames.append(Image.frombytes("L", (picture.width, picture.height), picture.samples))
    frames[0].save(path, save_all=True, append_images=frames[1:])
    pages = processor.extract(path).pages
    assert [("first" in page.text, "second" in page.text) for page in pages] == [(True, False), (False, True)]


def test_a_decompression_bomb_is_refused_without_decoding(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "bomb.png"
    path.write_bytes(png_of_zeros(30_000, 30_000))
    with pytest.raises(ExtractionFailed, match="30000 × 30000 pixels"):
        processor.extract(path)


def test_a_sheet_too_large_for_300_dpi_is_read_smaller_and_noted(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "banner.pdf"
    with pymupdf.open() as document:
        page = document.new_page(width=12000, height=1000)
        page.insert_image(pymupdf.Rect(0, 0, 700, 1000), pixmap=letter_picture(), keep_proportion=False)
        document.save(path)
    extraction = processor.extract(path)
    assert len(words(LETTER) - words(extraction.pages[0].text)) <= 3
    (note,) = extraction.account.pages[0].notes
    assert "too large for 300 DPI, read at " in note
    assert extraction.warnings == (f"Page 1: {note}.",)


def test_progress_rises_to_the_number_of_pages(processor: DocumentProcessor, text_pdf: Path) -> None:
    with pymupdf.open(text_pdf) as document:
        add_picture(document, letter_picture())
        document.saveIncr()
    seen: list[tuple[int, int]] = []
    processor.extract(text_pdf, progress=lambda done, total: seen.append((done, total)))
    assert seen == sorted(seen)
    assert seen[-1] == (4, 4)


def test_cancelling_stops_between_pages(processor: DocumentProcessor, scan_pdf: Path) -> None:
    done: list[int] = []
    with pytest.raises(Cancelled):
        processor.extract(scan_pdf, progress=lambda n, _: done.append(n), cancelled=lambda: bool(done))
    assert done[-1] < 2
    assert processor.extract(scan_pdf).page_count == 2


def test_a_missing_file_and_a_strange_type_say_so(processor: DocumentProcessor, tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match=r"nowhere\.pdf"):
        processor.extract(tmp_path / "nowhere.pdf")
    (tmp_path / "letter.docx").write_bytes(b"PK")
    with pytest.raises(UnsupportedFileType, match=r"\.docx.*\.pdf"):
        processor.extract(tmp_path / "letter.docx")


def test_text_is_cleaned_of_what_no_store_can_hold() -> None:
    assert clean_text("Caf\u00e9\tsite\nplan") == "Caf\u00e9\tsite\nplan"
    assert clean_text("a\x00b\x0cc\ud83dd\x1be") == "ab\nc\N{REPLACEMENT CHARACTER}de"
    clean_text("\ud800\udfff\x00").encode("utf-8")


def test_only_one_module_opens_files_from_outside_with_pymupdf() -> None:
    source = Path(__file__).parents[2] / "src" / "trigpoint"
    users = [
        path.name
        for path in source.rglob("*.py")
        if "import pymupdf" in path.read_text() or "import fitz" in path.read_text()
    ]
    assert users == ["mupdf.py"]
