"""What a library store is: chunks of projects, written as a whole or not at all, searched by meaning and words.

Two implementations: `store_sqlite.py` (default) and `store_qdrant.py`. Every call names its project, and nothing of
another project is ever read, counted or removed by it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from trigpoint.errors import EmbeddingMismatch, InvalidChunk, InvalidFilter, shorten
from trigpoint.library.projects import Project
from trigpoint.passages.fusion import DEFAULT_ALPHA, FusionMethod
from trigpoint.passages.surroundings import Surroundings, surroundings

Vector = npt.NDArray[np.float32]
SECTION_JOINT = " / "
LATEST_YEAR = 9999
FILTER_KEYS = ("tags", "citekey", "doc_id", "section_prefix", "year")


@dataclass(frozen=True)
class StoredChunk:
    """A passage as it is kept. `payload` is the contract's metadata; what filters need is read out of it."""

    id: str
    doc_id: str
    seq: int
    text: str
    vector: Vector
    payload: Mapping[str, Any]

    @property
    def citekey(self) -> str | None:
        return _text(self._part("zotero").get("citekey"))

    @property
    def tags(self) -> tuple[str, ...]:
        tags = self._part("zotero").get("tags")
        return tuple(t for t in tags if isinstance(t, str)) if isinstance(tags, (list, tuple)) else ()

    @property
    def year(self) -> int | None:
        year = self._part("zotero").get("year")
        return year if type(year) is int and abs(year) <= LATEST_YEAR else None

    @property
    def section_path(self) -> tuple[str, ...]:
        path = self._part("doc").get("section_path")
        return tuple(map(str, path)) if isinstance(path, (list, tuple)) else ()

    @property
    def section(self) -> str | None:
        return _text(self._part("doc").get("section"))

    @property
    def searched_text(self) -> str:
        """What the lexical index reads: the headings above the passage count as its words too."""
        headings = dict.fromkeys([*self.section_path, *([self.section] if self.section else [])])
        return "\n".join([*headings, _text(self.payload.get("fulltext")) or self.text])

    def _part(self, name: str) -> Mapping[str, Any]:
        part = self.payload.get(name)
        return part if isinstance(part, Mapping) else {}


@dataclass(frozen=True)
class Scored:
    """A chunk found, with its fused score, its cosine, and its BM25 (0 where the words do not match)."""

    chunk: StoredChunk
    score: float
    cosine: float
    bm25: float = 0.0


@dataclass(frozen=True)
class DocumentRow:
    """What the store knows of one document of a project."""

    doc_id: str
    path: str | None
    title: str | None
    sha256: str | None
    chunk_count: int


@dataclass(frozen=True)
class Filters:
    """L4. `section_prefix` is compared with the section path joined by ' / '."""

    tags: tuple[str, ...] = ()
    citekey: str | None = None
    doc_id: str | None = None
    section_prefix: str | None = None
    year: int | None = None

    def __bool__(self) -> bool:
        return self != Filters()

    def allows(self, chunk: StoredChunk) -> bool:
        return (
            set(self.tags) <= set(chunk.tags)
            and self.citekey in (None, chunk.citekey)
            and self.doc_id in (None, chunk.doc_id)
            and self.year in (None, chunk.year)
            and (self.section_prefix is None or SECTION_JOINT.join(chunk.section_path).startswith(self.section_prefix))
        )

    @classmethod
    def parse(cls, raw: Mapping[str, Any] | None) -> Filters:
        """Raises InvalidFilter, listing the known keys."""
        raw = raw or {}
        unknown = sorted(set(raw) - set(FILTER_KEYS))
        if unknown:
            raise InvalidFilter(
                f"Unknown filter '{shorten(unknown[0])}'. Known filters: {', '.join(FILTER_KEYS)}",
                known_filters=list(FILTER_KEYS),
            )
        tags, year = raw.get("tags"), raw.get("year")
        if tags is not None and not (isinstance(tags, (list, tuple)) and all(isinstance(t, str) for t in tags)):
            raise InvalidFilter("Filter 'tags' must be a list of strings", filter="tags")
        if year is not None and (type(year) is not int or abs(year) > LATEST_YEAR):
            raise InvalidFilter(f"Filter 'year' must be a year such as 2017, not '{shorten(year)}'", filter="year")
        for key in ("citekey", "doc_id", "section_prefix"):
            if raw.get(key) is not None and not isinstance(raw[key], str):
                raise InvalidFilter(f"Filter '{key}' must be a string", filter=key)
        if not is_unicode(raw):
            raise InvalidFilter("Filters must be valid Unicode text")
        return cls(tuple(tags or ()), raw.get("citekey"), raw.get("doc_id"), raw.get("section_prefix"), year)


@dataclass(frozen=True)
class Question:
    """What is looked for. Without `words` the search is by meaning alone."""

    vector: Vector
    k: int
    words: str | None = None
    filters: Filters = field(default_factory=Filters)
    fusion: FusionMethod = "convex"
    alpha: float = DEFAULT_ALPHA


@dataclass(frozen=True)
class Inspection:
    size: int
    embed_model: str | None
    payload_keys: tuple[str, ...]
    sample: tuple[StoredChunk, ...]


@dataclass(frozen=True)
class Migration:
    """How far a change of model has come (L1): the old set answers until every chunk of it has a successor."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


def always() -> bool:
    return True


class ChunkStore(Protocol):
    """Synchronous and thread-safe. `allow` is asked last, right before a change takes effect: False undoes it all."""

    def bound_model(self, project: Project) -> str | None: ...

    def write(
        self,
        project: Project,
        model: str,
        chunks: Sequence[StoredChunk],
        *,
        replace_documents: Sequence[str] = (),
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        """Insert or replace chunks by id. Every chunk of `replace_documents` that is not among them is removed.

        The first write binds the project to the model; another one raises EmbeddingMismatch unless `migrate`. A vector
        of another dimension than those of its set raises InvalidChunk.
        """
        ...

    def search(self, project: Project, question: Question) -> list[Scored]: ...

    def get(self, project: Project, ids: Sequence[str]) -> list[StoredChunk]:
        """In the order asked for; unknown ids are left out."""
        ...

    def document(self, project: Project, doc_id: str) -> list[StoredChunk]:
        """A document's chunks in reading order."""
        ...

    def documents(self, project: Project) -> list[DocumentRow]: ...

    def delete_document(self, project: Project, doc_id: str, *, allow: Callable[[], bool] = always) -> int: ...

    def inspect(self, project: Project, sample: int) -> Inspection: ...

    def close(self) -> None: ...


def searched_rows(chunks: Sequence[StoredChunk]) -> Iterator[tuple[str, str, Surroundings]]:
    """(id, text, what stands around it) of a document's chunks, in order."""
    for chunk, around in zip(chunks, surroundings([(c.section_path, c.text) for c in chunks]), strict=True):
        yield chunk.id, chunk.searched_text, around


def mismatch(project: Project, bound: str, model: str) -> EmbeddingMismatch:
    return EmbeddingMismatch(
        f"Project '{project.id}' is bound to the model '{bound}', not '{shorten(model)}'. Send chunks of that model, "
        "or migrate: true to rebuild the project",
        bound_model=bound,
        given_model=shorten(model),
    )


def invalid(index: int, reason: str) -> InvalidChunk:
    return InvalidChunk(f"Chunk {index}: {reason}. Nothing of this call was written", index=index, reason=reason)


def check_dimensions(chunks: Sequence[StoredChunk], model: str, dimensions: int | None) -> None:
    """A set has vectors of one dimension; None where it has none yet. Raises InvalidChunk."""
    for index, chunk in enumerate(chunks):
        if dimensions not in (None, len(chunk.vector)):
            raise invalid(
                index,
                f"embedding has {len(chunk.vector)} dimensions, those of '{shorten(model)}' in this project {dimensions}",
            )


def is_unicode(value: object) -> bool:
    """Whether every string in it can be stored: JSON may carry halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False, default=list).encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
