"""The document store's MCP server: five tools, port 3002. Parses, calls the domain in a thread, shapes the answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated

from pydantic import AfterValidator, Field

from trigpoint.config import Settings
from trigpoint.documents.ingest import DocumentIngest, IngestRequest, checked_reference
from trigpoint.documents.models import (
    NO_ACCOUNT,
    AccountSummary,
    IngestAnswer,
    ListAnswer,
    ListedDocument,
    Mode,
    RemovedAnswer,
    SearchAnswer,
    TextAnswer,
    pages_of_text,
)
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore
from trigpoint.mcp.answers import MOST_BYTES, Cut, fitting_text
from trigpoint.mcp.server import PlainText, Tool, ToolCall, ToolInput, ToolServer
from trigpoint.passages.serving import Threads
from trigpoint.passages.weak import is_weak
from trigpoint.text.classify import DocumentType

_INGESTS_AT_ONCE = 2
_READS_AT_ONCE = 4

_INSTRUCTIONS = (
    "Documents of planning applications. Ingest a file by its path, then search its passages or read it whole. "
    "Every passage names its document and its pages: cite those."
)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; say what to look for")
    return text


Query = Annotated[PlainText, Field(max_length=10_000), AfterValidator(_not_blank)]


class IngestInput(ToolInput):
    file_path: Annotated[PlainText, Field(min_length=1, max_length=4096)] = Field(
        description="Absolute path to the document file on disk"
    )
    application_ref: PlainText = Field(description="Planning application reference, e.g. 25/01178/REM")
    document_type: DocumentType | None = Field(
        None,
        description="Document type, by default found from name and content. For a document that is ingested already, "
        "this corrects its type",
    )


class SearchInput(ToolInput):
    query: Query = Field(description="Natural language search query")
    application_ref: PlainText | None = Field(None, description="Only this application")
    document_types: list[PlainText] | None = Field(None, description="Only these document types", max_length=100)
    max_results: int = Field(10, ge=1, le=1000, description="Maximum number of results to return")
    mode: Mode = Field("semantic", description="semantic: by meaning. hybrid: by meaning and by the query's words")


class TextInput(ToolInput):
    document_id: Annotated[PlainText, Field(min_length=1, max_length=300)] = Field(
        description="Document ID, e.g. 25_01178_REM_a1b2c3"
    )
    include_pages: bool = Field(
        False, description="Also say where each page begins and ends in the text, and how it was read"
    )
    offset: int = Field(0, ge=0, description="Where in the text to begin, if an answer says next_offset")


class ListInput(ToolInput):
    application_ref: PlainText = Field(description="Application reference to list documents for, e.g. 25/01178/REM")
    include_pages: bool = Field(False, description="Also give the account of each document's pages")
    offset: int = Field(0, ge=0, description="How many documents to pass over, if an answer says left_off")


class RemoveInput(ToolInput):
    document_id: Annotated[PlainText, Field(min_length=1, max_length=300)] = Field(
        description="Document ID, e.g. 25_01178_REM_a1b2c3"
    )


class Documents:
    """The open store with its threads, for as long as the server runs."""

    def __init__(self, settings: Settings) -> None:
        self.store = DocumentStore(settings)
        self.ingest = DocumentIngest(settings, self.store)
        self.search = DocumentSearch(self.store)
        self.stopping = threading.Event()
        self.writes = Threads(_INGESTS_AT_ONCE, thread_name_prefix="ingest")
        self.reads = Threads(_READS_AT_ONCE, thread_name_prefix="read")

    def close(self) -> None:
        """Work under way stops at its next safe point; then the store is closed."""
        self.stopping.set()
        self.writes.shutdown(cancel_futures=True)
        self.reads.shutdown(cancel_futures=True)
        self.ingest.processor.close()
        self.store.close()


async def ingest_document(given: IngestInput, call: ToolCall) -> IngestAnswer:
    documents: Documents = call.state
    request = IngestRequest(given.file_path, given.application_ref, given.document_type)
    outcome = await documents.writes.run(
        partial(
            documents.ingest.ingest,
            request,
            report=call.report,
            cancelled=lambda: call.cancelled() or documents.stopping.is_set(),
        )
    )
    return IngestAnswer(outcome)


async def search_application_docs(given: SearchInput, call: ToolCall) -> SearchAnswer:
    documents: Documents = call.state
    hits = await documents.reads.run(
        partial(
            documents.search.search,
            given.query,
            application_ref=given.application_ref,
            document_types=given.document_types,
            max_results=given.max_results,
            mode=given.mode,
        )
    )
    warnings = await documents.reads.run(
        partial(documents.search.warnings, given.application_ref, given.document_types)
    )
    return SearchAnswer(
        warnings=warnings,
        query=given.query,
        results_count=len(hits),
        results=tuple(hits),
        weak=is_weak((passage.relevance_score, passage.score) for passage in hits),
    )


async def get_document_text(given: TextInput, call: ToolCall) -> TextAnswer:
    documents: Documents = call.state
    row, chunk_count, whole = await documents.reads.run(partial(documents.store.text_of, given.document_id))
    content = None
    if given.include_pages:
        content = await documents.reads.run(partial(documents.store.content_of, given.document_id))
    rest = whole[given.offset :]
    text = rest if call.any_size else fitting_text(rest, MOST_BYTES // 2)
    end = given.offset + len(text)
    return TextAnswer(
        document_id=row.document_id,
        file_path=row.file_path,
        document_type=row.document_type,
        chunk_count=chunk_count,
        text=text,
        pages=pages_of_text(content, given.offset, end) if content else None,
        account=AccountSummary.of(content.account) if content else None,
        message=NO_ACCOUNT if given.include_pages and content is None else None,
        total_chars=len(whole),
        next_offset=end if end < len(whole) else None,
    )


async def list_ingested_documents(given: ListInput, call: ToolCall) -> ListAnswer:
    documents: Documents = call.state
    application_ref = checked_reference(given.application_ref)
    rows = await documents.reads.run(partial(documents.store.registry.of_application, application_ref))
    listed = [ListedDocument.of(row) for row in rows[given.offset :]]
    if given.include_pages:
        content_of = documents.store.content_of
        listed = await documents.reads.run(lambda: [one.with_pages(content_of(one.document_id)) for one in listed])
    return ListAnswer(application_ref=application_ref, document_count=len(rows), documents=tuple(listed))


async def remove_document(given: RemoveInput, call: ToolCall) -> RemovedAnswer:
    documents: Documents = call.state
    removed = await documents.writes.run(partial(documents.store.delete_document, given.document_id))
    return RemovedAnswer(document_id=given.document_id, chunks_removed=removed)


TOOLS = (
    Tool(
        "ingest_document",
        "Ingest a planning application document (PDF or image) so that its text can be searched. Extracts the text "
        "(OCR where a page has none), splits it into passages and stores them. Ingesting the same file again for the "
        "same application changes nothing and says already_ingested, unless document_type is given and differs: that "
        "corrects the type. Drawings without text are skipped. The answer says how the pages were read.",
        IngestInput,
        IngestAnswer,
        ingest_document,
        idempotent=True,
        title="Ingest a document",
    ),
    Tool(
        "search_application_docs",
        "Search the passages of ingested application documents. Narrow by application_ref and document_types. Each "
        "result has the passage, its relevance from 0 to 1, and its document and pages to cite. Use mode hybrid for "
        "questions that turn on particular words, numbers or policy names.",
        SearchInput,
        SearchAnswer,
        search_application_docs,
        read_only=True,
        title="Search application documents",
        cut=Cut("results", "results_count", "Ask for fewer with max_results"),
    ),
    Tool(
        "get_document_text",
        "Read the full text of one ingested document by its document_id, as listed by list_ingested_documents or "
        "named in a search result. A text too large for one answer comes in parts: go on with next_offset. Use "
        "include_pages to know which page a quotation is on and how that page was read.",
        TextInput,
        TextAnswer,
        get_document_text,
        read_only=True,
        title="Read a document",
        cut=Cut("pages", None, "Read the document without include_pages"),
    ),
    Tool(
        "list_ingested_documents",
        "List the documents that have been ingested for a planning application, with type, size and date of ingestion.",
        ListInput,
        ListAnswer,
        list_ingested_documents,
        read_only=True,
        title="List documents",
        cut=Cut("documents", None, "Ask again with offset, or without include_pages"),
    ),
    Tool(
        "remove_document",
        "Remove one document and all its passages from the store. The file stays where it is, and can be ingested again.",
        RemoveInput,
        RemovedAnswer,
        remove_document,
        idempotent=False,
        destructive=True,
        title="Remove a document",
    ),
)


def server(settings: Settings) -> ToolServer:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[Documents]:
        documents = await asyncio.to_thread(Documents, settings)
        try:
            yield documents
        finally:
            await asyncio.to_thread(documents.close)

    return ToolServer("document-store-mcp", TOOLS, settings, lifespan=lifespan, instructions=_INSTRUCTIONS)
