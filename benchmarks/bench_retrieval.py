"""Search: how good its ranking is on every retrieval set, and whether a word leads to the passage that contains it.

Two promises are kept here. Hybrid search is on no set significantly worse than the better of its halves. A passage comes
before the neighbours that are found by its words. A row that says `must` fails the run when it is missed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.report import SHARED_DATA, Report
from benchmarks.retrieval import RetrievalSet, load_set, ndcg, paired_interval, recall
from benchmarks.unique_words import Cut, cases, cuts_of_real_documents
from benchmarks.vectors import vectors_of
from trigpoint.config import load_settings
from trigpoint.passages.fusion import DEFAULT_ALPHA
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.local import LocalCandidates
from trigpoint.passages.memory import Entry, Memory
from trigpoint.passages.model import Question
from trigpoint.passages.search import rank
from trigpoint.passages.surroundings import surroundings
from trigpoint.text.chunk import TextChunker
from trigpoint.text.embed import WINDOW, EmbeddingService

SETS = SHARED_DATA / "ir"
WORDS, MEANING, HYBRID = "BM25", "dense", "hybrid"
CASES = 60
_PASSAGES = 100  # asked for, so that ten documents are among them


def run(report: Report) -> None:
    embedding = EmbeddingService(load_settings())
    sets = sorted(SETS.iterdir()) if SETS.is_dir() else []
    for folder in sets:
        _quality(report, load_set(folder), embedding)
    if not sets:
        report.skip(f"retrieval sets: no data at {SETS}")
    for configuration, cuts in cuts_of_real_documents(report, embedding):
        _unique_words(report, configuration, cuts, embedding)


def _quality(report: Report, data: RetrievalSet, embedding: EmbeddingService) -> None:
    """Every document in windows as ingestion cuts them; it ranks by its best window."""
    chunker = TextChunker(count_tokens=embedding.count_tokens, max_tokens=WINDOW)
    cuts = [Cut(key, key, chunk.text) for key, text in data.corpus.items() for chunk in chunker.chunk_text(text)]
    index = index_of(cuts, embedding)
    questions = list(data.queries.values())
    vectors_of(questions, embedding)
    gains = {mode: [] for mode in (WORDS, MEANING, HYBRID)}  # type: dict[str, list[float]]
    found = {mode: [] for mode in gains}  # type: dict[str, list[float]]
    for key, question in data.queries.items():
        for mode in gains:
            ranking = _documents([cuts[place].document for place in ask(index, question, mode)])
            gains[mode].append(ndcg(ranking, data.relevance[key]))
            found[mode].append(recall(ranking, data.relevance[key]))
    for mode in gains:
        report.row(f"{data.name}, {mode}: nDCG@10", float(np.mean(gains[mode])), "")
        report.row(f"{data.name}, {mode}: recall@10", float(np.mean(found[mode])), "")
    better = max((WORDS, MEANING), key=lambda mode: np.mean(gains[mode]))
    low, high = paired_interval(gains[HYBRID], gains[better])
    report.row(f"{data.name}, hybrid less {better}, 95 %: lower end", low, "nDCG@10")
    report.row(f"{data.name}, hybrid less {better}, 95 %: upper end", high, "nDCG@10", bar=">= 0", must=True)


def _unique_words(report: Report, configuration: str, cuts: Sequence[Cut], embedding: EmbeddingService) -> None:
    """A word that one passage alone contains: this passage before its neighbours, which are found by the word too."""
    index = index_of(cuts, embedding)
    chosen = cases(cuts, CASES)
    for form, question in (("the word alone", "{}"), ("in a question", "What does it say about {}?")):
        kept = 0
        for case in chosen:
            ranking = ask(index, question.format(case.word), HYBRID)
            places = {place: rank for rank, place in enumerate(ranking)}
            mine = places.get(case.place, len(ranking))
            kept += all(mine < places.get(neighbour, len(ranking) + 1) for neighbour in case.neighbours)
        bar = f">= {round(len(chosen) * 58 / 60)}"
        report.row(f"unique word first, {configuration}, {form}", kept, f"of {len(chosen)}", bar=bar, must=True)


@dataclass(frozen=True)
class Searched:
    """Passages in memory, and the embedding that they are asked with."""

    candidates: LocalCandidates
    embedding: EmbeddingService


def index_of(cuts: Sequence[Cut], embedding: EmbeddingService) -> Searched:
    """Return a search over these passages, by the code that serves: real words and vectors, in memory."""
    lexical = LexicalIndex(None)
    documents: dict[str, list[int]] = {}
    for place, cut in enumerate(cuts):
        documents.setdefault(cut.document, []).append(place)
    lexical.replace_many((name, _rows(cuts, places)) for name, places in documents.items())
    memory = Memory()
    entries = [Entry(_name(place), cut.document) for place, cut in enumerate(cuts)]
    memory.replace((), entries, vectors_of([cut.text for cut in cuts], embedding))
    return Searched(LocalCandidates(memory.snapshot, lexical), embedding)


def _rows(cuts: Sequence[Cut], places: Sequence[int]) -> list[Any]:
    around = surroundings([(cuts[place].section, cuts[place].text) for place in places])
    return [(_name(place), cuts[place].searched, near) for place, near in zip(places, around, strict=True)]


def ask(index: Searched, question: str, mode: str) -> list[int]:
    words = None if mode == MEANING else question
    alpha = 0.0 if mode == WORDS else DEFAULT_ALPHA
    asked = Question(index.embedding.embed(question), _PASSAGES, words, alpha=alpha)
    return [int(ranked.id) for ranked in rank(index.candidates, asked)]


def _name(place: int) -> str:
    return f"{place:07d}"


def _documents(ranked: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(ranked))[:10]
