"""Retrieval sets in BEIR layout, the figures that judge a ranking, and how sure a difference between two rankings is."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

_RESAMPLES = 10_000


@dataclass(frozen=True)
class RetrievalSet:
    """Documents, questions that have an answer among them, and how relevant each is."""

    name: str
    corpus: dict[str, str]
    queries: dict[str, str]
    relevance: dict[str, dict[str, int]]


def load_set(folder: Path) -> RetrievalSet:
    corpus = {d["_id"]: f"{d.get('title', '')}\n{d['text']}".strip() for d in _lines(folder / "corpus.jsonl")}
    relevance: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels" / "test.tsv").read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        relevance.setdefault(query, {})[document] = int(float(grade))
    queries = {q["_id"]: q["text"] for q in _lines(folder / "queries.jsonl") if q["_id"] in relevance}
    return RetrievalSet(folder.name, corpus, queries, relevance)


def ndcg(ranking: Sequence[str], relevance: Mapping[str, int], k: int = 10) -> float:
    gained = sum(_gain(relevance.get(document, 0), place) for place, document in enumerate(ranking[:k]))
    best = sum(_gain(grade, place) for place, grade in enumerate(sorted(relevance.values(), reverse=True)[:k]))
    return gained / best if best else 0.0


def recall(ranking: Sequence[str], relevance: Mapping[str, int], k: int = 10) -> float:
    wanted = {document for document, grade in relevance.items() if grade > 0}
    return len(wanted & set(ranking[:k])) / len(wanted) if wanted else 0.0


def paired_interval(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean difference, by resampling questions (paired bootstrap, fixed seed)."""
    differences = np.subtract(ours, theirs)
    chosen = np.random.default_rng(7).integers(0, len(differences), (_RESAMPLES, len(differences)))
    low, high = np.percentile(differences[chosen].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def _gain(grade: int, place: int) -> float:
    return grade / math.log2(place + 2)


def _lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
