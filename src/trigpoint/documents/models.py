"""The records and answers of the document store: field for field as in its contract (FR-001 to FR-004, FR-008)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from trigpoint.documents.content import DocumentContent, PageSpan
from trigpoint.text.account import DocumentAccount, PageAccount

ALREADY_INGESTED = "Document has already been ingested with the same content"
NO_ACCOUNT = (
    "No account of its pages was kept: an earlier version ingested it. Remove the document and ingest its file again"
)

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

    def matches(self, application_ref: str | None, document_types: Collection[str]) -> bool:
        """Return whether the document is of this application and of one of these types; None and no types match all."""
        of_application = application_ref is None or self.application_ref == application_ref
        return of_application and (not document_types or self.document_type in document_types)

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


class AccountSummary(_Answer):
    """The account of a document's pages, in figures and in words."""

    page_count: int
    pages_read: int = Field(description="Pages of which something was read, and blank ones.")
    pages_by_ocr: int = Field(description="Pages that were read by OCR, wholly or in part.")
    pages_not_read: tuple[int, ...] = Field(description="The physical pages of which nothing could be read.")
    summary: str = Field(description="The same in one sentence, with the reasons.")
    warnings: tuple[str, ...] = Field(
        (), description="Losses, repairs, doubtful readings.", exclude_if=lambda warnings: not warnings
    )
    attachments: tuple[str, ...] = Field(
        (),
        description="Names of the files inside the file.",
        exclude_if=lambda attachments: not attachments,
    )

    @classmethod
    def of(cls, account: DocumentAccount) -> AccountSummary:
        unread = tuple(page.number for page in account.pages if page.is_unread)
        return cls(
            page_count=len(account.pages),
            pages_read=len(account.pages) - len(unread),
            pages_by_ocr=sum(page.read_by in ("ocr", "both") for page in account.pages),
            pages_not_read=unread,
            summary=account.summary,
            warnings=account.warnings,
            attachments=tuple(attachment.name for attachment in account.attachments),
        )


class AttachedDocument(_Answer):
    """A file inside the file, and what became of it."""

    name: str
    status: Literal["ingested", "not_ingested"]
    document_id: str | None = Field(
        None, description="The document that it became.", exclude_if=lambda document_id: document_id is None
    )
    reason: str | None = Field(None, description="Why it was not ingested.", exclude_if=lambda reason: reason is None)


def _attachments() -> Any:
    return Field(
        (), description="Files inside the file, ingested if supported.", exclude_if=lambda attachments: not attachments
    )


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
        description="What was repaired, read askew or with doubt, or could not be read; left out when there is nothing to say.",
        exclude_if=lambda warnings: not warnings,
    )
    account: AccountSummary | None = Field(
        None, description="How the pages were read.", exclude_if=lambda account: account is None
    )
    attachments: tuple[AttachedDocument, ...] = _attachments()


class AlreadyIngested(_Answer):
    status: Literal["already_ingested"] = "already_ingested"
    document_id: str
    message: str = ALREADY_INGESTED
    account: AccountSummary | None = Field(
        None,
        description="How the pages were read; left out for a document ingested before this was kept.",
        exclude_if=lambda account: account is None,
    )
    attachments: tuple[AttachedDocument, ...] = _attachments()


class Skipped(_Answer):
    status: Literal["skipped"] = "skipped"
    reason: Literal["image_based"] = "image_based"
    image_ratio: float
    total_pages: int
    attachments: tuple[AttachedDocument, ...] = _attachments()


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


class FoundPassage(_Answer):
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
    warnings: tuple[str, ...] = Field(
        (),
        description="What the filters named that is unknown or not there; left out when there is nothing to say.",
        exclude_if=lambda warnings: not warnings,
    )
    query: str
    results_count: int
    results: tuple[FoundPassage, ...]
    weak: bool = Field(
        False,
        description="True if nothing found is likely to answer the query; else left out",
        exclude_if=lambda weak: not weak,
    )


class LeftOutPart(_Answer):
    """Something on a page that is not in its text."""

    kind: str
    reason: str
    characters: int | None = Field(None, exclude_if=lambda characters: characters is None)
    region: tuple[float, float, float, float] | None = Field(
        None, description="In points from the page's top left corner.", exclude_if=lambda region: region is None
    )


class PageOfText(_Answer):
    """The place of a page in the document's text, and how it was read."""

    number: int = Field(description="Physical page, from 1.")
    start: int
    end: int
    read_by: Literal["text", "ocr", "both", "none"]
    characters: int
    covered: float | None = Field(
        None, description="Share of the inked area that the text covers.", exclude_if=lambda covered: covered is None
    )
    confidence: float | None = Field(
        None, description="OCR's own, 0 to 100.", exclude_if=lambda confidence: confidence is None
    )
    skew: float | None = Field(
        None, description="Degrees by which a scan was straightened.", exclude_if=lambda s: not s
    )
    turned: int | None = Field(None, description="Degrees by which it was turned upright.", exclude_if=lambda t: not t)
    blank: bool = Field(False, exclude_if=lambda blank: not blank)
    left_out: tuple[LeftOutPart, ...] = Field((), exclude_if=lambda parts: not parts)
    notes: tuple[str, ...] = Field((), exclude_if=lambda notes: not notes)

    @classmethod
    def of(cls, span: PageSpan, account: PageAccount) -> PageOfText:
        record = account.to_json()
        del record["page"]
        return cls.model_validate({"number": span.number, "start": span.start, "end": span.end, **record})


def pages_of_text(content: DocumentContent, start: int = 0, end: int | None = None) -> tuple[PageOfText, ...]:
    """Return the pages of a document, or of a part of its text, with their offsets and accounts."""
    end = len(content.text) if end is None else end
    pairs = zip(content.pages, content.account.pages, strict=True)
    return tuple(PageOfText.of(span, account) for span, account in pairs if span.start <= end and span.end >= start)


class TextAnswer(_Answer):
    status: Literal["success"] = "success"
    document_id: str
    file_path: str
    document_type: str
    chunk_count: int
    text: str
    pages: tuple[PageOfText, ...] | None = Field(
        None,
        description="With include_pages: each page with its offsets in the text and the account of how it was read.",
        exclude_if=lambda pages: pages is None,
    )
    account: AccountSummary | None = Field(
        None, description="With include_pages: the account in figures.", exclude_if=lambda account: account is None
    )
    message: str | None = Field(
        None, description="With include_pages, if no account was kept: why.", exclude_if=lambda message: message is None
    )
    total_chars: int = Field(description="Length of the whole text.")
    next_offset: int | None = Field(
        None,
        description="Only if the text goes on after this part: ask again with this as offset.",
        exclude_if=lambda offset: offset is None,
    )


class ListedDocument(_Answer):
    document_id: str
    file_path: str
    document_type: str
    chunk_count: int
    ingested_at: str
    extraction_method: str
    contains_drawings: bool

    account: AccountSummary | None = Field(
        None, description="With include_pages: how the pages were read.", exclude_if=lambda account: account is None
    )
    pages: tuple[PageOfText, ...] | None = Field(
        None,
        description="With include_pages: each page with its offsets in the text and its account.",
        exclude_if=lambda pages: pages is None,
    )
    message: str | None = Field(
        None, description="With include_pages, if no account was kept: why.", exclude_if=lambda message: message is None
    )

    @classmethod
    def of(cls, row: RegisteredDocument) -> ListedDocument:
        return cls.model_validate({"document_id": row.document_id, **row.metadata()})

    def with_pages(self, content: DocumentContent | None) -> ListedDocument:
        """Return the document with the account of its pages, or with the reason why there is none."""
        if content is None:
            return self.model_copy(update={"message": NO_ACCOUNT})
        account = AccountSummary.of(content.account)
        return self.model_copy(update={"account": account, "pages": pages_of_text(content)})


class ListAnswer(_Answer):
    status: Literal["success"] = "success"
    application_ref: str
    document_count: int = Field(description="All documents of the application, listed here or not.")
    documents: tuple[ListedDocument, ...]


class RemovedAnswer(_Answer):
    status: Literal["success"] = "success"
    document_id: str
    chunks_removed: int
