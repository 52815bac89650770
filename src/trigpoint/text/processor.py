"""`DocumentProcessor`: decides what is read and how, and leaves the reading to reader processes."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trigpoint.errors import ExtractionFailed, FileMissing, NoContent, UnsupportedFileType, shorten
from trigpoint.text.account import LOW_CONFIDENCE, Attachment, DocumentAccount
from trigpoint.text.attachments import AttachedFile
from trigpoint.text.images import SUPPORTED_SUFFIXES, is_rendering_name
from trigpoint.text.pages import DocumentLook, Extraction, Outline
from trigpoint.text.readers import Job, LostPage, ReaderPool
from trigpoint.text.survey import (
    OpenedFile,
    PageLook,
    PageReading,
    Survey,
    WordCount,
    assemble,
    failed_pages,
)

if TYPE_CHECKING:
    from trigpoint.config import Settings

log = logging.getLogger("trigpoint.text")

Progress = Callable[[int, int], None]
IsCancelled = Callable[[], bool]

_PAGES_PER_JOB = 25
_QUICK_LOOK_PAGES = 3
_QUICK_LOOK_WORDS = 10


class DocumentProcessor:
    """Reads PDFs and images. Thread-safe; calls are slow, so an event loop makes them in a thread."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = ReaderPool(settings.text_workers or os.cpu_count() or 1, settings.page_timeout_seconds)

    def classify_document(
        self, path: Path | str, *, progress: Progress | None = None, cancelled: IsCancelled | None = None
    ) -> DocumentLook:
        """Return the kind of document, without reading its scans. An `extract` that is given it need not look again."""
        path = _checked_path(path)
        survey = self._survey(path, progress, cancelled)
        rendering = is_rendering_name(path.name)
        image_based = self._is_image_based(path, survey, rendering, cancelled)
        return DocumentLook(
            image_ratio=round(survey.image_ratio(), 3),
            total_pages=survey.opened.page_count,
            is_image_based=image_based,
            is_rendering=rendering,
            contains_drawings=image_based or any(page.is_drawing for page in survey.pages.values()),
            survey=survey,
        )

    def extract(
        self,
        path: Path | str,
        *,
        look: DocumentLook | None = None,
        progress: Progress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Extraction:
        """Return the document's text. `look` is what `classify_document` returned of it.

        Raises FileMissing, UnsupportedFileType, ExtractionFailed, NoContent, Cancelled.
        """
        path = _checked_path(path)
        survey = (look and look.survey) or self._survey(path, progress, cancelled)
        read = self._look_again(path, survey, progress, cancelled)
        extraction = assemble(survey, read)
        if progress is not None:
            progress(extraction.page_count, extraction.page_count)
        if not any(page.text.strip() for page in extraction.pages):
            raise self._nothing_found(path, survey, read)
        _log_low_confidence(path, extraction.account)
        return extraction

    def outline(self, path: Path | str) -> Outline:
        """Return a PDF's own title and bookmarks; none if they cannot be read, since nothing depends on them."""
        path = _checked_path(path)
        ((_, outline),) = self._pool.run([Job("outline", {"path": str(path)}, (0,))], None)
        return outline if isinstance(outline, Outline) else Outline(0, None, ())

    def attachments(self, path: Path | str) -> tuple[Attachment, ...]:
        """Return the files inside a PDF. Raises FileMissing, UnsupportedFileType, ExtractionFailed."""
        return self._open(_checked_path(path), None).attachments

    def attachment(self, path: Path | str, place: int) -> AttachedFile:
        """Return the file inside a PDF at this place of `account.attachments`. Raises ExtractionFailed."""
        path = _checked_path(path)
        ((_, content),) = self._pool.run([Job("attachment", {"path": str(path)}, (place,))], None)
        if isinstance(content, LostPage):
            raise ExtractionFailed(f"An attachment of {shorten(path.name)} cannot be read: it {content.reason}.")
        assert isinstance(content, AttachedFile)
        return content

    def close(self) -> None:
        """End the reader processes. A call that is running fails."""
        self._pool.close()

    def reader_pids(self) -> list[int]:
        """Return the process ids of the readers at this moment, so that they can be monitored."""
        return self._pool.pids()

    def _survey(self, path: Path, progress: Progress | None, cancelled: IsCancelled | None) -> Survey:
        opened = self._open(path, cancelled)
        numbers = range(1, opened.page_count + 1)
        jobs = [
            Job("text", {"path": str(path)}, tuple(numbers[at : at + _PAGES_PER_JOB]))
            for at in range(0, len(numbers), _PAGES_PER_JOB)
        ]
        pages: dict[int, PageLook] = {}
        lost: dict[int, str] = {}
        finished = 0
        for _, item in self._pool.run(jobs, cancelled):
            if isinstance(item, LostPage):
                lost[item.page] = item.reason
                finished += 1
            else:
                pages[item.number] = item
                finished += not item.doubts
            if progress is not None:
                progress(finished, opened.page_count)
        return Survey(opened, dict(sorted(pages.items())), lost)

    def _open(self, path: Path, cancelled: IsCancelled | None) -> OpenedFile:
        ((_, opened),) = self._pool.run([Job("open", {"path": str(path)}, (0,))], cancelled)
        if isinstance(opened, LostPage):
            raise ExtractionFailed(f"{shorten(path.name)} cannot be opened: it {opened.reason}.")
        assert isinstance(opened, OpenedFile)
        return opened

    def _look_again(
        self, path: Path, survey: Survey, progress: Progress | None, cancelled: IsCancelled | None
    ) -> dict[int, PageReading | LostPage]:
        with_ocr = self._settings.enable_ocr and not is_rendering_name(path.name)
        wanted = survey.to_look_at(with_ocr=with_ocr)
        arguments = {"path": str(path), "timeout": self._settings.page_timeout_seconds, "with_ocr": with_ocr}
        jobs = [Job("closely", {**arguments, "doubts": survey.pages[number].doubts}, (number,)) for number in wanted]
        read: dict[int, PageReading | LostPage] = {}
        for _, item in self._pool.run(jobs, cancelled):
            read[item.page if isinstance(item, LostPage) else item.number] = item
            if progress is not None:
                progress(survey.opened.page_count - len(wanted) + len(read), survey.opened.page_count)
        return read

    def _is_image_based(self, path: Path, survey: Survey, rendering: bool, cancelled: IsCancelled | None) -> bool:
        """Return whether images cover more than the threshold, and there is neither a text layer nor a scan of text.

        Renderings are left to `no_content`.
        """
        if survey.image_ratio() <= self._settings.image_ratio_threshold:
            return False
        if self._settings.image_ratio_strict or not self._settings.enable_ocr:
            return True
        if survey.has_text_layer() or rendering:
            return False
        return not self._is_scan_of_text(path, survey, cancelled)

    def _is_scan_of_text(self, path: Path, survey: Survey, cancelled: IsCancelled | None) -> bool:
        """Return whether a quick look at up to three pages finds ten confident words per page, at low resolution."""
        looked_at = _spread(survey.without_text(), _QUICK_LOOK_PAGES)
        arguments = {"path": str(path), "timeout": self._settings.page_timeout_seconds}
        items = [item for _, item in self._pool.run([Job("words", arguments, (n,)) for n in looked_at], cancelled)]
        words = sum(item.confident_words for item in items if isinstance(item, WordCount))
        return bool(looked_at) and words >= _QUICK_LOOK_WORDS * len(looked_at)

    def _nothing_found(
        self, path: Path, survey: Survey, read: Mapping[int, PageReading | LostPage]
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


def _checked_path(path: Path | str) -> Path:
    path = Path(path)
    if not path.is_file():
        raise FileMissing(f"File not found: {shorten(path, 300)}")
    if path.suffix.lower() not in SUPPORTED_SUFFIXES:
        known = ", ".join(sorted(SUPPORTED_SUFFIXES))
        raise UnsupportedFileType(f"Unsupported file type {shorten(path.suffix) or '(none)'}: expected one of {known}.")
    return path


def _spread(numbers: Sequence[int], count: int) -> list[int]:
    """Return the first, the last, and numbers evenly between them."""
    if len(numbers) <= count:
        return list(numbers)
    return [numbers[round(i * (len(numbers) - 1) / (count - 1))] for i in range(count)]


def _log_low_confidence(path: Path, account: DocumentAccount) -> None:
    for page in account.pages:
        if page.confidence is not None and page.confidence < LOW_CONFIDENCE:
            log.warning(
                "%s page %d: OCR confidence %.0f %% is below 70 %%", shorten(path.name), page.number, page.confidence
            )
