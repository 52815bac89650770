"""Passages, questions and hits: the same values for every collection and store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trigpoint.passages.fusion import DEFAULT_ALPHA, FusionMethod

Vector = npt.NDArray[np.float32]
Operation = Literal["eq", "in", "gte", "lte", "has", "starts"]


@dataclass(frozen=True)
class Citation:
    """The place at which a reader finds a passage: its document, the pages it touches, and the headings above it."""

    passage_id: str
    document_id: str
    pages: tuple[int, ...] = ()
    section: tuple[str, ...] = ()


@dataclass(frozen=True)
class Passage:
    """A piece of a document's text that can be found and cited.

    The document is what is replaced as a whole: a file, a revision of a policy. `metadata` is exactly what the
    collection's contract keeps. `start` and `end` are its place in the document's text, None if that is not known.
    """

    id: str
    document_id: str
    seq: int
    text: str
    metadata: Mapping[str, Any]
    vector: Vector | None = field(default=None, compare=False, repr=False)
    start: int | None = None
    end: int | None = None
    pages: tuple[int, ...] = ()
    section: tuple[str, ...] = ()

    @property
    def citation(self) -> Citation:
        return Citation(self.id, self.document_id, self.pages, self.section)


@dataclass(frozen=True)
class Condition:
    """One demand on a field: equal, one of, not below, not above, a list that has it, a text that starts with it."""

    field: str
    operation: Operation
    value: Any

    def accepts(self, given: Any) -> bool:
        if given is None:
            return False
        match self.operation:
            case "eq":
                return bool(given == self.value)
            case "in":
                return given in self.value
            case "gte":
                return bool(given >= self.value)
            case "lte":
                return bool(given <= self.value)
            case "has":
                return self.value in given
            case "starts":
                return str(given).startswith(self.value)


@dataclass(frozen=True)
class Where:
    """A filter of passages: those of these documents (None: of all), whose fields meet all conditions of
    `conditions` and none of `without`."""

    documents: frozenset[str] | None = None
    conditions: tuple[Condition, ...] = ()
    without: tuple[Condition, ...] = ()

    def __bool__(self) -> bool:
        return self.documents is not None or bool(self.conditions) or bool(self.without)

    @classmethod
    def of(cls, documents: Collection[str] | None = None, **equal: Any) -> Where:
        return cls(
            None if documents is None else frozenset(documents),
            tuple(Condition(name, "eq", value) for name, value in equal.items()),
        )


@dataclass(frozen=True)
class Question:
    """A question to a collection. Without `words` the search is by meaning alone."""

    vector: Vector
    k: int
    words: str | None = None
    where: Where = field(default_factory=Where)
    fusion: FusionMethod = "convex"
    alpha: float = DEFAULT_ALPHA


@dataclass(frozen=True)
class Hit:
    """A passage that answers, with its cosine, its BM25, and the fused score (None if meaning alone was asked for)."""

    passage: Passage
    cosine: float
    fused: float | None = None
    bm25: float = 0.0

    @property
    def id(self) -> str:
        return self.passage.id

    @property
    def text(self) -> str:
        return self.passage.text

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.passage.metadata

    @property
    def score(self) -> float:
        """The score that the answer is ordered by."""
        return self.cosine if self.fused is None else self.fused


@dataclass(frozen=True)
class DocumentRow:
    """One document of a collection. `about` is the metadata of its first passage, if the store has it."""

    document_id: str
    path: str | None
    title: str | None
    sha256: str | None
    chunk_count: int
    about: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


def own_text(passage: Passage) -> str:
    return passage.text


def own_section(passage: Passage) -> Hashable:
    return passage.section


def all_fields(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    return metadata


@dataclass(frozen=True)
class Rules:
    """The way in which a domain reads its own metadata.

    `document_key` is the field that names the document, `fields` what filters compare, `searched_text` the words that a
    passage is found by. Neighbours of equal `section` lend each other their words.
    """

    document_key: str
    seq_key: str = "chunk_index"
    fields: Callable[[Mapping[str, Any]], Mapping[str, Any]] = all_fields
    searched_text: Callable[[Passage], str] = own_text
    section: Callable[[Passage], Hashable] = own_section
