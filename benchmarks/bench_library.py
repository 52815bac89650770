"""The library: quality of retrieval on public sets, and speed at 10,000 and 100,000 chunks."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.report import SHARED_DATA, Report, percentile_ms
from benchmarks.retrieval import RetrievalSet, load_set, ndcg
from trigpoint.config import Settings, load_settings
from trigpoint.library.chunks import RULES
from trigpoint.library.cuts import cut
from trigpoint.library.ingest import Ingestion
from trigpoint.library.library import Library
from trigpoint.library.projects import Project, Projects
from trigpoint.library.sources import SourceText
from trigpoint.passages.model import Passage, Question
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.passages.store import PassageStore
from trigpoint.text.embed import EmbeddingService, shared_embedding
from trigpoint.text.extract import DocumentProcessor

MODEL = "all-MiniLM-L6-v2"
SETS = ("uk-planning-policy-qa", "cranfield", "scifact")
MODES = {"BM25": 0.0, "dense": 1.0, "hybrid": 0.5}
SIZES = {10_000: "<= 10", 100_000: "<= 40"}
SCALE = float(os.environ.get("BENCH_SCALE", "1"))  # below 1: a try, not a measurement
_WINDOWS = 60  # passages asked for, so that ten documents are among them


def run(report: Report) -> None:
    _quality(report)
    for size, bar in SIZES.items():
        _speed(report, int(size * SCALE), bar)
    _unchanged(report)


def _quality(report: Report) -> None:
    if not (SHARED_DATA / "ir").is_dir():
        report.skip(f"retrieval sets: no {SHARED_DATA.name}/ir")
        return
    embedding = EmbeddingService(load_settings())
    for name in SETS:
        data = load_set(SHARED_DATA / "ir" / name)
        with tempfile.TemporaryDirectory() as folder:
            stores = SqliteStores(Path(folder), RULES)
            store = stores.collection(name)
            for batch in _batches(data, embedding):
                store.write(batch, model=MODEL)
            figures = {mode: _ndcg(store, data, embedding, alpha) for mode, alpha in MODES.items()}
            stores.close()
        for mode in ("BM25", "dense"):
            bar = ">= 0.639" if (name, mode) == ("scifact", "dense") else None
            report.row(f"{name} nDCG@10, {mode}", figures[mode], "", bar=bar)
        better = max(figures["BM25"], figures["dense"])
        report.row(f"{name} nDCG@10, hybrid", figures["hybrid"], "", bar=f">= {better:.4f}", note="alpha 0.5 for all")


def _batches(data: RetrievalSet, embedding: EmbeddingService) -> Iterator[list[Passage]]:
    """Every document in windows, as ingestion cuts them."""
    documents = list(data.corpus.items())
    if SCALE < 1:
        wanted = {d for grades in data.relevance.values() for d in grades}
        documents = [d for d in documents if d[0] in wanted][: int(len(documents) * SCALE) or 1]
    for start in range(0, len(documents), 200):
        windows = [
            (document, seq, passage.text)
            for document, text in documents[start : start + 200]
            for seq, passage in enumerate(cut(SourceText(text), embedding.count_tokens))
        ]
        vectors = embedding.embed_batch([text for _, _, text in windows])
        yield [
            Passage(f"{document}#{seq}", document, seq, text, {}, vector)
            for (document, seq, text), vector in zip(windows, vectors, strict=True)
        ]


def _ndcg(store: PassageStore, data: RetrievalSet, embedding: EmbeddingService, alpha: float) -> float:
    scores = []
    for query_id, query in data.queries.items():
        question = Question(embedding.embed(query), _WINDOWS, words=query, alpha=alpha)
        ranking = list(dict.fromkeys(hit.passage.document_id for hit in store.search(question)))
        scores.append(ndcg(ranking, data.relevance[query_id]))
    return float(np.mean(scores))


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
