"""The document store's MCP server: four tools, port 3002. Parses, calls the domain in a thread, shapes the answer."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from trigpoint.config import Settings
from trigpoint.documents.ingest import DocumentIngest, IngestRequest, checked_reference
from trigpoint.documents.models import (
    IngestAnswer,
    ListAnswer,
    ListedDocument,
    Mode,
    PageOfText,
    SearchAnswer,
    TextAnswer,
)
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore
from trigpoint.errors import StoreUnavailable
from trigpoint.mcp.answers import Cut
from trigpoint.mcp.server import Call, PlainText, Tool, ToolInput, ToolServer

log = logging.getLogger(__name__)

T = TypeVar("T")

_INGESTS_AT_ONCE = 2
_READS_AT_ONCE = 4  # of their own, so that no search waits behind an ingest

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
    document_type: Annotated[PlainText, Field(min_length=1, max_length=100)] | None = Field(
        None, description="Document type override, e.g. transport_assessment. By default found from name and content"
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
    include_pages: bool = Field(False, description="Also say where each page begins and ends in the text")


class ListInput(ToolInput):
    application_ref: PlainText = Field(description="Application reference to list documents for, e.g. 25/01178/REM")


class Documents:
    """The open store with its threads, for as long as the server runs."""

    def __init__(self, settings: Settings) -> None:
        self.store = DocumentStore(settings)
        self.ingest = DocumentIngest(settings, self.store)
        self.search = DocumentSearch(self.store)
        self.stopping = threading.Event()
        self._ingests = ThreadPoolExecutor(_INGESTS_AT_ONCE, thread_name_prefix="ingest")
        self._reads = ThreadPoolExecutor(_READS_AT_ONCE, thread_name_prefix="read")

    async def read(self, work: Callable[[], T]) -> T:
        return await _in(self._reads, work)

    async def write(self, work: Callable[[], T]) -> T:
        return await _in(self._ingests, work)

    def close(self) -> None:
        """Work under way stops at its next safe point; then the store is closed."""
        self.stopping.set()
        self._ingests.shutdown(cancel_futures=True)
        self._reads.shutdown(cancel_futures=True)
        self.ingest.processor.close()
        self.store.close()


class DocumentsInReach:
    """Opens the store at the start or, where its server is not up yet, with the first call that finds it (E11)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = asyncio.Lock()
        self._documents: Documents | None = None

    async def get(self) -> Documents:
        """Raises StoreUnavailable."""
        async with self._opening:
            if self._documents is None:
                self._documents = await asyncio.to_thread(Documents, self._settings)
        return self._documents

    async def close(self) -> None:
        if self._documents is not None:
            await asyncio.to_thread(self._documents.close)


async def ingest_document(given: IngestInput, call: Call) -> IngestAnswer:
    documents: Documents = await call.state.get()
    request = IngestRequest(given.file_path, given.application_ref, given.document_type)
    outcome = await documents.write(
        partial(
            documents.ingest.ingest,
            request,
            report=call.report,
            cancelled=lambda: call.cancelled() or documents.stopping.is_set(),
        )
    )
    return IngestAnswer(outcome)


async def search_application_docs(given: SearchInput, call: Call) -> SearchAnswer:
    documents: Documents = await call.state.get()
    found = await documents.read(
        partial(
            documents.search.search,
            given.query,
            application_ref=given.application_ref,
            document_types=given.document_types,
            max_results=given.max_results,
            mode=given.mode,
        )
    )
    return SearchAnswer(query=given.query, results_count=len(found), results=tuple(found))


async def get_document_text(given: TextInput, call: Call) -> TextAnswer:
    documents: Documents = await call.state.get()
    row, chunk_count, text = await documents.read(partial(documents.store.text_of, given.document_id))
    content = (
        await documents.read(partial(documents.store.content_of, given.document_id)) if given.include_pages else None
    )
    return TextAnswer(
        document_id=row.document_id,
        file_path=row.file_path,
        document_type=row.document_type,
        chunk_count=chunk_count,
        text=text,
        pages=tuple(PageOfText(number=p.number, start=p.start, end=p.end) for p in content.pages) if content else None,
    )


async def list_ingested_documents(given: ListInput, call: Call) -> ListAnswer:
    documents: Documents = await call.state.get()
    application_ref = checked_reference(given.application_ref)
    rows = await documents.read(partial(documents.store.registry.of_application, application_ref))
    listed = tuple(ListedDocument.of(row) for row in rows)
    return ListAnswer(application_ref=application_ref, document_count=len(listed), documents=listed)


TOOLS = (
    Tool(
        "ingest_document",
        "Ingest a planning application document (PDF or image) so that its text can be searched. Extracts the text "
        "(OCR where a page has none), splits it into passages and stores them. Ingesting the same file again for the "
        "same application changes nothing and says already_ingested. Drawings without text are skipped.",
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
        "named in a search result. Large documents give large answers: search first.",
        TextInput,
        TextAnswer,
        get_document_text,
        read_only=True,
        title="Read a document",
    ),
    Tool(
        "list_ingested_documents",
        "List the documents that have been ingested for a planning application, with type, size and date of ingestion.",
        ListInput,
        ListAnswer,
        list_ingested_documents,
        read_only=True,
        title="List documents",
    ),
)


def server(settings: Settings) -> ToolServer:
    @asynccontextmanager
    async def lifespan() -> AsyncIterator[DocumentsInReach]:
        documents = DocumentsInReach(settings)
        try:
            await documents.get()
        except StoreUnavailable as error:
            log.warning("%s. Tools answer with store_unavailable until it can be", error.message)
        try:
            yield documents
        finally:
            await documents.close()

    return ToolServer("document-store-mcp", TOOLS, settings, lifespan=lifespan, instructions=_INSTRUCTIONS)


async def _in(pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    """Run in the pool with the request's id. When the caller is cancelled, the thread learns it from its `cancelled`."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(pool, context.run, work)
