"""Extraction: our speed beside bare PyMuPDF on the same pages in one process, the NPPF's time, OCR's time a page."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pymupdf

from benchmarks.report import SHARED_DATA, Report
from trigpoint.config import load_settings
from trigpoint.text.extract import DocumentProcessor

NPPF = SHARED_DATA / "policy" / "NPPF_December_2024.pdf"
LARGE = SHARED_DATA / "pdfs" / "large" / "DA-619p.pdf"
SCAN = SHARED_DATA / "pdfs" / "ocr" / "linn.pdf"
ROUNDS = 5


def bare(path: Path) -> int:
    with pymupdf.open(path) as document:
        return sum(len(page.get_text("text")) for page in document)


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def run(report: Report) -> None:
    if not NPPF.is_file():
        report.skip(f"extraction: no real data at {SHARED_DATA}")
        return
    alone = DocumentProcessor(load_settings(text_workers=1, enable_ocr=False))  # bare PyMuPDF does no OCR either
    both = DocumentProcessor(load_settings())
    try:
        for name, path, pages in (("NPPF, 82 pages", NPPF, 82), ("619 pages", LARGE, 619)):
            compare(report, name, path, pages, alone, both)
        report.row("NPPF, first file of a new processor", seconds(lambda: first(NPPF)), "s")
        if SCAN.is_file():
            both.extract(SCAN)
            report.row("OCR at 300 DPI", median(seconds(lambda: both.extract(SCAN)) for _ in range(3)), "s/page")
    finally:
        alone.close()
        both.close()


def compare(
    report: Report, name: str, path: Path, pages: int, alone: DocumentProcessor, both: DocumentProcessor
) -> None:
    """In turns, so that other work on the machine slows both alike; the median of several rounds."""
    for processor in (alone, both):
        processor.extract(path)
    times = [
        (seconds(lambda: bare(path)), seconds(lambda: alone.extract(path)), seconds(lambda: both.extract(path)))
        for _ in range(ROUNDS)
    ]
    plain, one, all_cores = (median(column) for column in zip(*times, strict=True))
    ratio = median(bare_seconds / ours for bare_seconds, ours, _ in times)
    report.row(f"{name}: bare PyMuPDF", pages / plain, "pages/s")
    report.row(f"{name}: one reader", pages / one, "pages/s")
    report.row(f"{name}: one reader to bare PyMuPDF", ratio, "ratio", bar=">= 0.85")
    report.row(f"{name}: all cores", pages / all_cores, "pages/s")
    report.row(f"{name}: seconds", all_cores, "s")


def first(path: Path) -> None:
    processor = DocumentProcessor(load_settings())
    try:
        processor.extract(path)
    finally:
        processor.close()
