"""Encrypted, truncated, empty and repaired files: the message says which, and nothing is lost in silence."""

from __future__ import annotations

from pathlib import Path

import pymupdf
import pytest
from extract_samples import write_text_pdf

from trigpoint.errors import ExtractionFailed, NoContent
from trigpoint.text.extract import DocumentProcessor


def encrypted(path: Path, **passwords: str) -> Path:
    out = path.with_name("encrypted.pdf")
    with pymupdf.open(path) as document:
        document.save(out, encryption=pymupdf.PDF_ENCRYPT_AES_256, **passwords)
    return out


def test_a_file_with_a_user_password_says_that_one_is_needed(processor: DocumentProcessor, text_pdf: Path) -> None:
    path = encrypted(text_pdf, user_pw="secret", owner_pw="owner")
    with pytest.raises(ExtractionFailed, match="password is needed"):
        processor.extract(path)
    with pytest.raises(ExtractionFailed, match="password is needed"):
        processor.classify_document(path)


def test_a_file_with_only_an_owner_password_is_read(processor: DocumentProcessor, text_pdf: Path) -> None:
    assert processor.extract(encrypted(text_pdf, owner_pw="owner")).page_count == 3


def test_an_empty_file_and_one_that_is_no_pdf_say_so(processor: DocumentProcessor, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pdf"
    empty.touch()
    with pytest.raises(ExtractionFailed, match="0 bytes"):
        processor.extract(empty)
    page = tmp_path / "page.pdf"
    page.write_text("<html><body><h1>404 Not Found</h1><p>This document is no longer available.</p></body></html>")
    with pytest.raises(ExtractionFailed, match=r"page\.pdf is not a PDF"):
        processor.extract(page)


def test_an_image_that_is_none_says_so(processor: DocumentProcessor, text_pdf: Path, tmp_path: Path) -> None:
    path = tmp_path / "scan.png"
    path.write_bytes(text_pdf.read_bytes())
    with pytest.raises(ExtractionFailed, match="is not a PNG, JPEG, TIFF or BMP"):
        processor.extract(path)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    with pytest.raises(ExtractionFailed, match=r"scan\.png"):
        processor.extract(path)


def test_a_pdf_without_pages_has_no_content(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = tmp_path / "none.pdf"
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"]
    body = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"xref\n0 3\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    path.write_bytes(body + table + b"trailer\n<</Size 3/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % len(body))
    with pytest.raises(NoContent, match="has no pages"):
        processor.extract(path)


def test_a_file_cut_in_half_says_that_its_end_is_missing(processor: DocumentProcessor, tmp_path: Path) -> None:
    path = write_text_pdf(tmp_path / "cut.pdf", 40)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    try:
        extraction = processor.extract(path)
    except ExtractionFailed as error:
        assert "its end is missing" in error.message
    else:
        assert "its end is missing" in extraction.warnings[0]


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_no_truncation_passes_in_silence(processor: DocumentProcessor, tmp_path: Path, part: float) -> None:
    path = write_text_pdf(tmp_path / "cut.pdf", 12)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    try:
        assert processor.extract(path).warnings
    except ExtractionFailed as error:
        assert "damaged" in error.message or "No page" in error.message


def test_a_repaired_file_is_read_with_a_warning(processor: DocumentProcessor, text_pdf: Path) -> None:
    whole = text_pdf.read_bytes()
    at = whole.rindex(b"startxref")
    text_pdf.write_bytes(whole[:at] + b"startxref\n7\n%%EOF\n")
    extraction = processor.extract(text_pdf)
    assert extraction.page_count == 3
    assert extraction.warnings == ("The file was damaged and was repaired; parts of it may be missing.",)


def test_pages_lost_from_a_truncated_council_file_are_named(processor: DocumentProcessor, shared_data: Path) -> None:
    path = shared_data / "pdfs" / "truncated-council" / "partial__City_Centre_Area_Action_Plan_2017_(1).pdf"
    extraction = processor.extract(path)
    assert extraction.page_count == 111
    assert len([page for page in extraction.pages if page.text.strip()]) == 48
    assert "Pages 49 to 111: not read: missing from the file." in extraction.warnings
    assert "63 not read (pages 49 to 111: missing from the file)" in extraction.account.summary


def test_fewer_pages_than_the_file_promises_is_a_warning(processor: DocumentProcessor, text_pdf: Path) -> None:
    whole = text_pdf.read_bytes()
    head, _, rest = whole.partition(b"\n")
    text_pdf.write_bytes(head + b"\n999 0 obj\n<</Linearized 1/N 17>>\nendobj\n" + rest)
    assert "The file should have 17 pages; 3 were found." in processor.extract(text_pdf).warnings


def test_a_file_whose_page_tree_is_empty_fails_alike_however_often_it_is_read(
    processor: DocumentProcessor, tmp_path: Path
) -> None:
    path = tmp_path / "no-kids.pdf"
    path.write_bytes(
        b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Count 1 /Kids [] >>\nendobj\n"
        b"trailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n0\n%%EOF\n"
    )
    told = []
    for _ in range(4):  # readers keep a file open, and it has forgotten its pages by then
        with pytest.raises(ExtractionFailed) as failed:
            processor.extract(path)
        told.append(str(failed.value))
    assert len(set(told)) == 1
    assert "Page 1: could not be read" in told[0]


def test_a_damaged_entry_of_an_attachment_does_not_cost_the_document(
    processor: DocumentProcessor, text_pdf: Path, tmp_path: Path
) -> None:
    """The entry names an object that is not there, as after a broken download."""
    path = tmp_path / "carries.pdf"
    with pymupdf.open(text_pdf) as document:
        document.embfile_add("plan.txt", b"some words", filename="plan.txt")
        numbers = range(1, document.xref_length())
        entry = next(x for x in numbers if "/EF" in document.xref_object(x))
        held = next(x for x in numbers if document.xref_get_key(x, "Params")[0] != "null")
        document.update_object(entry, document.xref_object(entry).replace(f" {held} 0 R", " 9999 0 R"))
        document.save(path)
    extraction = processor.extract(path)
    assert extraction.page_count == 3
    assert [one.name for one in processor.attachments(path)] == ["plan.txt"]
    with pytest.raises(ExtractionFailed, match=r"plan\.txt is damaged"):
        processor.attachment(path, 0)
