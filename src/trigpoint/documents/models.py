"""What the document store holds and answers with: field for field as in its contract (FR-001 to FR-004, FR-008)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

ALREADY_INGESTED = "Document has already been ingested with the same content"

Mode = Literal["semantic", "hybrid"]
ExtractionMethod = Literal["text_layer", "ocr", "mixed"]


@dataclass(frozen=True)
class RegisteredDocument:
    """A row of `document_registry`. While it is there, the document is there; the row is written last."""

    document_id: str
    file_path: str
    file_hash: str
    application_ref: str
    document_type: str
    chunk_count: int
    ingested_at: str
    extraction_method: str
    contains_drawings: bool

    def metadata(self) -> dict[str, str | int | bool]:
        fields = asdict(self)
        del fields["document_id"]
        return fields

    @classmethod
    def of(cls, document_id: str, metadata: Mapping[str, Any]) -> RegisteredDocument:
        return cls(
            document_id=document_id,
            file_path=str(metadata.get("file_path", "")),
            file_hash=str(metadata.get("file_hash", "")),
            application_ref=str(metadata.get("application_ref", "")),
            document_type=str(metadata.get("document_type", "other")),
            chunk_count=int(metadata.get("chunk_count", 0)),
            ingested_at=str(metadata.get("ingested_at", "")),
            extraction_method=str(metadata.get("extraction_method", "text_layer")),
            contains_drawings=bool(metadata.get("contains_drawings", False)),
        )


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Ingested(_Answer):
    status: Literal["success"] = "success"
    document_id: str
    chunks_created: int
    extraction_method: ExtractionMethod
    contains_drawings: bool
    total_chars: int
    total_words: int
    warnings: tuple[str, ...] = Field(
        (),
        description="What was repaired or could not be read; left out when there is nothing to say.",
        exclude_if=lambda warnings: not warnings,
    )


class AlreadyIngested(_Answer):
    status: Literal["already_ingested"] = "already_ingested"
    document_id: str
    message: str = ALREADY_INGESTED


class Skipped(_Answer):
    status: Literal["skipped"] = "skipped"
    reason: Literal["image_based"] = "image_based"
    image_ratio: float
    total_pages: int


IngestOutcome = Ingested | AlreadyIngested | Skipped


class IngestAnswer(RootModel[IngestOutcome]):
    """One of the three outcomes that are not errors."""


class PassageMetadata(_Answer):
    application_ref: str
    document_id: str
    source_file: str
    document_type: str
    page_numbers: str = Field(description="Physical pages, comma-separated.")
    chunk_index: int
    total_chunks: int
    extraction_method: str
    char_count: int
    word_count: int


class Passage(_Answer):
    chunk_id: str
    text: str
    relevance_score: float = Field(description="Cosine of query and passage, 0 to 1.")
    score: float | None = Field(
        None,
        description="Fused score of cosine and BM25, 0 to 1; in hybrid mode only.",
        exclude_if=lambda score: score is None,
    )
    metadata: PassageMetadata


class SearchAnswer(_Answer):
    status: Literal["success"] = "success"
    query: str
    results_count: int
    results: tuple[Passage, ...]


class PageOfText(_Answer):
    """Where a page lies in the document's text."""

    number: int = Field(description="Physical page, from 1.")
    start: int
    end: int


class TextAnswer(_Answer):
    status: Literal["success"] = "success"
    document_id: str
    file_path: str
    document_type: str
    chunk_count: int
    text: str
    pages: tuple[PageOfText, ...] | None = Field(
        None,
        description="With include_pages: the pages by their offsets in the text. Null for a document that was ingested "
        "before they were kept: ingest its file again.",
        exclude_if=lambda pages: pages is None,
    )


class ListedDocument(_Answer):
    document_id: str
    file_path: str
    document_type: str
    chunk_count: int
    ingested_at: str
    extraction_method: str
    contains_drawings: bool

    @classmethod
    def of(cls, row: RegisteredDocument) -> ListedDocument:
        return cls(**{name: getattr(row, name) for name in cls.model_fields})


class ListAnswer(_Answer):
    status: Literal["success"] = "success"
    application_ref: str
    document_count: int
    documents: tuple[ListedDocument, ...]
