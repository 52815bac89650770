"""The interface of a store of passages: those of one collection, changed a document at a time, searched, read, counted.

Three implementations: Chroma (policies and application documents), SQLite (the library) and Qdrant (the library on a
server). A document is replaced as a whole: a search or a read, in this process or another, finds its old
passages or its new ones, and a crash between any two steps leaves the one or the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trigpoint.errors import EmbeddingMismatch, InvalidChunk, LibraryTimeout, shorten
from trigpoint.passages.model import DocumentRow, Hit, Passage, Question, Rules, Where
from trigpoint.passages.surroundings import Surroundings, surroundings


@dataclass(frozen=True)
class Inspection:
    size: int
    embed_model: str | None
    payload_keys: tuple[str, ...]
    sample: tuple[Passage, ...]


@dataclass(frozen=True)
class Migration:
    """The progress of a change of model: the old set answers until every passage of it has a successor."""

    done: int
    total: int

    @property
    def complete(self) -> bool:
        return self.done >= self.total


def always() -> bool:
    return True


class PassageStore(Protocol):
    """The passages of one collection. Synchronous and thread-safe.

    `allow` is asked right before a change takes effect: if it says False, nothing changes and LibraryTimeout is raised.
    """

    def write(
        self,
        passages: Sequence[Passage],
        *,
        replace: Sequence[str] = (),
        model: str | None = None,
        migrate: bool = False,
        allow: Callable[[], bool] = always,
    ) -> Migration | None:
        """Insert or replace passages by id; every passage of the documents in `replace` that is not among them goes.

        The first write binds the collection to its model; another one raises EmbeddingMismatch unless `migrate`. A
        vector of another dimension than those of its set raises InvalidChunk.
        """
        ...

    def delete(self, document_id: str, *, allow: Callable[[], bool] = always) -> int:
        """Remove a document; returns how many passages it had. None is no error."""
        ...

    def search(self, question: Question) -> list[Hit]:
        """Return the k best passages that the question's filter lets through, best first, equal scores by id."""
        ...

    def get(self, ids: Sequence[str]) -> list[Passage]:
        """Return these passages in the order asked for; unknown ids are left out."""
        ...

    def document(self, document_id: str) -> list[Passage]:
        """Return a document's passages in reading order."""
        ...

    def documents(self) -> list[DocumentRow]: ...

    def count(self, where: Where | None = None) -> int: ...

    def fingerprint(self) -> str | None:
        """Return the embedding that the collection's vectors were made with; None while it is empty."""
        ...

    def inspect(self, sample: int) -> Inspection: ...

    def lacks_words(self) -> bool:
        """Return whether words of some passages are still being indexed, so that a search by words can miss these."""
        ...

    def close(self) -> None: ...


class PassageStores(Protocol):
    """Collections by name. Nothing of one is ever read, counted or removed by a call on another."""

    def collection(self, name: str) -> PassageStore: ...

    def close(self) -> None: ...


def searched_rows(rules: Rules, passages: Sequence[Passage]) -> Iterator[tuple[str, str, Surroundings]]:
    """Yield id, own words and the words around it of each of a document's passages, given in reading order."""
    around = surroundings([(rules.section(p), p.text) for p in passages])
    for passage, near in zip(passages, around, strict=True):
        yield passage.id, rules.searched_text(passage), near


_COLUMNS = ("citekey", "tags", "year", "section")  # fields that the stores have had a place for from the beginning


def facets(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the further fields that a domain filters by, without those that have no value."""
    return {name: value for name, value in fields.items() if name not in _COLUMNS and value not in (None, (), [])}


def ask(allow: Callable[[], bool]) -> None:
    if not allow():
        raise LibraryTimeout("The call had timed out; nothing was written")


def mismatch(collection: str, bound: str, model: str) -> EmbeddingMismatch:
    return EmbeddingMismatch(
        f"Project '{collection}' is bound to the model '{bound}', not '{shorten(model)}'. Send chunks of that model, "
        "or migrate: true to rebuild the project",
        bound_model=bound,
        given_model=shorten(model),
    )


def invalid(index: int, reason: str) -> InvalidChunk:
    return InvalidChunk(f"Chunk {index}: {reason}. Nothing of this call was written", index=index, reason=reason)


def check_dimensions(passages: Sequence[Passage], model: str, dimensions: int | None) -> None:
    """Raise InvalidChunk unless every vector has the dimensions of its set; None: the set is empty."""
    for index, passage in enumerate(passages):
        size = 0 if passage.vector is None else len(passage.vector)
        if dimensions not in (None, size):
            raise invalid(
                index, f"embedding has {size} dimensions, those of '{shorten(model)}' in this project {dimensions}"
            )
