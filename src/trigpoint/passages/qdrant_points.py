"""A chunk as a Qdrant point and back: its payload, its two vectors, and the filters that find it again."""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from trigpoint.passages import lexical
from trigpoint.passages.model import Condition, Passage, Rules, Where
from trigpoint.passages.store import facets, searched_rows

DENSE = "dense"
WORDS = "words"
KEYWORD_FIELDS = ("project", "chunk_id", "doc_id", "citekey", "tags", "section")
_POINT_IDS = uuid.UUID("a4f5bd0e-7a1c-5d39-9a84-40d1c7c1f0b3")
_K1, _B = 1.2, 0.75
_MEAN_WORDS = 130  # of a passage; the server knows document frequencies, not lengths

_analyzer = lexical.passage_analyzer()


def point_id(collection: str, chunk_id: str, version: str = "") -> str:
    """Return the id of a passage's point: it has another one for each version of its document."""
    name = f"{collection}\0{chunk_id}\0{version}" if version else f"{collection}\0{chunk_id}"
    return str(uuid.uuid5(_POINT_IDS, name))


def row_id(collection: str, document_id: str) -> str:
    return str(uuid.uuid5(_POINT_IDS, f"{collection}\0\0{document_id}"))


def to_row(collection: str, document_id: str, version: str) -> models.PointStruct:
    """Return the row that names the version of a document that answers. It has no vectors, and no search sees it."""
    payload = {"row_of": document_id, "row_project": collection, "version": version}
    return models.PointStruct(id=row_id(collection, document_id), vector={}, payload=payload)


def to_point(
    collection: str, rules: Rules, passage: Passage, words: str, doc_chunks: int | None, version: str
) -> models.PointStruct:
    """Return a passage as a point. `words` are those it is found by.

    `doc_chunks` is the number of the whole document's passages, if one write brings them all.
    """
    fields = rules.fields(passage.metadata)
    return models.PointStruct(
        id=point_id(collection, passage.id, version),
        vector={DENSE: np.asarray(passage.vector, dtype=np.float32).tolist(), WORDS: passage_words(words)},
        payload={
            "project": collection,
            "chunk_id": passage.id,
            "doc_id": passage.document_id,
            "seq": passage.seq,
            "text": passage.text,
            "payload": dict(passage.metadata),
            "citekey": fields.get("citekey"),
            "tags": list(fields.get("tags") or ()),
            "year": fields.get("year"),
            "section": fields.get("section") or "",
            **facets(fields),
            "doc_chunks": doc_chunks,
            "version": version,
        },
    )


def found_by(rules: Rules, passages: Sequence[Passage]) -> dict[str, str]:
    """Return the words of each passage and of its neighbours, as far as they are written together."""
    documents: dict[str, list[Passage]] = {}
    for passage in sorted(passages, key=lambda passage: (passage.seq, passage.id)):
        documents.setdefault(passage.document_id, []).append(passage)
    rows = (row for document in documents.values() for row in searched_rows(rules, document))
    return {chunk_id: f"{text}\n{around.text}" for chunk_id, text, around in rows}


def to_passage(point: Any) -> Passage:
    kept = point.payload
    vector = np.asarray(point.vector[DENSE], dtype=np.float32)
    return Passage(kept["chunk_id"], kept["doc_id"], kept["seq"], kept["text"], kept["payload"], vector)


def passage_words(text: str) -> models.SparseVector:
    """Return the passage's half of BM25: saturated, length-normalised counts. The server multiplies by IDF."""
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


def of_collection(collection: str, **fields: Any) -> models.Filter:
    """Return the points of this collection, and of nobody else, with these values."""
    return models.Filter(must=[_is("project", collection), *(_is(key, value) for key, value in fields.items())])


def conditions(collection: str, where: Where, sections: Sequence[str] | None) -> models.Filter:
    """Return a filter as Qdrant's conditions; `sections` are those that match its prefix, None if it has none."""
    must: list[Any] = [_is("project", collection)]
    if where.documents is not None:
        must.append(_any("doc_id", sorted(where.documents)))
    if sections is not None:
        must.append(_any("section", sections))
    must += [_condition(c) for c in where.conditions if c.operation != "starts"]
    return models.Filter(must=must, must_not=[_condition(c) for c in where.without] or None)


def _condition(condition: Condition) -> models.FieldCondition:
    match condition.operation:
        case "in":
            return _any(condition.field, list(condition.value))
        case "gte":
            return models.FieldCondition(key=condition.field, range=models.Range(gte=condition.value))
        case "lte":
            return models.FieldCondition(key=condition.field, range=models.Range(lte=condition.value))
        case _:  # in a list, equality asks whether the list has it
            return _is(condition.field, condition.value)


def _any(key: str, values: Sequence[Any]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))


def _is(key: str, value: Any) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _word_number(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big")
