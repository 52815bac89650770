"""A file to stored-ready passages: extraction, sections or chunks, embedding; seconds and peak memory, in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bench_embed import PEAK
from benchmarks.report import SHARED_DATA, Report

MOST_CHUNKS = int(os.environ.get("BENCH_INGEST_CHUNKS", "0"))  # embed so many chunks only; 0: all

INGEST = (
    PEAK
    + """
import json, sys, time
from pathlib import Path
start = time.perf_counter()
from trigpoint.config import load_settings
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import EmbeddingService
from trigpoint.text.extract import DocumentProcessor
from trigpoint.text.running_lines import Body
from trigpoint.text.sections import chunk_sections, find_sections

settings = load_settings(trigpoint_data_dir=Path(sys.argv[2]))
processor, embedding = DocumentProcessor(settings), EmbeddingService(settings)
extraction = processor.extract(Path(sys.argv[1]))
extracted = time.perf_counter()
chunker = TextChunker(count_tokens=embedding.count_tokens)
if sys.argv[3] == "policy":
    pages = Body.of(extraction.pages).pages
    chunks = chunk_sections(pages, find_sections(pages), chunker)
else:
    chunks = chunker.chunk_pages(extraction.pages)
chunked = time.perf_counter()
most = int(sys.argv[4]) or len(chunks)
embedding.embed_batch([chunk.text for chunk in chunks[:most]])
embedded = time.perf_counter()
readers = max((peak(pid) for pid in processor.reader_pids()), default=0)
processor.close()
print(json.dumps({
    "pages": extraction.page_count, "chunks": len(chunks), "extract": extracted - start, "chunk": chunked - extracted,
    "embed": embedded - chunked, "total": embedded - start, "memory": peak(), "readers": readers,
}))
"""
)


def run(report: Report) -> None:
    measure(report, SHARED_DATA / "policy" / "NPPF_December_2024.pdf", "NPPF", "policy", seconds="<= 8", rounds=3)
    large = next((SHARED_DATA / "pdfs").rglob("DA-619p.pdf"), SHARED_DATA / "pdfs" / "DA-619p.pdf")
    measure(report, large, "619 pages", "document", megabytes="<= 550")


def measure(
    report: Report,
    path: Path,
    name: str,
    kind: str,
    *,
    seconds: str | None = None,
    megabytes: str | None = None,
    rounds: int = 1,
) -> None:
    """Ingest the file in a new process, `rounds` times, and report the run that took the median time."""
    if not path.is_file():
        report.skip(f"{name}: no {path.name} at {SHARED_DATA} (set TRIGPOINT_TEST_DATA)")
        return
    runs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", INGEST, str(path), folder, kind, str(MOST_CHUNKS)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            report.skip(f"{name}: {done.stderr.strip().splitlines()[-1]}")
            return
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    figures = sorted(runs, key=lambda run: run["total"])[rounds // 2]
    note = f"{figures['pages']} pages, {figures['chunks']} passages"
    report.row(f"{name}: end to end", figures["total"], "s", bar=seconds, note=note)
    report.row(f"{name}: extraction", figures["extract"], "s")
    report.row(f"{name}: sections and passages", figures["chunk"], "s")
    report.row(f"{name}: embedding", figures["embed"], "s")
    report.row(f"{name}: peak memory", figures["memory"], "MB", bar=megabytes)
    report.row(f"{name}: peak memory of a reader process", figures["readers"], "MB")
