"""What one process holds of a project for its searches: the vectors in memory, and the lexical index on disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping

import numpy as np

from trigpoint.library.projects import is_our_model, model_key
from trigpoint.library.store import Question
from trigpoint.passages.fusion import fuse
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.storage.mirror import Mirror

_DEPTH = 200  # candidates that each half of a hybrid search brings
_FILTERED_DEPTH = 1000
_MOST_GROUPS = 2000  # documents that a search by words is narrowed to; beyond, its answer is filtered

Scores = dict[str, float]


class ProjectMemory:
    """`generation` is how far the vectors have come, `words_generation` how far the lexical index."""

    def __init__(self, lexical: LexicalIndex) -> None:
        self.lexical = lexical
        self.generation = -1
        self.words_generation = -1
        self.refreshing = threading.Lock()
        self._mirror = Mirror([], [], [])
        self._chunk_ids: dict[str, list[str]] = {}

    def load_changes(self, connection: sqlite3.Connection, project: sqlite3.Row) -> None:
        """The vectors of what changed since this process last looked, as the caller's snapshot has them."""
        no, key = project["no"], model_key(project["model"])
        query = "select chunk_id, doc_id, vector from chunk where project_no = ? and model = ?"
        cursor = connection.cursor()
        cursor.row_factory = None  # plain tuples: there may be a hundred thousand of them
        if self.generation < 0:
            rows = cursor.execute(query, (no, key)).fetchall()
        else:
            changed = cursor.execute(
                "select doc_id from document where project_no = ? and generation > ?", (no, self.generation)
            ).fetchall()
            self._mirror.delete([i for (doc_id,) in changed for i in self._chunk_ids.pop(doc_id, [])])
            rows = [
                row for (doc_id,) in changed for row in cursor.execute(f"{query} and doc_id = ?", (no, key, doc_id))
            ]
        if is_our_model(key) and rows:
            self._add(rows)
        self.generation = project["generation"]

    def rank(
        self, question: Question, allowed: Mapping[str, str] | None
    ) -> tuple[list[tuple[str, float]], Scores, Scores]:
        """The best (id, score), with the cosines and BM25 scores behind them. `allowed` is chunk to document."""
        vector, depth = question.vector, max(question.k, _DEPTH)
        if allowed is None:
            cosines = dict(self._mirror.nearest(vector, depth, None))
        else:
            cosines = dict(_best(self._mirror.score_of(vector, list(allowed)), depth))
        if question.words is None:
            return _best(cosines, question.k), cosines, {}
        words = self._matching(question.words, depth, allowed)
        cosines |= self._mirror.score_of(vector, [i for i in words if i not in cosines])
        return fuse(cosines, words, question.fusion, question.alpha), cosines, words

    def _matching(self, query: str, depth: int, allowed: Mapping[str, str] | None) -> Scores:
        if allowed is None:
            return dict(self.lexical.search(query, depth))
        documents = set(allowed.values())
        groups = sorted(documents) if len(documents) <= _MOST_GROUPS else None
        hits = self.lexical.search(query, max(depth, _FILTERED_DEPTH), groups)
        return {i: score for i, score in hits if i in allowed}

    def _add(self, rows: list[tuple[str, str, bytes]]) -> None:
        ids, documents, blobs = zip(*rows, strict=True)
        for chunk_id, doc_id in zip(ids, documents, strict=True):
            self._chunk_ids.setdefault(doc_id, []).append(chunk_id)
        vectors = np.frombuffer(b"".join(blobs), dtype=np.float32).reshape(len(rows), -1)
        self._mirror.upsert(ids, vectors, [{}] * len(rows))


def _best(scores: Scores, count: int) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
