"""The library's MCP server: project-scoped, citation-ready chunks. Port 3004 and stdio.

Shapes and limits are the contract's; each call has its time, and a call that timed out has no effect afterwards.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from trigpoint.config import Settings
from trigpoint.errors import LibraryTimeout, TrigpointError
from trigpoint.library.library import Library
from trigpoint.mcp.answers import Cut
from trigpoint.mcp.library_shapes import (
    Deleted,
    DeleteDocument,
    FindQuote,
    Found,
    FoundHybrid,
    GetChunk,
    Inspect,
    Inspected,
    Listed,
    Nothing,
    OneChunk,
    Quoted,
    Search,
    StoreChunks,
    Written,
)
from trigpoint.mcp.server import Tool, ToolCall, ToolServer
from trigpoint.passages.deadline import Deadline, check_time
from trigpoint.storage.damage import problems_of

TIMEOUTS = {
    "store_chunks": 15.0,
    "find_chunks": 8.0,
    "query_hybrid": 15.0,
    "inspect_collection": 5.0,
    "list_projects": 2.0,
    "get_chunk": 5.0,
    "find_quote": 15.0,
    "delete_document": 15.0,
}
MAX_BODY_BYTES = 32 * 1024 * 1024
_READERS = 12
_QUOTERS = 2  # a quotation is compared with whole documents: few at a time, so that memory is bounded
_STEP_ASIDE_SECONDS = 0.05  # that one step of a quotation waits for searches
_GIVE_WAY_SECONDS = 3.0  # that all its steps wait for them, so that it ends even if searches never do
_WRITERS = 4  # of their own, so that writes that wait for each other never keep a search waiting
_WRITING = frozenset({"store_chunks", "delete_document"})


def library_error(error: TrigpointError) -> dict[str, Any]:
    """Return the envelope of this contract."""
    code = {"validation_error": "INVALID_INPUT", "internal_error": "INTERNAL_ERROR"}.get(error.code, error.code.upper())
    return {"error": {"code": code, "message": error.message, "details": error.details}}


def server(
    settings: Settings,
    *,
    timeouts: Mapping[str, float] = TIMEOUTS,
    opening: Callable[[Settings], Library] = Library.open,
) -> ToolServer:
    """Return the server, with the library of these settings opened while it runs."""

    problems: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[LibraryCalls]:
        problems[:] = await asyncio.to_thread(problems_of, settings.data_dir / "library" / "library.db", "The library")
        library = await asyncio.to_thread(opening, settings)
        calls = LibraryCalls(library, timeouts)
        try:
            yield calls
        finally:
            await asyncio.to_thread(calls.close)

    return ToolServer(
        "trigpoint-library",
        TOOLS,
        settings,
        error_body=library_error,
        lifespan=opened,
        max_body_bytes=MAX_BODY_BYTES,
        instructions="Search a project's sources and cite them: query_hybrid first, get_chunk for the context.",
        problems=lambda _: problems,
    )


class Searches:
    """The searches that are under way, so that longer work can let them pass."""

    def __init__(self) -> None:
        self._running = 0
        self._changed = threading.Condition()

    @contextmanager
    def one(self) -> Iterator[None]:
        self._count(1)
        try:
            yield
        finally:
            self._count(-1)

    def courtesy(self) -> Callable[[], None]:
        """Return what one piece of longer work calls between its steps: it waits there while searches run, within bounds."""
        left = _GIVE_WAY_SECONDS

        def let_pass() -> None:
            nonlocal left
            started = time.monotonic()
            with self._changed:
                self._changed.wait_for(lambda: not self._running, min(left, _STEP_ASIDE_SECONDS))
            left = max(0.0, left - (time.monotonic() - started))

        return let_pass

    def _count(self, more: int) -> None:
        with self._changed:
            self._running += more
            self._changed.notify_all()


class LibraryCalls:
    """Runs the library's synchronous calls in threads, each within its time. Quotations let searches pass."""

    def __init__(self, library: Library, timeouts: Mapping[str, float] = TIMEOUTS) -> None:
        self.library = library
        self._timeouts = timeouts
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="library-read")
        self._writers = ThreadPoolExecutor(_WRITERS, thread_name_prefix="library-write")
        self._quoters = ThreadPoolExecutor(_QUOTERS, thread_name_prefix="library-quote")
        self._searches = Searches()

    async def run(self, tool: str, work: Callable[[Deadline], dict[str, Any]]) -> dict[str, Any]:
        if tool == "find_quote":
            return await self._run(tool, Deadline(self._searches.courtesy()), work)
        with self._searches.one():
            return await self._run(tool, Deadline(), work)

    async def _run(self, tool: str, deadline: Deadline, work: Callable[[Deadline], dict[str, Any]]) -> dict[str, Any]:
        seconds = self._timeouts[tool]
        task = asyncio.get_running_loop().run_in_executor(self._threads_for(tool), _within, deadline, work)
        try:
            done, _ = await asyncio.wait({task}, timeout=seconds)
        except asyncio.CancelledError:
            deadline.expire()  # nobody waits for it any more, so it must not take effect
            task.cancel()
            raise
        if not done and deadline.expire():
            task.cancel()
            advice = deadline.excuse or "Try fewer chunks, or again later"
            raise LibraryTimeout(
                f"{tool} did not finish within {seconds:g} s; nothing was changed. {advice}",
                tool=tool,
                timeout_seconds=seconds,
            )
        return await task

    def _threads_for(self, tool: str) -> ThreadPoolExecutor:
        if tool in _WRITING:
            return self._writers
        return self._quoters if tool == "find_quote" else self._readers

    def close(self) -> None:
        self._quoters.shutdown(wait=True, cancel_futures=True)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._writers.shutdown(wait=True, cancel_futures=True)
        self.library.close()


def _within(deadline: Deadline, work: Callable[[Deadline], dict[str, Any]]) -> dict[str, Any]:
    """Do the work unless its time was up while it waited for a thread; its long steps ask again."""
    with deadline.watching():
        check_time()
        return work(deadline)


async def _store_chunks(given: StoreChunks, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run(
        "store_chunks",
        lambda deadline: calls.library.store_chunks(
            given.project, given.items, migrate=given.migrate, allow=deadline.claim
        ),
    )


async def _find_chunks(given: Search, call: ToolCall) -> dict[str, Any]:
    search = call.state.library.find_chunks
    return await _run_search("find_chunks", search, given, call)


async def _query_hybrid(given: Search, call: ToolCall) -> dict[str, Any]:
    search = call.state.library.query_hybrid
    return await _run_search("query_hybrid", search, given, call)


async def _run_search(
    tool: str, search: Callable[..., dict[str, Any]], given: Search, call: ToolCall
) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run(
        tool,
        lambda _: search(given.project, given.query, given.top_k, given.filters, full_text=given.include_full_text),
    )


async def _inspect(given: Inspect, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run(
        "inspect_collection", lambda _: calls.library.inspect_collection(given.project, given.sample)
    )


async def _list_projects(given: Nothing, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run("list_projects", lambda _: calls.library.list_projects())


async def _get_chunk(given: GetChunk, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run(
        "get_chunk", lambda _: calls.library.get_chunk(given.project, given.chunk_id, given.neighbours, given.elsewhere)
    )


async def _find_quote(given: FindQuote, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run("find_quote", lambda _: calls.library.find_quote(given.project, given.quote, given.doc_id))


async def _delete_document(given: DeleteDocument, call: ToolCall) -> dict[str, Any]:
    calls: LibraryCalls = call.state
    return await calls.run(
        "delete_document",
        lambda deadline: calls.library.delete_document(given.project, given.doc_id, allow=deadline.claim),
    )


_FEWER = Cut("items", "count", "Ask for fewer with top_k")

TOOLS = [
    Tool(
        "store_chunks",
        "Store a batch of chunks with their embeddings in a project. Chunks are replaced by id; all are written or none.",
        StoreChunks,
        Written,
        _store_chunks,
        idempotent=True,
    ),
    Tool(
        "find_chunks",
        "Search a project by meaning. Items carry citekey, pages, section and a formatted citation.",
        Search,
        Found,
        _find_chunks,
        read_only=True,
        cut=_FEWER,
    ),
    Tool(
        "query_hybrid",
        "Search a project by meaning and words together; the best first choice for questions, names and numbers.",
        Search,
        FoundHybrid,
        _query_hybrid,
        read_only=True,
        cut=_FEWER,
    ),
    Tool(
        "inspect_collection",
        "Size, embedding model and payload keys of a project, with sample payloads on request.",
        Inspect,
        Inspected,
        _inspect,
        read_only=True,
        cut=Cut("sample", None, "Ask for a smaller sample"),
    ),
    Tool("list_projects", "List the configured projects.", Nothing, Listed, _list_projects, read_only=True),
    Tool(
        "get_chunk",
        "One chunk whole, with its neighbours in the document; use it to read around a search result.",
        GetChunk,
        OneChunk,
        _get_chunk,
        read_only=True,
        cut=Cut("after", None, "Ask for fewer neighbours, or for a neighbour by its chunk_id"),
    ),
    Tool(
        "find_quote",
        "Find a quotation: document, page and offsets. Tolerates hyphenation, ligatures and line breaks.",
        FindQuote,
        Quoted,
        _find_quote,
        read_only=True,
        cut=Cut("matches", "count", "Look in one document, or for a longer quotation"),
    ),
    Tool(
        "delete_document",
        "Remove one document, with all its chunks, from a project. Cannot be undone.",
        DeleteDocument,
        Deleted,
        _delete_document,
        destructive=True,
    ),
]
