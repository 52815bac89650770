"""A file becomes pages of text: `DocumentProcessor` (FR-005, D1 to D3), and the only code that knows PyMuPDF.

The upper half runs in the caller's process and decides; the lower half (`READERS`) runs in reader processes and reads.
"""

from __future__ import annotations

import logging
import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trigpoint.errors import ExtractionFailed, FileMissing, NoContent, UnsupportedFileType, shorten
from trigpoint.text import ocr
from trigpoint.text.damage import damage, lost_tail
from trigpoint.text.images import (
    IMAGE_SUFFIXES,
    MAX_IMAGE_PIXELS,
    OCR_DPI,
    QUICK_LOOK_DPI,
    SUPPORTED_SUFFIXES,
    covered_ratio,
    image_kind,
    is_rendering_name,
    picture_scale,
    raster_scale,
    sheet_scale,
)
from trigpoint.text.pages import LOW_CONFIDENCE, DocumentLook, Extraction, Page, clean_text, has_text
from trigpoint.text.readers import Job, Lost, ReaderPool
from trigpoint.text.survey import Opened, PageLook, PageOcr, Survey, assemble, failed_pages, method_of, page_warnings

if TYPE_CHECKING:
    from trigpoint.config import Settings

__all__ = ["DocumentLook", "DocumentProcessor", "Extraction", "Page"]

log = logging.getLogger("trigpoint.text")

Progress = Callable[[int, int], None]
Cancelled = Callable[[], bool]

PAGES_PER_JOB = 25
QUICK_LOOK_PAGES = 3
QUICK_LOOK_WORDS = 10
SURVEYS_KEPT = 4
MAX_PAGES = 20_000

TURNED_BELOW = 50.0
TURNED_WORDS = 5

DRAWING_MAX_CHARS = 1_000
DRAWING_PATHS = 100
DRAWING_IMAGE_RATIO = 0.25
DRAWING_SHEET = 595 * 842 * 1.2


class DocumentProcessor:
    """Reads PDFs and images. Thread-safe; calls are slow, so an event loop makes them in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ReaderPool(settings.text_workers or os.cpu_count() or 1, settings.page_timeout_seconds)
        self._surveys: dict[tuple[object, ...], Survey] = {}
        self._surveys_lock = threading.Lock()

    def classify_document(self, path: Path | str, *, cancelled: Cancelled | None = None) -> DocumentLook:
        """What the document is, without reading its scans. What was seen is kept for an `extract` that follows."""
        path = _checked(path)
        survey = self._survey(path, None, cancelled)
        self._remember(path, survey)
        rendering = is_rendering_name(path.name)
        image_based = self._is_image_based(path, survey, rendering, cancelled)
        return DocumentLook(
            image_ratio=round(survey.image_ratio(), 3),
            total_pages=survey.opened.page_count,
            is_image_based=image_based,
            is_rendering=rendering,
            contains_drawings=image_based or any(page.is_drawing for page in survey.pages.values()),
        )

    def extract(
        self, path: Path | str, *, progress: Progress | None = None, cancelled: Cancelled | None = None
    ) -> Extraction:
        """The document's text. Raises FileMissing, UnsupportedFileType, ExtractionFailed, NoContent, Cancelled."""
        path = _checked(path)
        survey = self._recall(path) or self._survey(path, progress, cancelled)
        read = self._ocr_pages(path, survey, progress, cancelled) if self._may_ocr(path) else {}
        pages = assemble(survey, read)
        if not any(page.text.strip() for page in pages):
            raise self._nothing_found(path, survey, read)
        _log_low_confidence(path, pages)
        return Extraction(pages, method_of(pages), len(pages), (*survey.opened.warnings, *page_warnings(pages)))

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
        with self._surveys_lock:
            self._surveys[_identity(path)] = survey
            while len(self._surveys) > SURVEYS_KEPT:
                del self._surveys[next(iter(self._surveys))]

    def _recall(self, path: Path) -> Survey | None:
        """The survey that `classify_document` made of this very file, if it did."""
        with self._surveys_lock:
            return self._surveys.pop(_identity(path), None)

    def _nothing_found(
        self, path: Path, survey: Survey, read: Mapping[int, PageOcr | Lost]
    ) -> ExtractionFailed | NoContent:
        name = shorten(path.name)
        failures = failed_pages(survey, read)
        if len(failures) == survey.opened.page_count:
            return ExtractionFailed(f"No page of {name} could be read. Page 1: {failures[1]}.")
        if is_rendering_name(path.name):
            return NoContent(f"{name} has no text; by its name it is a rendering, so it was not read by OCR.")
        if not self._settings.enable_ocr:
            return NoContent(f"{name} has no text layer, and OCR is switched off (ENABLE_OCR=false).")
        looked_at = f"OCR found no words on its {survey.opened.page_count} page(s)"
        return NoContent(f"{name} has no text: there is no text layer, and {looked_at}.")


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


def _log_low_confidence(path: Path, pages: Sequence[Page]) -> None:
    for page in pages:
        if page.confidence is not None and page.confidence < LOW_CONFIDENCE:
            log.warning(
                "%s page %d: OCR confidence %.0f %% is below 70 %%", shorten(path.name), page.number, page.confidence
            )


# --- what runs in a reader process ---------------------------------------------------------------

_open_documents: dict[tuple[object, ...], Any] = {}


def _mupdf() -> Any:
    """PyMuPDF, quiet: what it has to say is asked of it."""
    import pymupdf

    tools: Any = pymupdf.TOOLS
    tools.mupdf_display_errors(False)
    tools.mupdf_display_warnings(False)
    return pymupdf


def _document(path: str) -> Any:
    """The open document; the last one stays open, since its pages come job by job."""
    identity = _identity(Path(path))
    if identity not in _open_documents:
        while _open_documents:
            _open_documents.popitem()[1].close()
        opening = _open_image if Path(path).suffix.lower() in IMAGE_SUFFIXES else _open_pdf
        _open_documents[identity] = opening(path)
    return _open_documents[identity]


def _open_pdf(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    pymupdf = _mupdf()
    pymupdf.TOOLS.mupdf_warnings(reset=True)
    try:
        document = pymupdf.open(path, filetype="pdf")
        locked = document.needs_pass
        pages = 0 if locked else document.page_count
    except Exception as error:
        why = str(error.__cause__ or error).partition(": ")[2] or str(error)
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)} and cannot be read: {shorten(why)}.") from None
    if not document.is_pdf:
        raise ExtractionFailed(f"{name} is not a PDF, whatever its name says.")
    if locked:
        raise ExtractionFailed(f"{name} is encrypted: a password is needed to open it.")
    if pages > MAX_PAGES:
        raise ExtractionFailed(f"{name} claims to have {pages} pages; at most {MAX_PAGES} are read.")
    if pages == 0 and (document.is_repaired or lost_tail(path) or pymupdf.TOOLS.mupdf_warnings(reset=True)):
        raise ExtractionFailed(f"{name} is damaged{lost_tail(path)}: no page of it can be recovered.")
    if pages == 0:
        raise NoContent(f"{name} has no pages.")
    return document


def _open_image(path: str) -> Any:
    name = shorten(Path(path).name)
    if os.path.getsize(path) == 0:
        raise ExtractionFailed(f"{name} is empty: 0 bytes.")
    kind = image_kind(path)
    if kind is None:
        raise ExtractionFailed(f"{name} is not a PNG, JPEG, TIFF or BMP image, whatever its name says.")
    try:
        document = _mupdf().open(path, filetype=kind)
        sizes = [_pixels(page) for page in document]
    except Exception as error:
        raise ExtractionFailed(f"{name} is damaged: it cannot be decoded as {kind} ({shorten(error)}).") from None
    width, height = max(sizes, key=math.prod, default=(0, 0))
    if not width * height:
        raise ExtractionFailed(f"{name} is damaged: it holds no picture.")
    if width * height > MAX_IMAGE_PIXELS:
        limit = f"at most {MAX_IMAGE_PIXELS // 1_000_000} million are decoded"
        raise ExtractionFailed(f"{name} is {width} × {height} pixels; {limit}. Scale it down and try again.")
    return document


def _pixels(page: Any) -> tuple[int, int]:
    """The size of an image file's picture, from its header: nothing is decoded."""
    image = page.get_image_info()[0]
    return image["width"], image["height"]


def read_opening(path: str, pages: Sequence[int]) -> Iterator[Opened]:
    document = _document(path)
    count = document.page_count
    yield Opened(
        0, count, tuple(damage(path, repaired=document.is_repaired, page_count=count)) if document.is_pdf else ()
    )


def read_text(path: str, pages: Sequence[int]) -> Iterator[PageLook]:
    """The text layers. A page that raises is noted, and the next one is read."""
    pymupdf = _mupdf()
    document = _document(path)
    labels = document.is_pdf and bool(document.get_page_labels())
    doubtful = document.is_pdf and (document.is_repaired or bool(lost_tail(path)))
    for number in pages:
        try:
            page = document[number - 1]
            if doubtful and not _exists(document, page.xref):
                yield PageLook(number, "", note="missing from the file", unreadable=True)
                continue
            incomplete = "a part of its content is lost" if doubtful and _lost_content(document, page) else None
            found = page.get_textpage(flags=pymupdf.TEXTFLAGS_TEXT | pymupdf.TEXT_PRESERVE_IMAGES)
            text = clean_text(found.extractText())
            ratio = covered_ratio([image["bbox"] for image in found.extractIMGINFO()], tuple(page.rect))
            label = (page.get_label() or None) if labels else None
            yield PageLook(number, text, ratio, _is_drawing(page, text, ratio), label, incomplete)
        except Exception as error:
            yield PageLook(number, "", note=f"could not be read ({shorten(error)})", unreadable=True)
    pymupdf.TOOLS.store_shrink(100)


def _exists(document: Any, xref: int) -> bool:
    """Whether the file holds this page; where it does not, MuPDF shows a blank one and says nothing."""
    return 0 < xref < document.xref_length() and bool(document.xref_get_key(xref, "Type")[1] == "/Page")


def _lost_content(document: Any, page: Any) -> bool:
    return not all(document.xref_is_stream(xref) for xref in page.get_contents())


def _is_drawing(page: Any, text: str, image_ratio: float) -> bool:
    """Little text, and many vector paths, or a picture on a sheet larger than A4."""
    if len(text) >= DRAWING_MAX_CHARS:
        return False
    if image_ratio >= DRAWING_IMAGE_RATIO and abs(page.rect) > DRAWING_SHEET and has_text(text):
        return True
    return sum("path" in kind for kind, *_ in page.get_bboxlog()) >= DRAWING_PATHS


def read_by_ocr(path: str, pages: Sequence[int], dpi: int, timeout: float) -> Iterator[PageOcr]:
    """Pages as Tesseract sees them. What is wrong with one page is noted on it."""
    document = _document(path)
    engine = ocr.engine()
    for number in pages:
        try:
            yield _read_upright(engine, document[number - 1], dpi, timeout)
        except ExtractionFailed:
            raise
        except Exception as error:
            yield PageOcr(number, "", note=f"could not be read by OCR ({shorten(error)})")
    _mupdf().TOOLS.store_shrink(100)


def _read_upright(engine: ocr.Engine, page: Any, dpi: int, timeout: float) -> PageOcr:
    """Reads the page as it lies and, where that gives little, as it lies best."""
    picture, note = _rasterise(page, dpi)
    found = engine.read(picture, timeout=timeout) if picture else ocr.NOTHING
    if picture and (found.confidence or 0.0) < TURNED_BELOW:
        looks = {
            turn: engine.read(_rasterise(page, QUICK_LOOK_DPI, turn)[0] or picture, timeout=timeout)
            for turn in (90, 270, 180)
        }
        turn = max(looks, key=lambda angle: looks[angle].confident_words)
        if looks[turn].confident_words >= max(TURNED_WORDS, 2 * found.confident_words):
            note = "; ".join(filter(None, (note, f"read turned by {turn}°")))
            picture, _ = _rasterise(page, dpi, turn)
            found = engine.read(picture, timeout=timeout) if picture else found
    return PageOcr(page.number + 1, clean_text(found.text), found.confidence, found.confident_words, note)


def _rasterise(page: Any, dpi: int, turn: int = 0) -> tuple[ocr.Picture | None, str | None]:
    """The page in grey, None where it is blank; and what had to be done to it."""
    pymupdf = _mupdf()
    is_pdf = page.parent.is_pdf
    sheet = page.rect.width, page.rect.height
    wanted = sheet_scale(*sheet, dpi) if is_pdf else picture_scale(*_pixels(page), dpi) * _pixels(page)[0] / sheet[0]
    scale = raster_scale(*sheet, wanted)
    note = f"too large for {dpi} DPI, read at {scale * 72:.0f} DPI" if scale < wanted else None
    matrix = pymupdf.Matrix(scale, scale).prerotate(turn)
    pixmap = page.get_pixmap(matrix=matrix, colorspace=pymupdf.csGRAY, alpha=False)
    samples = bytes(pixmap.samples_mv)
    if samples.count(samples[:1]) == len(samples):
        return None, note
    return ocr.Picture(
        pixmap.width, pixmap.height, pixmap.stride, samples, max(70, round(scale * 72)) if is_pdf else dpi
    ), note


READERS: Mapping[str, Callable[..., Iterator[Any]]] = {"open": read_opening, "text": read_text, "ocr": read_by_ocr}
