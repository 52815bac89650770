"""Progress of an ingestion, within a file as well: a long scan is read page by page while somebody waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Extraction, Outline

_READ = 0.4  # share of the work on a file that is done once its pages are read; the rest is embedding


@dataclass(frozen=True)
class Reached:
    """`done` of `total` files, the open one counted by its share; `place` is a page or passage of that one."""

    done: float
    total: int
    name: str
    place: str = ""


Progress = Callable[[Reached], None]


class PageReader(Protocol):
    """Reads the pages of a PDF: a DocumentProcessor, or one that tells how far it is."""

    def extract(self, path: Path) -> Extraction: ...
    def outline(self, path: Path) -> Outline: ...


class WatchedFile:
    """Reads the pages of one file of a run, and tells how far it is."""

    def __init__(self, processor: DocumentProcessor, before: Reached, progress: Progress | None) -> None:
        self._processor, self._before, self._progress = processor, before, progress

    def extract(self, path: Path) -> Extraction:
        """Return the document's text. Raises as DocumentProcessor.extract does."""
        return self._processor.extract(path, progress=self._page_read)

    def outline(self, path: Path) -> Outline:
        """Return a PDF's own title and bookmarks."""
        return self._processor.outline(path)

    def embedded(self, done: int, total: int) -> None:
        """Tell how many of the file's passages have their vectors."""
        self._tell(_READ + (1 - _READ) * done / total, f"passage {done} of {total}")

    def _page_read(self, done: int, total: int) -> None:
        self._tell(_READ * done / max(1, total), f"page {min(done + 1, total)} of {total}")

    def _tell(self, share: float, place: str) -> None:
        if self._progress is not None:
            before = self._before
            self._progress(Reached(before.done + min(share, 0.99), before.total, before.name, place))
