"""The document store: search at 10,000 chunks, a server's answers while it ingests 619 pages, and its memory.

The memory's part ingests every file of the shared data, which takes minutes; for a quick try, `BENCH_DOCUMENTS_SECONDS=60` stops
it after so long. Its row says how many of the files were done.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx
import numpy as np

from benchmarks.report import SHARED_DATA, Report, percentile_ms
from benchmarks.serving import document_store
from trigpoint.config import load_settings
from trigpoint.documents.models import Mode, RegisteredDocument
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore
from trigpoint.errors import ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint.passages.model import Passage

CHUNKS = int(os.environ.get("BENCH_DOCUMENTS_CHUNKS", "10000"))
CALLS = int(os.environ.get("BENCH_DOCUMENTS_CALLS", "200"))
LARGE = SHARED_DATA / "pdfs" / "large" / "DA-619p.pdf"
NPPF = SHARED_DATA / "policy" / "NPPF_December_2024.pdf"
SUFFIXES = (".pdf", ".jpg", ".jpeg", ".png", ".tif", ".tiff")
MEMORY_SECONDS = float(os.environ.get("BENCH_DOCUMENTS_SECONDS") or "inf")
REF = "25/01178/REM"


def run(report: Report) -> None:
    search_at_10_000_chunks(report)
    if not LARGE.exists():
        report.skip(f"the server's answers and memory during ingests: no {LARGE}")
        return
    asyncio.run(server_while_it_ingests(report))


# --- search


class OneVector:
    """The query's embedding is not what is measured here."""

    def __init__(self) -> None:
        self.vector: np.ndarray = _unit(np.random.default_rng(1), 1)[0]

    def embed(self, text: str) -> np.ndarray:
        return self.vector

    def fingerprint(self) -> str:
        return "one vector"


def search_at_10_000_chunks(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(trigpoint_data_dir=Path(folder))
        with DocumentStore(settings, OneVector()) as store:  # type: ignore[arg-type]
            _fill(store, documents=100, chunks_each=CHUNKS // 100)
            search = DocumentSearch(store).search
            size = f"{CHUNKS:,} chunks"
            modes: tuple[Mode, ...] = ("semantic", "hybrid")
            for mode in modes:
                for name, ref in (("all", None), ("one application", "25/00007/F")):
                    p50, p95 = percentile_ms(partial(search, "cycle parking", application_ref=ref, mode=mode), 200)
                    bar = "<= 15" if mode == "semantic" else None
                    report.row(f"search beyond the embedding, {mode}, {name}, {size}, p50", p50, "ms", bar=bar)
                    report.row(f"search beyond the embedding, {mode}, {name}, {size}, p95", p95, "ms")


def _fill(store: DocumentStore, documents: int, chunks_each: int) -> None:
    rng = np.random.default_rng(2)
    words = ("cycle", "parking", "noise", "traffic", "flood", "tree", "heritage", "dwelling", "access", "storey")
    for number in range(documents):
        ref, document_id = f"25/{number:05d}/F", f"25_{number:05d}_F_abcdef"
        texts = [" ".join(rng.choice(words, 100)) for _ in range(chunks_each)]
        row = RegisteredDocument(document_id, "/a.pdf", "abcdef", ref, "other", chunks_each, "", "text_layer", False)
        metadatas = [
            {
                "application_ref": ref,
                "document_id": document_id,
                "source_file": "a.pdf",
                "document_type": "other",
                "page_numbers": str(index + 1),
                "chunk_index": index,
                "total_chunks": chunks_each,
                "extraction_method": "text_layer",
                "char_count": len(text),
                "word_count": 100,
            }
            for index, text in enumerate(texts)
        ]
        ids = [f"{document_id}_{i + 1:03d}_{i:03d}" for i in range(chunks_each)]
        parts = zip(ids, texts, metadatas, _unit(rng, chunks_each), strict=True)
        passages = [Passage(i, document_id, n, text, about, v) for n, (i, text, about, v) in enumerate(parts)]
        store.write(row, passages, None, lambda: False)


def _unit(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.normal(size=(rows, 384)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


# --- the server


async def server_while_it_ingests(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder, _server(folder) as (url, memory):
        async with ToolClient(url) as client:
            began = time.perf_counter()
            await _ingest(client, NPPF)
            report.row("ingest NPPF, 82 pages, with the model's start", time.perf_counter() - began, "s", bar="<= 17.7")
            await _answers_meanwhile(report, client, url)
            files = sorted(_files(), key=lambda file: -file.stat().st_size)
            done = await _ingest_all(client, files)
        report.row(
            "memory of the server while ingesting, peak",
            memory.peak / 1e6,
            "MB",
            bar="<= 2000",
            note=f"{done} of {len(files)} files, largest first",
        )


async def _answers_meanwhile(report: Report, client: ToolClient, url: str) -> None:
    began = time.perf_counter()
    ingest = asyncio.create_task(_ingest(client, LARGE))
    health: list[float] = []
    search: list[float] = []
    async with httpx.AsyncClient() as http:
        while not ingest.done() and len(search) < CALLS:
            health.append(await _ms(http.get(f"{url}/health")))
            query = {"query": f"question {len(search)} about cycle parking"}
            search.append(await _ms(client.call("search_application_docs", query)))
            await asyncio.sleep(0.02)
    await ingest
    took = time.perf_counter() - began
    for name, taken in (("/health", health), ("a search by MCP", search)):
        note = f"{len(taken)} calls"
        report.row(f"{name} while 619 pages are ingested, p50", statistics.median(taken), "ms", note=note)
        p95 = statistics.quantiles(taken, n=20)[18]
        report.row(f"{name} while 619 pages are ingested, p95", p95, "ms", bar="<= 100", note=note)
    report.row("ingest 619 pages, searched meanwhile", took, "s", bar="<= 192")


async def _ingest_all(client: ToolClient, files: list[Path]) -> int:
    """How many of the files came to an end, two at a time, within `BENCH_DOCUMENTS_SECONDS`."""
    waiting = iter(files)
    done = 0

    async def work() -> None:
        nonlocal done
        for file in waiting:
            await _ingest(client, file)
            done += 1

    workers = [asyncio.create_task(work()) for _ in range(2)]
    _, unfinished = await asyncio.wait(workers, timeout=MEMORY_SECONDS)
    for worker in unfinished:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    return done


async def _ingest(client: ToolClient, file: Path) -> str:
    try:
        answer = await client.call("ingest_document", {"file_path": str(file), "application_ref": REF}, timeout=None)
    except ToolFailed as error:  # some of the files are broken on purpose
        return error.code
    return str(answer["status"])


async def _ms(call: Awaitable[object]) -> float:
    began = time.perf_counter()
    await call
    return (time.perf_counter() - began) * 1000


def _files() -> list[Path]:
    return [path for path in SHARED_DATA.rglob("*") if path.suffix.lower() in SUFFIXES]


class Memory:
    """Watches the server and its reader processes: the sum of what each holds, shared pages counted once."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            self.peak = max(self.peak, sum(_proportional_bytes(pid) for pid in _family(self._pid)))


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))
    except OSError:  # it has ended since
        return


def _proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


@contextmanager
def _server(folder: str) -> Iterator[tuple[str, Memory]]:
    environment = {"TRIGPOINT_DATA_DIR": folder, "DOCUMENT_ROOTS": str(SHARED_DATA)}
    with document_store(environment) as (url, pid):
        memory = Memory(pid)
        try:
            yield url, memory
        finally:
            memory.stop()
