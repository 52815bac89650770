"""Ingest: a file becomes pages, passages, vectors, and a document that can be found. Reads as the contract's eight steps."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trigpoint.config import Settings
from trigpoint.documents.attached import AttachedFiles
from trigpoint.documents.content import DocumentContent
from trigpoint.documents.models import (
    ALREADY_INGESTED,
    AccountSummary,
    AlreadyIngested,
    AttachedDocument,
    Ingested,
    IngestOutcome,
    RegisteredDocument,
    Skipped,
)
from trigpoint.documents.roots import DocumentRoots
from trigpoint.documents.store import DocumentStore
from trigpoint.errors import ExtractionFailed, InvalidReference, NoChunks, NoContent, UnsupportedFileType, shorten
from trigpoint.metrics import INGESTED_PAGES
from trigpoint.passages.model import Passage, Vector
from trigpoint.storage.files import sha256_file
from trigpoint.text.chunk import Chunk, TextChunker
from trigpoint.text.classify import DocumentClassifier
from trigpoint.text.embed import WINDOW
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.pages import DocumentLook, Method
from trigpoint.text.running_lines import Body

SUPPORTED = (".pdf", ".png", ".jpg", ".jpeg", ".tiff", ".tif")  # the contract has no .bmp

_READ, _EMBEDDED, _STORED = 40.0, 95.0, 100.0  # per cent of the work behind us after each stage

_LONGEST_REFERENCE = 64
_UNSAFE_IN_ID = re.compile(r"[^A-Za-z0-9_.-]")

Report = Callable[[float, float, str], None]


def _silent(done: float, total: float, message: str) -> None:
    """Report to nobody."""


@dataclass(frozen=True)
class IngestRequest:
    file_path: str
    application_ref: str
    document_type: str | None = None


class DocumentIngest:
    """Ingests files into a store. Synchronous and slow: to be called in a thread. Several may run at once."""

    def __init__(self, settings: Settings, store: DocumentStore, processor: DocumentProcessor | None = None) -> None:
        self.store = store
        self.roots = DocumentRoots(settings)
        self.processor = processor or DocumentProcessor(settings)
        self.classifier = DocumentClassifier()
        self.chunker = TextChunker(count_tokens=store.embedding.count_tokens, max_tokens=WINDOW)
        self._attached = AttachedFiles(self.processor, settings.data_dir / "attachments", SUPPORTED)

    def ingest(
        self,
        request: IngestRequest,
        *,
        report: Report = _silent,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> IngestOutcome:
        """Ingest a file and the files inside it.

        Raises FileMissing, UnsupportedFileType, ExtractionFailed, NoContent, NoChunks, InvalidReference, Cancelled.
        """
        checked_reference(request.application_ref)
        path = self._file(request.file_path)
        file_hash = _hash(path)
        try:
            outcome = self._ingest_file(request, path, file_hash, report, cancelled)
        except (NoContent, NoChunks) as error:
            attached = self._ingest_attached(request, path, file_hash, cancelled)
            raise type(error)(_with_attachments(error.message, attached)) from None
        if _carries_nothing(outcome):
            return outcome
        attached = self._ingest_attached(request, path, file_hash, cancelled)
        return outcome.model_copy(update={"attachments": attached})

    def _ingest_attached(
        self, request: IngestRequest, path: Path, file_hash: str, cancelled: Callable[[], bool]
    ) -> tuple[AttachedDocument, ...]:
        """Ingest what a PDF carries: a portfolio's cover says little, its attachments all."""
        if path.suffix.lower() != ".pdf":
            return ()

        def ingest(file: Path) -> IngestOutcome:
            inner = replace(request, file_path=str(file), document_type=None)
            return self._ingest_file(inner, file, _hash(file), _silent, cancelled)

        return tuple(self._attached.ingest(path, file_hash, ingest))

    def _ingest_file(
        self, request: IngestRequest, path: Path, file_hash: str, report: Report, cancelled: Callable[[], bool]
    ) -> IngestOutcome:
        application_ref = request.application_ref
        name = _UNSAFE_IN_ID.sub("_", application_ref)
        with self.store.locked(f"{name}_{file_hash[:6]}", cancelled):
            document_id = self.store.registry.id_for(name, application_ref, file_hash)
            known = self.store.registry.get(document_id)
            if known is not None and self.store.has_passages(document_id):
                return self._already_ingested(known, request.document_type)
            read = _pages_read(report)
            look = self.processor.classify_document(path, progress=read, cancelled=cancelled)
            if look.is_image_based:
                return Skipped(image_ratio=look.image_ratio, total_pages=look.total_pages)
            extraction = self.processor.extract(path, look=look, progress=read, cancelled=cancelled)
            read(extraction.page_count, extraction.page_count)
            INGESTED_PAGES.labels("documents", extraction.method).inc(extraction.page_count)
            body = Body.of(extraction.pages)
            chunks = body.placed(self.chunker.chunk_pages(body.pages))
            if not chunks:
                raise NoChunks(f"{shorten(path.name)} has text, but none that makes a passage")
            if _hash(path) != file_hash:
                raise ExtractionFailed(f"{shorten(path.name)} changed while it was being read. Ingest it again")
            content = DocumentContent.of(extraction)
            row = self._row(request, document_id, file_hash, path, look, extraction.method, content.text, len(chunks))
            first = self._store(row, path, chunks, content, report, cancelled, registered=known is not None)
        if not first:
            return self._already_ingested(row, None)
        report(_STORED, _STORED, "stored")
        return _ingested(row, extraction.method, content)

    def _already_ingested(self, row: RegisteredDocument, document_type: str | None) -> AlreadyIngested:
        """Say that the document is there, with the account of its pages; correct its type if another one is given."""
        message = ALREADY_INGESTED
        if document_type is not None:
            self.store.retype(row, document_type)
        if document_type not in (None, row.document_type):
            message = f"{message}. Its type was corrected from {row.document_type} to {document_type}"
        content = self.store.content_of(row.document_id)
        account = AccountSummary.of(content.account) if content else None
        return AlreadyIngested(document_id=row.document_id, message=message, account=account)

    def _file(self, file_path: str) -> Path:
        path = self.roots.find(file_path)
        if path.suffix.lower() not in SUPPORTED:
            raise UnsupportedFileType(
                f"Unsupported file type: {shorten(path.suffix) or '(none)'}. Supported: {', '.join(SUPPORTED)}"
            )
        return path

    def _row(
        self,
        request: IngestRequest,
        document_id: str,
        file_hash: str,
        path: Path,
        look: DocumentLook,
        method: Method,
        text: str,
        chunk_count: int,
    ) -> RegisteredDocument:
        return RegisteredDocument(
            document_id=document_id,
            file_path=str(path),
            file_hash=file_hash,
            application_ref=request.application_ref,
            document_type=request.document_type or self.classifier.classify(path.name, text).document_type,
            chunk_count=chunk_count,
            ingested_at="",  # when it becomes visible
            extraction_method=method,
            contains_drawings=look.contains_drawings,
        )

    def _store(
        self,
        row: RegisteredDocument,
        path: Path,
        chunks: list[Chunk],
        content: DocumentContent,
        report: Report,
        cancelled: Callable[[], bool],
        *,
        registered: bool,
    ) -> bool:
        def embedded(done: int, total: int) -> None:
            report(_READ + (_EMBEDDED - _READ) * done / total, _STORED, f"passage {done} of {total}")

        texts = [chunk.text for chunk in chunks]
        vectors = self.store.embedding.embed_batch(texts, progress=embedded, cancelled=cancelled)
        passages = [_passage(row, path, chunk, vector) for chunk, vector in zip(chunks, vectors, strict=True)]
        return self.store.write(row, passages, content, cancelled, registered=registered)


def checked_reference(application_ref: str) -> str:
    """Return the reference if it is short and printable: councils number differently. Raises InvalidReference."""
    ref = application_ref
    if not ref.strip() or ref != ref.strip() or len(ref) > _LONGEST_REFERENCE or not ref.isprintable():
        raise InvalidReference(
            f"Invalid application reference: '{shorten(ref)}'. "
            f"Expected 1 to {_LONGEST_REFERENCE} printable characters without spaces around them (e.g. 25/01178/REM)"
        )
    return ref


def _carries_nothing(outcome: IngestOutcome) -> bool:
    """Return whether the account of the document, if there is one, knows of no files inside it."""
    account = None if isinstance(outcome, Skipped) else outcome.account
    return account is not None and not account.attachments


def _with_attachments(message: str, attached: Sequence[AttachedDocument]) -> str:
    """Return the reason why a file is not a document, and which of its attachments are."""
    ingested = [f"{one.name} ({one.document_id})" for one in attached if one.status == "ingested"]
    return f"{message} Its attachments are documents of their own: {', '.join(ingested)}" if ingested else message


def _pages_read(report: Report) -> Callable[[int, int], None]:
    """Return a callback that reports pages; a page that is looked at a second time does not count back."""
    furthest = 0

    def read(done: int, total: int) -> None:
        nonlocal furthest
        furthest = max(furthest, done)
        report(_READ * furthest / max(1, total), _STORED, f"page {min(furthest + 1, total)} of {total}")

    return read


def _passage(row: RegisteredDocument, path: Path, chunk: Chunk, vector: Vector) -> Passage:
    first_page = chunk.pages[0] if chunk.pages else 0
    chunk_id = f"{row.document_id}_{first_page:03d}_{chunk.index:03d}"
    metadata = {
        "application_ref": row.application_ref,
        "document_id": row.document_id,
        "source_file": path.name,
        "document_type": row.document_type,
        "page_numbers": ",".join(str(page) for page in chunk.pages),
        "chunk_index": chunk.index,
        "total_chunks": row.chunk_count,
        "extraction_method": row.extraction_method,
        "char_count": len(chunk.text),
        "word_count": len(chunk.text.split()),
    }
    place = (chunk.start, chunk.end, chunk.pages)
    return Passage(chunk_id, row.document_id, chunk.index, chunk.text, metadata, vector, *place)


def _ingested(row: RegisteredDocument, method: Method, content: DocumentContent) -> Ingested:
    account = AccountSummary.of(content.account)
    return Ingested(
        document_id=row.document_id,
        chunks_created=row.chunk_count,
        extraction_method=method,
        contains_drawings=row.contains_drawings,
        total_chars=len(content.text),
        total_words=len(content.text.split()),
        warnings=account.warnings,
        account=account,
    )


def _hash(path: Path) -> str:
    try:
        return sha256_file(path)
    except OSError as error:
        raise ExtractionFailed(f"{shorten(path.name)} cannot be read ({error.strerror or error})") from None
