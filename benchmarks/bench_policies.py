"""Policy search: how good its answers are on real planning questions, and how quick a dated search is at 100,000 passages."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import SHARED_DATA, Report, percentile_ms
from benchmarks.retrieval import RetrievalSet, load_set, ndcg, recall
from trigpoint.config import load_settings
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.model import Passage
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.models import PolicyCategory, Revision
from trigpoint.policies.passages import COLLECTION, passage_id, revision_metadata
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import WINDOW

PASSAGES = 100_000
POLICIES = 10  # of two revisions each
TODAY = date(2025, 6, 1)
QUESTIONS: int | None = None  # all


def run(report: Report) -> None:
    questions = SHARED_DATA / "ir" / "uk-planning-policy-qa"
    if questions.is_dir():
        asyncio.run(_quality(report, load_set(questions)))
    else:
        report.skip(f"answers to planning questions: no data at {questions}")
    asyncio.run(_speed(report))


async def _quality(report: Report, planning: RetrievalSet) -> None:
    """Every passage of the set as a section, in windows of 800/200; it ranks by its best window."""
    async with _opened() as knowledge:
        revision = await _revision(knowledge, "PLANNING", date(2020, 1, 1))
        embedding = knowledge.passages.embedding
        chunker = TextChunker(count_tokens=embedding.count_tokens, max_tokens=WINDOW)  # as ingestion does
        windows = [(key, w.text) for key, text in planning.corpus.items() for w in chunker.chunk_text(text)]
        vectors = await asyncio.to_thread(embedding.embed_batch, [text for _, text in windows])
        await _store(knowledge, revision, windows, vectors)
        chosen = list(planning.queries.items())[:QUESTIONS]
        words_alone = _by_words(report, knowledge, planning, dict(chosen), windows)
        for mode, bar in (("semantic", ">= 0.58"), ("hybrid", f">= {words_alone:.4f}")):
            rankings = {}
            for key, query in chosen:
                hits = await knowledge.search(query, effective_date=TODAY, n_results=100, mode=mode)  # type: ignore[arg-type]
                rankings[key] = _documents([h.metadata["section_ref"] for h in hits])
            _judge(report, f"search_policy, {mode}", rankings, planning, bar)
    report.row("windows searched", len(windows), "passages")


def _by_words(
    report: Report,
    knowledge: PolicyKnowledge,
    planning: RetrievalSet,
    chosen: Mapping[str, str],
    windows: Sequence[tuple[str, str]],
) -> float:
    """BM25 on the same windows, as they are indexed and bare: what hybrid has to be as good as, the better of them."""
    section = {r.id: str(r.metadata["section_ref"]) for r in knowledge.passages.passages_of("rev_PLANNING_2020_01")}
    bare = LexicalIndex(None)
    bare.replace("", [(str(n), text) for n, (_, text) in enumerate(windows)])
    section |= {str(n): key for n, (key, _) in enumerate(windows)}
    figures = []
    for name, index in (
        ("BM25 on the same windows", knowledge.passages.passages.lexical),
        ("BM25 on bare windows", bare),
    ):
        rankings = {key: _documents([section[i] for i, _ in index.search(query, 100)]) for key, query in chosen.items()}
        figures.append(_judge(report, name, rankings, planning, None))
    return max(figures)


def _judge(
    report: Report, name: str, rankings: Mapping[str, list[str]], planning: RetrievalSet, bar: str | None
) -> float:
    gain = statistics.mean(ndcg(ranking, planning.relevance[key]) for key, ranking in rankings.items())
    found = statistics.mean(recall(ranking, planning.relevance[key]) for key, ranking in rankings.items())
    report.row(f"planning questions, {name}: nDCG@10", gain, "", bar=bar)
    report.row(f"planning questions, {name}: recall@10", found, "")
    return round(gain, 4)


def _documents(ranked_windows: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked_windows))[:10]


async def _speed(report: Report) -> None:
    """Random unit vectors: the cost of a search does not depend on what they mean."""
    generator = np.random.default_rng(7)
    vectors = generator.standard_normal((PASSAGES, 384), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    async with _opened(cheap_graph=True) as knowledge:
        each = PASSAGES // (2 * POLICIES)
        rows: dict[str, NDArray[np.float32]] = {}
        for policy in range(POLICIES):
            for half, start in enumerate((date(2020, 1, 1), date(2024, 1, 1))):
                first = (2 * policy + half) * each
                revision = await _revision(knowledge, f"P{policy}", start)
                texts = [("", f"passage {first + n} of policy {policy}") for n in range(each)]
                rows[revision.revision_id] = vectors[first : first + each]
                await _store(knowledge, revision, texts, rows[revision.revision_id])
        await knowledge.settle()
        fixed = _FixedQuery(knowledge.passages.embedding, generator)
        knowledge.passages.embedding = fixed  # type: ignore[assignment]
        await _exact(report, knowledge, fixed, rows)
        for name, arguments in (
            ("dated search", {"effective_date": TODAY}),
            ("dated search, one policy", {"effective_date": TODAY, "sources": ["P3"]}),
            ("dated search, hybrid", {"effective_date": TODAY, "mode": "hybrid"}),
            ("search without a date", {}),
        ):
            p50, p95 = await asyncio.to_thread(percentile_ms, _caller(knowledge, arguments), 40)
            bar = "<= 50" if name.startswith("dated") else None
            report.row(f"{name}, {PASSAGES:,} passages, beyond embedding: p50", p50, "ms", bar=bar)
            report.row(f"{name}, {PASSAGES:,} passages, beyond embedding: p95", p95, "ms")


def _caller(knowledge: PolicyKnowledge, arguments: Mapping[str, Any]) -> Callable[[], object]:
    loop = asyncio.get_running_loop()
    return lambda: asyncio.run_coroutine_threadsafe(knowledge.search("policy 3", **arguments), loop).result()


async def _exact(
    report: Report, knowledge: PolicyKnowledge, fixed: _FixedQuery, rows: Mapping[str, NDArray[np.float32]]
) -> None:
    """The share of the ten truly nearest passages in force that a dated search finds, over 20 queries."""
    found = 0
    in_force = {name: matrix for name, matrix in rows.items() if name.endswith("2024_01")}
    for _ in range(20):
        fixed.next()
        scored = [
            (-float(score), passage_id(name.split("_")[1], name, "", n))
            for name, matrix in in_force.items()
            for n, score in enumerate(np.round(matrix @ fixed.vector, 4))
        ]
        hits = await knowledge.search("x", effective_date=TODAY)
        found += len({i for _, i in sorted(scored)[:10]} & {h.id for h in hits})
    report.row(f"recall@10 of a dated search, {PASSAGES:,} passages", found / 200, "", bar=">= 0.99")


class _FixedQuery:
    """An embedding that takes no time, so that what is left is the search."""

    def __init__(self, real: Any, generator: np.random.Generator) -> None:
        self._real = real
        self._generator = generator
        self.vector: NDArray[np.float32] = np.zeros(384, dtype=np.float32)
        self.next()

    def next(self) -> None:
        vector = self._generator.standard_normal(384, dtype=np.float32)
        self.vector = vector / np.linalg.norm(vector)

    def embed(self, text: str) -> NDArray[np.float32]:
        return self.vector

    def fingerprint(self) -> str:
        return str(self._real.fingerprint())


@asynccontextmanager
async def _opened(*, cheap_graph: bool = False) -> AsyncIterator[PolicyKnowledge]:
    with tempfile.TemporaryDirectory(prefix="bench-policies-") as folder:
        settings = load_settings(trigpoint_data_dir=Path(folder))
        if cheap_graph:
            _make_collection(settings.chroma_dir("policies"))
        async with open_knowledge(settings) as knowledge:
            yield knowledge


def _make_collection(folder: Path) -> None:
    """With a small graph, only so that 100,000 passages are written in minutes: the owner's search does not use it."""
    import chromadb

    folder.mkdir(parents=True)
    client = chromadb.PersistentClient(path=str(folder))
    # Synced as often as any other collection: if it is not, each write takes longer than the one before.
    graph: Any = {"hnsw": {"ef_construction": 8, "max_neighbors": 4}}
    client.create_collection(COLLECTION, configuration=graph, embedding_function=None)
    client.close()


async def _revision(knowledge: PolicyKnowledge, source: str, start: date) -> Revision:
    registry = knowledge.registry
    if not await registry.list_policies(source=source):
        await registry.create_policy(source, source, PolicyCategory.LOCAL_PLAN)
    revision, _ = await registry.create_revision(source, version_label="x", effective_from=start)
    return revision


async def _store(
    knowledge: PolicyKnowledge, revision: Revision, texts: Sequence[tuple[str, str]], vectors: NDArray[np.float32]
) -> None:
    """`texts` are (section, text)."""
    policy = await knowledge.registry.get_policy(revision.source)
    shared = revision_metadata(policy, revision)
    passages = [
        Passage(
            passage_id(revision.source, revision.revision_id, section, n),
            revision.revision_id,
            n,
            text,
            {**shared, "section_ref": section, "page_number": 1, "chunk_index": n},
            vectors[n],
        )
        for n, (section, text) in enumerate(texts)
    ]
    started = time.perf_counter()
    await asyncio.to_thread(knowledge.passages.replace_revision, revision.revision_id, passages)
    await knowledge.registry.mark_active(revision.source, revision.revision_id, chunk_count=len(passages), page_count=1)
    if len(passages) >= 1000:
        print(f"    {revision.revision_id}: {len(passages)} passages in {time.perf_counter() - started:.1f} s")
