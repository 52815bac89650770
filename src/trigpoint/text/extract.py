"""A file becomes pages of text: `DocumentProcessor` (FR-005, D1 to D3), and the only code that knows PyMuPDF.

The upper half runs in the caller's process and decides; the lower half (`READERS`) runs in reader processes and reads.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigpoint.errors import ExtractionFailed, FileMissing, NoContent, UnsupportedFileType, shorten
from trigpoint.text import ocr
from trigpoint.text.images import (
    IMAGE_SUFFIXES,
    MAX_IMAGE_PIXELS,
    OCR_DPI,
    QUICK_LOOK_DPI,
    SUPPORTED_SUFFIXES,
    covered_ratio,
    is_rendering_name,
    raster_scale,
)
from trigpoint.text.pages import LOW_CONFIDENCE, DocumentLook, Extraction, Method, Page, clean_text, has_text
from trigpoint.text.readers import Job, Lost, ReaderPool

if TYPE_CHECKING:
    from trigpoint.config import Settings

__all__ = ["DocumentLook", "DocumentProcessor", "Extraction", "Page"]

log = logging.getLogger("trigpoint.text")

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

PAGES_PER_JOB = 25
QUICK_LOOK_PAGES = 3
QUICK_LOOK_WORDS = 10
MAX_PAGES = 20_000


@dataclass(frozen=True, slots=True)
class Opened:
    """What opening a file shows."""

    number: int
    page_count: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PageLook:
    """A page's text layer, and what lies on it beside text."""

    number: int
    text: str
    image_ratio: float
    is_drawing: bool
    label: str | None
    note: str | None


@dataclass(frozen=True, slots=True)
class PageOcr:
    """A page read by Tesseract."""

    number: int
    text: str
    confidence: float | None
    confident_words: int
    note: str | None


@dataclass(frozen=True)
class Survey:
    """All pages of a document without OCR; what could not be read is among `lost`."""

    opened: Opened
    pages: Mapping[int, PageLook]
    lost: Mapping[int, str]

    def image_ratio(self) -> float:
        return sum(page.image_ratio for page in self.pages.values()) / max(1, len(self.pages))

    def has_text_layer(self) -> bool:
        characters = sum(len(page.text.strip()) for page in self.pages.values())
        return characters >= 10 * max(1, len(self.pages))

    def without_text(self) -> list[int]:
        return [number for number, page in self.pages.items() if not has_text(page.text)]


class DocumentProcessor:
    """Reads PDFs and images. Thread-safe; calls are slow, so an event loop makes them in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ReaderPool(settings.text_workers or os.cpu_count() or 1, settings.page_timeout_seconds)
        self._last: tuple[tuple[object, ...], Survey] | None = None
        self._last_lock = threading.Lock()

    def classify_document(self, path: Path | str, *, cancelled: Cancelled | None = None) -> DocumentLook:
        """What the document is, without reading its scans. What was seen is kept for an `extract` that follows."""
        path = _checked(path)
        survey = self._survey(path, None, cancelled)
        self._remember(path, survey)
        rendering = is_rendering_name(path.name)
        return DocumentLook(
            image_ratio=round(survey.image_ratio(), 3),
            total_pages=survey.opened.page_count,
            is_image_based=self._is_image_based(path, survey, rendering, cancelled),
            is_rendering=rendering,
            contains_drawings=any(page.is_drawing for page in survey.pages.values()),
        )

    def extract(
        self, path: Path | str, *, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> Extraction:
        """The document's text. Raises FileMissing, UnsupportedFileType, ExtractionFailed, NoContent, Cancelled."""
        path = _checked(path)
        survey = self._recall(path) or self._survey(path, progress, cancelled)
        read = self._ocr_pages(path, survey, progress, cancelled) if self._may_ocr(path) else {}
        pages = tuple(_page(number, survey, read) for number in range(1, survey.opened.page_count + 1))
        if not any(page.text.strip() for page in pages):
            raise self._nothing_found(path, pages)
        _log_low_confidence(path, pages)
        return Extraction(pages, _method_of(pages), len(pages), (*survey.opened.warnings, *_page_warnings(pages)))

    def close(self) -> None:
        """Ends the reader processes; a call that is running fails."""
        self._pool.close()

    def reader_pids(self) -> list[int]:
        """The reader processes at this moment, for whoever watches over them."""
        return self._pool.pids()

    def _may_ocr(self, path: Path) -> bool:
        return self._settings.enable_ocr and not is_rendering_name(path.name)

    def _survey(self, path: Path, progress: Progress | None, cancelled: Cancelled | None) -> Survey:
        opened = self._open(path, cancelled)
        numbers = range(1, opened.page_count + 1)
        jobs = [
            Job("text", {"path": str(path)}, tuple(numbers[at : at + PAGES_PER_JOB]))
            for at in range(0, len(numbers), PAGES_PER_JOB)
        ]
        pages: dict[int, PageLook] = {}
        lost: dict[int, str] = {}
        finished = 0
        for _, item in self._pool.run(jobs, cancelled):
            if isinstance(item, Lost):
                lost[item.page] = item.reason
                finished += 1
            else:
                pages[item.number] = item
                finished += has_text(item.text) or not self._may_ocr(path)
            if progress is not None:
                progress(finished, opened.page_count)
        return Survey(opened, dict(sorted(pages.items())), lost)

    def _open(self, path: Path, cancelled: Cancelled | None) -> Opened:
        ((_, opened),) = self._pool.run([Job("open", {"path": str(path)}, (0,))], cancelled)
        if isinstance(opened, Lost):
            raise ExtractionFailed(f"{shorten(path.name)} cannot be opened: it {opened.reason}.")
        assert isinstance(opened, Opened)
        return opened

    def _ocr_pages(
        self, path: Path, survey: Survey, progress: Progress | None, cancelled: Cancelled | None
    ) -> dict[int, PageOcr | Lost]:
        wanted = survey.without_text()
        arguments = {"path": str(path), "dpi": OCR_DPI, "timeout": self._settings.page_timeout_seconds}
        read: dict[int, PageOcr | Lost] = {}
        for _, item in self._pool.run([Job("ocr", arguments, (number,)) for number in wanted], cancelled):
            read[item.page if isinstance(item, Lost) else item.number] = item
            if progress is not None:
                progress(survey.opened.page_count - len(wanted) + len(read), survey.opened.page_count)
        return read

    def _is_image_based(self, path: Path, survey: Survey, rendering: bool, cancelled: Cancelled | None) -> bool:
        """D2: over the threshold, unless there is a text layer, or it is a scan of text; D3 takes renderings."""
        if survey.image_ratio() <= self._settings.image_ratio_threshold:
            return False
        if self._settings.image_ratio_strict or not self._settings.enable_ocr:
            return True
        if survey.has_text_layer() or rendering:
            return False
        return not self._is_scan_of_text(path, survey, cancelled)

    def _is_scan_of_text(self, path: Path, survey: Survey, cancelled: Cancelled | None) -> bool:
        """The quick look: up to three pages at low resolution, ten confident words a page."""
        looked_at = _spread(survey.without_text(), QUICK_LOOK_PAGES)
        arguments = {"path": str(path), "dpi": QUICK_LOOK_DPI, "timeout": self._settings.page_timeout_seconds}
        items = [item for _, item in self._pool.run([Job("ocr", arguments, (n,)) for n in looked_at], cancelled)]
        words = sum(item.confident_words for item in items if isinstance(item, PageOcr))
        return bool(looked_at) and words >= QUICK_LOOK_WORDS * len(looked_at)

    def _remember(self, path: Path, survey: Survey) -> None:
        with self._last_lock:
            self._last = (_identity(path), survey)

    def _recall(self, path: Path) -> Survey | None:
        """The survey that `classify_document` just made of this very file, if it did."""
        with self._last_lock:
            last = self._last
            if last is None or last[0] != _identity(path):
                return None
            self._last = None
            return last[1]

    def _nothing_found(self, path: Path, pages: Sequence[Page]) -> ExtractionFailed | NoContent:
        name = shorten(path.name)
        failed = [page for page in pages if page.note]
        if len(failed) == len(pages):
            return ExtractionFailed(f"No page of {name} could be read. Page 1 {failed[0].note}.")
        if is_rendering_name(path.name):
            return NoContent(f"{name} has no text; by its name it is a rendering, so it was not read by OCR.")
        if not self._settings.enable_ocr:
            return NoContent(f"{name} has no text layer, and OCR is switched off (ENABLE_OCR=false).")
        return NoContent(f"{name} has no text: no text layer, and OCR found no words on its {len(pages)} page(s).")


def _checked(path: Path | str) -> Path:
    path = Path(path)
    if path.suffix.lower() not in SUPPORTED_SUFFIXES:
        known = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise UnsupportedFileType(f"Unsupported file type {shorten(path.suffix) or '(none)'}: expected one of {known}.")
    if not path.is_file():
        raise FileMissing(f"File not found: {shorten(path, 300)}")
    return path


def _identity(path: Path) -> tuple[object, ...]:
    status = path.stat()
    return str(path), status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """First, last and what lies evenly between."""
    if len(numbers) <= count:
        return list(numbers)
    return [numbers[round(i * (len(numbers) - 1) / (count - 1))] for i in range(count)]


def _page(number: int, survey: Survey, read: Mapping[int, PageOcr | Lost]) -> Page:
    look = survey.pages.get(number)
    if look is None:
        return Page(number, "", "text_layer", note=survey.lost.get(number, "was not read"))
    found = read.get(number)
    if isinstance(found, Lost):
        return Page(number, look.text, "text_layer", label=look.label, note=f"{found.reason} during OCR")
    if found is not None and len(found.text.strip()) >= max(1, len(look.text.strip())):
        note = "; ".join(filter(None, (look.note, found.note))) or None
        return Page(number, found.text, "ocr", found.confidence, look.label, note)
    return Page(number, look.text, "text_layer", label=look.label, note=look.note)


def _method_of(pages: Sequence[Page]) -> Method:
    methods = {page.method for page in pages if page.text.strip()}
    return methods.pop() if len(methods) == 1 else "mixed"


def _page_warnings(pages: Sequence[Page]) -> list[str]:
    """One warning for each thing that was noted, with the pages it was noted on."""
    by_note: dict[str, list[int]] = {}
    for page in pages:
        if page.note:
            by_note.setdefault(page.note, []).append(page.number)
    return [f"{_page_list(numbers)} {note}" for note, numbers in by_note.items()]


def _page_list(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in numbers[:10]) + (
        f" and {len(numbers) - 10} more" if len(numbers) > 10 else ""
    )
    return f"Page{'s' if len(numbers) > 1 else ''} {shown}:"


def _log_low_confidence(path: Path, pages: Sequence[Page]) -> None:
    for page in pages:
        if page.confidence is not None and page.confidence < LOW_CONFIDENCE:
            log.warning(
                "%s page %d: OCR confidence %.0f %% is below 70 %%", shorten(path.name), page.number, page.confidence
            )


# --- what runs in a reader process ---------------------------------------------------------------


_documents: dict[tuple[object, ...], Any] = {}


def _mupdf() -> Any:
    import pymupdf

    pymupdf.TOOLS.mupdf_display_errors(False)
    pymupdf.TOOLS.mupdf_display_warnings(False)
    return pymupdf


def _document(path: str) -> Any:
    """The open document; the last one stays open, since its pages come job by job."""
    identity = _identity(Path(path))
    if identity not in _documents:
        for document in _documents.values():
            document.close()
        _documents.clear()
        _documents[identity] = _open_image(path) if Path(path).suffix.lower() in IMAGE_SUFFIXES else _open_pdf(path)
    return _documents[identity]


def _open_pdf(path: str) -> Any:
    pymupdf = _mupdf()
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    try:
        document = pymupdf.open(path, filetype="pdf")
    except Exception as error:
        raise ExtractionFailed(f"{name} is damaged and cannot be repaired{_cut_short(path)}: {error}.") from None
    if not document.is_pdf:
        raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.")
    if document.needs_pass:
        raise ExtractionFailed(f"{name} is encrypted: a password is needed to open it.")
    if document.page_count == 0:
        if cut := _cut_short(path):
            raise ExtractionFailed(f"{name} is damaged{cut}: no page of it can be recovered.")
        raise NoContent(f"{name} has no pages.")
    if document.page_count > MAX_PAGES:
        raise ExtractionFailed(f"{name} claims {document.page_count} pages; at most {MAX_PAGES} are read.")
    return document


def _cut_short(path: str) -> str:
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 2048))
        return "" if b"%%EOF" in file.read() else " (its end is missing, as after an interrupted download)"


def _open_image(path: str) -> Any:
    pymupdf = _mupdf()
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    try:
        document = pymupdf.open(path)
        pages = document.page_count
    except Exception as error:
        raise ExtractionFailed(f"{name} is damaged: it cannot be decoded as an image ({error}).") from None
    if document.is_pdf or document.is_reflowable or not pages:
        raise ExtractionFailed(f"{name} is not an image, whatever its name says.")
    return document


def read_opening(path: str, pages: Sequence[int]) -> Iterator[Opened]:
    document = _document(path)
    warnings = []
    if document.is_pdf and document.is_repaired:
        warnings.append(f"The file was damaged{_cut_short(path)} and has been repaired; parts of it may be missing.")
    yield Opened(0, document.page_count, tuple(warnings))


def read_text(path: str, pages: Sequence[int]) -> Iterator[PageLook]:
    pymupdf = _mupdf()
    document = _document(path)
    labelled = document.is_pdf and bool(document.get_page_labels())
    flags = pymupdf.TEXTFLAGS_TEXT | pymupdf.TEXT_PRESERVE_IMAGES
    for number in pages:
        try:
            page = document[number - 1]
            found = page.get_textpage(flags=flags)
            text = clean_text(found.extractText())
            boxes = [image["bbox"] for image in found.extractIMGINFO()]
            ratio = covered_ratio(boxes, tuple(page.rect))
            yield PageLook(number, text, ratio, False, (page.get_label() or None) if labelled else None, None)
        except Exception as error:
            yield PageLook(number, "", 0.0, False, None, f"could not be read: {error}")


def read_by_ocr(path: str, pages: Sequence[int], dpi: int, timeout: float) -> Iterator[PageOcr]:
    document = _document(path)
    for number in pages:
        picture, note = _rasterise(document, number, dpi)
        found = ocr.engine().read(picture, timeout=timeout)
        yield PageOcr(number, clean_text(found.text), found.confidence, found.confident_words, note)


def _rasterise(document: Any, number: int, dpi: int) -> tuple[ocr.Picture, str | None]:
    pymupdf = _mupdf()
    page = document[number - 1]
    scale = raster_scale(page.rect.width, page.rect.height, dpi / 72)
    note = None
    if scale < dpi / 72:
        note = f"is too large for {dpi} DPI and was read at {scale * 72:.0f} DPI"
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csGRAY, alpha=False)
    picture = ocr.Picture(
        pixmap.width, pixmap.height, pixmap.stride, bytes(pixmap.samples_mv), max(70, round(scale * 72))
    )
    return picture, note


READERS: Mapping[str, Callable[..., Iterator[Any]]] = {"open": read_opening, "text": read_text, "ocr": read_by_ocr}
