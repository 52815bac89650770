"""A policy PDF becomes passages: pages, sections, passages within one section each, vectors, and the swap.

Writes passages and no registry state: the job that called records status, counts and times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.errors import FileMissing, NoContent, UnsupportedFileType, shorten
from trigpoint.metrics import INGESTED_PAGES
from trigpoint.passages.model import Passage, Vector
from trigpoint.policies.models import IngestPhase, IngestStage, Policy, Revision
from trigpoint.policies.passages import PolicyChromaClient, passage_id, revision_metadata
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import WINDOW
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import Extraction, Method
from trigpoint.text.pdf_mark import file_is_pdf
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import SectionChunk, chunk_sections, find_sections

Report = Callable[[float, float, str], None]

_READ, _EMBEDDED, _STORED = 40.0, 95.0, 100.0  # per cent of the work behind us after each stage


@dataclass(frozen=True)
class IngestedRevision:
    chunks_created: int
    page_count: int
    extraction_method: Method


class PolicyIngest:
    """Synchronous and slow: to be called in a thread. Several may run at once."""

    def __init__(
        self, settings: Settings, passages: PolicyChromaClient, processor: DocumentProcessor | None = None
    ) -> None:
        self.passages = passages
        self.processor = processor or DocumentProcessor(settings.model_copy(update={"enable_ocr": True}))
        self._roots = [folder.expanduser().resolve() for folder in (settings.data_dir, *settings.document_roots)]
        self._chunker = TextChunker(count_tokens=passages.embedding.count_tokens, max_tokens=WINDOW)

    def find_file(self, file_path: str) -> Path:
        """Return a file below the data folder or DOCUMENT_ROOTS.

        One outside is reported like one that does not exist.
        """
        try:
            path = Path(file_path).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            path = None
        allowed = path is not None and path.is_file() and any(root in path.parents for root in self._roots)
        if path is None or not allowed or not Path(file_path).is_absolute():
            raise FileMissing(
                f"File not found: {shorten(file_path, 300)}. "
                "Policies are read by absolute path from the data folder and the folders of DOCUMENT_ROOTS"
            )
        if not file_is_pdf(path):
            raise UnsupportedFileType(f"{shorten(path.name)} is not a PDF. Policies are ingested from PDF files only")
        return path

    def ingest(
        self,
        policy: Policy,
        revision: Revision,
        path: Path,
        *,
        report: Report = lambda done, total, message: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IngestedRevision:
        """Build the new set of passages, then swap it in. Whatever fails before that leaves the old set."""
        extraction = self._extract(path, report, cancelled)
        chunks = self._chunk(extraction)
        if not chunks:
            raise NoContent(f"No text could be extracted from {shorten(path.name)}")

        def embedded(done: int, total: int) -> None:
            report(
                _READ + (_EMBEDDED - _READ) * done / total,
                _STORED,
                IngestStage(IngestPhase.EMBEDDING, done, total).as_message(),
            )

        texts = [chunk.text for chunk in chunks]
        vectors = self.passages.embedding.embed_batch(texts, progress=embedded, cancelled=cancelled)
        passages = _passages(policy, revision, chunks, vectors)
        self.passages.replace_revision(revision.revision_id, passages)
        report(_STORED, _STORED, IngestStage(IngestPhase.STORING, len(passages), len(passages)).as_message())
        return IngestedRevision(len(passages), extraction.page_count, extraction.method)

    def _extract(self, path: Path, report: Report, cancelled: Callable[[], bool]) -> Extraction:
        def read(done: int, total: int) -> None:
            report(_READ * done / max(1, total), _STORED, IngestStage(IngestPhase.EXTRACTING, done, total).as_message())

        extraction = self.processor.extract(path, progress=read, cancelled=cancelled)
        INGESTED_PAGES.labels("policies", extraction.method).inc(extraction.page_count)
        return extraction

    def _chunk(self, extraction: Extraction) -> list[SectionChunk]:
        body = Body.of(extraction.pages)
        return body.placed(chunk_sections(body.pages, find_sections(body.pages), self._chunker))


def _passages(policy: Policy, revision: Revision, chunks: list[SectionChunk], vectors: Vector) -> list[Passage]:
    shared = revision_metadata(policy, revision)
    return [
        Passage(
            passage_id(policy.source, revision.revision_id, chunk.section_ref, chunk.index),
            revision.revision_id,
            chunk.index,
            chunk.text,
            {
                **shared,
                "section_ref": chunk.section_ref,
                "page_number": chunk.pages[0] if chunk.pages else 1,
                "chunk_index": chunk.index,
            },
            vector,
            chunk.start,
            chunk.end,
            chunk.pages,
        )
        for chunk, vector in zip(chunks, vectors, strict=True)
    ]
