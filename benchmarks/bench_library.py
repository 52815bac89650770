"""The library: speed at 10,000 and 100,000 chunks. The quality of its ranking is measured by `retrieval`."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.report import Report, percentile_ms
from trigpoint.config import Settings, load_settings
from trigpoint.library.chunks import RULES
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.projects import Project, Projects
from trigpoint.passages.model import Passage, Question
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.text.embed import shared_embedding
from trigpoint.text.extract import DocumentProcessor

MODEL = "all-MiniLM-L6-v2"
SIZES = {10_000: "<= 10", 100_000: "<= 40"}
SCALE = float(os.environ.get("BENCH_SCALE", "1"))  # below 1: a try, not a measurement


def run(report: Report) -> None:
    for size, bar in SIZES.items():
        _speed(report, int(size * SCALE), bar)
    _unchanged(report)


def _speed(report: Report, size: int, bar: str) -> None:
    rng = np.random.default_rng(7)
    words = np.array([f"word{n}" for n in range(20_000)])
    with tempfile.TemporaryDirectory() as folder:
        stores = SqliteStores(Path(folder), RULES)
        store = stores.collection("bench")
        started = time.perf_counter()
        for start in range(0, size, 500):
            vectors = rng.standard_normal((500, 384)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            picks = rng.zipf(1.3, (500, 120)) % len(words)
            store.write(
                [
                    Passage(f"c{start + i}", f"d{(start + i) // 50}", i % 50, " ".join(words[picks[i]]), {}, vectors[i])
                    for i in range(500)
                ],
                model=MODEL,
            )
        report.row(f"write, {size:,} chunks", size / (time.perf_counter() - started), "chunks/s")
        stores.close()

        started = time.perf_counter()
        stores = SqliteStores(Path(folder), RULES)
        store = stores.collection("bench")
        query = rng.standard_normal(384).astype(np.float32)
        query /= np.linalg.norm(query)
        store.search(Question(query, 6, words="word1 word2"))
        report.row(f"open and first search, {size:,} chunks", time.perf_counter() - started, "s", bar="<= 2")

        def ask() -> None:
            chosen = words[rng.zipf(1.3, 8) % len(words)]
            store.search(Question(query, 6, words=" ".join(chosen)))

        p50, p95 = percentile_ms(ask, 60)
        report.row(f"hybrid search p50, {size:,} chunks", p50, "ms", bar=bar, note="without embedding the query")
        report.row(f"hybrid search p95, {size:,} chunks", p95, "ms")
        stores.close()


def _unchanged(report: Report) -> None:
    """A second ingest of 100 files that nobody touched, the library opened anew."""
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "files"
        files.mkdir()
        for number in range(100):
            (files / f"{number}.md").write_text(f"# Note {number}\n\n" + f"Sentence {number} of this note. " * 20)
        settings = load_settings(trigpoint_data_dir=Path(folder) / "data", qdrant_url=None)
        _ingest(settings, files)
        started = time.perf_counter()
        written = _ingest(settings, files)
        taken = time.perf_counter() - started
        report.row("ingest again, 100 unchanged files", taken, "s", bar="<= 2", note=f"{written} chunks written")


def _ingest(settings: Settings, files: Path) -> int:
    project = Project("bench", "proj-bench")
    library = Library(
        Projects({"bench": project}, files), SqliteStores(settings.data_dir, RULES), shared_embedding(settings)
    )
    processor = DocumentProcessor(settings)
    try:
        return Ingestion(library, project, processor, settings.data_dir / "audit").run([files]).chunks_written
    finally:
        processor.close()
        library.close()
