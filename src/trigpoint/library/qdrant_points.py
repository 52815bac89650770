"""A chunk as a Qdrant point and back: its payload, its two vectors, and the filters that find it again."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from trigpoint.library.projects import Project
from trigpoint.library.store import SECTION_JOINT, Filters, StoredChunk, searched_rows
from trigpoint.passages import lexical

DENSE = "dense"
WORDS = "words"
KEYWORD_FIELDS = ("project", "chunk_id", "doc_id", "citekey", "tags", "section")
_POINT_IDS = uuid.UUID("a4f5bd0e-7a1c-5d39-9a84-40d1c7c1f0b3")
_K1, _B = 1.2, 0.75
_MEAN_WORDS = 130  # of a passage; the server knows document frequencies, not lengths

_analyzer = lexical.passage_analyzer()


def point_id(project: Project, chunk_id: str) -> str:
    return str(uuid.uuid5(_POINT_IDS, f"{project.id}\0{chunk_id}"))


def to_point(project: Project, chunk: StoredChunk, words: str, doc_chunks: int | None) -> models.PointStruct:
    """`words` are those it is found by; `doc_chunks` how many the whole document has, where one write brings it whole."""
    return models.PointStruct(
        id=point_id(project, chunk.id),
        vector={DENSE: np.asarray(chunk.vector, dtype=np.float32).tolist(), WORDS: passage_words(words)},
        payload={
            "project": project.id,
            "chunk_id": chunk.id,
            "doc_id": chunk.doc_id,
            "seq": chunk.seq,
            "text": chunk.text,
            "payload": dict(chunk.payload),
            "citekey": chunk.citekey,
            "tags": list(chunk.tags),
            "year": chunk.year,
            "section": SECTION_JOINT.join(chunk.section_path),
            "doc_chunks": doc_chunks,
        },
    )


def found_by(chunks: Sequence[StoredChunk]) -> dict[str, str]:
    """The words of each chunk and of its neighbours, as far as they are written together."""
    documents: dict[str, list[StoredChunk]] = {}
    for chunk in sorted(chunks, key=lambda chunk: (chunk.seq, chunk.id)):
        documents.setdefault(chunk.doc_id, []).append(chunk)
    rows = (row for document in documents.values() for row in searched_rows(document))
    return {chunk_id: f"{text}\n{around.text}" for chunk_id, text, around in rows}


def to_chunk(point: Any) -> StoredChunk:
    kept = point.payload
    vector = np.asarray(point.vector[DENSE], dtype=np.float32)
    return StoredChunk(kept["chunk_id"], kept["doc_id"], kept["seq"], kept["text"], vector, kept["payload"])


def passage_words(text: str) -> models.SparseVector:
    """The passage's half of BM25: saturated, length-normalised counts. The server multiplies by IDF."""
    words = [_word_number(word) for word in _analyzer.analyze(text)]
    length = _K1 * (1 - _B + _B * len(words) / _MEAN_WORDS)
    counts = sorted(Counter(words).items())
    return models.SparseVector(
        indices=[number for number, _ in counts], values=[n * (_K1 + 1) / (n + length) for _, n in counts]
    )


def question_words(text: str) -> models.SparseVector:
    numbers = sorted({_word_number(word) for word in lexical.question_words(text)})
    return models.SparseVector(indices=numbers, values=[1.0] * len(numbers))


def share_of_question(question: models.SparseVector, passage: models.SparseVector) -> float:
    """Return how much of the question a passage covers, all words being equally rare."""
    has = dict(zip(passage.indices, passage.values, strict=True))
    return sum(has.get(number, 0.0) for number in question.indices) / ((_K1 + 1) * len(question.indices))


def of_project(project: Project, **fields: Any) -> models.Filter:
    """The points of this project, and of nobody else, with these values."""
    return models.Filter(must=[_is("project", project.id), *(_is(key, value) for key, value in fields.items())])


def conditions(project: Project, filters: Filters, sections: Sequence[str] | None) -> models.Filter:
    """`sections` are the sections that begin with the filter's prefix; None without one."""
    must: list[Any] = [_is("project", project.id), *(_is("tags", tag) for tag in filters.tags)]
    for key in ("citekey", "doc_id", "year"):
        value = getattr(filters, key)
        if value is not None:
            must.append(_is(key, value))
    if sections is not None:
        must.append(models.FieldCondition(key="section", match=models.MatchAny(any=list(sections))))
    return models.Filter(must=must)


def _is(key: str, value: Any) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _word_number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
