"""One suite for every store: what is written is found, within its collection, as a whole, by every process."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from passage_stores import MODEL, Opened, chroma, for_library, make_passage, qdrant_in, sqlite, unit_vector
from qdrant_client import QdrantClient

from trigpoint.errors import EmbeddingMismatch, InvalidChunk, LibraryTimeout
from trigpoint.passages.model import Condition, Passage, Question, Where
from trigpoint.passages.store import PassageStore

BACKENDS = ["sqlite", "qdrant", "chroma", "chroma at a URL"]


@dataclass
class Backend:
    """A store that can be opened again and again on what it holds."""

    name: str
    open_one: Callable[..., Opened]
    stack: ExitStack

    def open(self, collection: str = "mine") -> PassageStore:
        return self.stack.enter_context(self.open_one(collection))

    def passage(self, name: str, seed: int, tags: tuple[str, ...] = (), **about: object) -> Passage:
        passage = make_passage(name, seed, **about)  # type: ignore[arg-type]
        return passage if self.name.startswith("chroma") else for_library(passage, tags)

    def of_library(self) -> None:
        if self.name.startswith("chroma"):
            pytest.skip("about the library's metadata")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Backend]:
    name = request.param
    unique = uuid.uuid4().hex[:8]  # the server at a URL serves all tests
    opened: dict[str, Callable[..., AbstractContextManager[PassageStore]]] = {
        "sqlite": lambda collection: sqlite(tmp_path, collection),
        "qdrant": partial(qdrant_in(QdrantClient(":memory:")), tmp_path),
        "chroma": lambda collection: chroma(tmp_path, collection),
        "chroma at a URL": lambda collection: chroma(
            tmp_path, f"{collection}-{unique}", request.getfixturevalue("chroma_url")
        ),
    }
    with ExitStack() as stack:
        yield Backend(name, opened[name], stack)


@pytest.fixture
def store(backend: Backend) -> PassageStore:
    return backend.open()


def write(store: PassageStore, *passages: Passage, **how: object) -> None:
    store.write(passages, **{"model": MODEL, **how})  # type: ignore[arg-type]


def found(store: PassageStore, seed: int = 1, **question: object) -> list[str]:
    asked = Question(unit_vector(seed), **{"k": 10, **question})  # type: ignore[arg-type]
    return [hit.id for hit in store.search(asked)]


def scores_by_words(store: PassageStore, words: str) -> dict[str, float]:
    return {hit.id: hit.bm25 for hit in store.search(Question(unit_vector(1), k=100, words=words, alpha=0.0))}


def test_an_empty_collection_answers_with_nothing(store: PassageStore) -> None:
    assert found(store) == []
    assert found(store, words="anything") == []
    assert store.get(["x"]) == []
    assert store.documents() == []
    assert store.document("d1") == []
    assert store.delete("d1") == 0
    assert store.fingerprint() is None
    assert store.inspect(3).size == store.count() == 0


def test_passages_come_back_as_they_were_written(backend: Backend, store: PassageStore) -> None:
    passage = backend.passage("a", 1, ("x", "y"), text="Ünïcode ﬁligature\n“quoted”", year=2017)
    write(store, passage)
    back = store.get(["nobody", "a"])[0]
    assert (back.id, back.document_id, back.seq, back.text) == (
        passage.id,
        passage.document_id,
        passage.seq,
        passage.text,
    )
    assert back.metadata == passage.metadata
    assert np.array_equal(back.vector, passage.vector)


def test_the_nearest_comes_first_and_scores_fall(backend: Backend, store: PassageStore) -> None:
    write(store, *(backend.passage(f"c{i}", i) for i in range(30)))
    hits = store.search(Question(unit_vector(7), k=5))
    assert (hits[0].id, hits[0].score) == ("c7", 1.0)
    assert len(hits) == 5
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert all(0 <= h.score <= 1 for h in hits)


def test_hybrid_finds_by_words_what_meaning_misses(backend: Backend, store: PassageStore) -> None:
    rare = backend.passage("rare", 900, text="the Nokia bollard treatment")
    write(store, *(backend.passage(f"c{i}", i) for i in range(300)), rare)
    assert found(store, seed=5, words="nokia bollards", alpha=0.3)[0] == "rare"
    assert "rare" not in found(store, seed=5)


def test_words_of_the_headings_count(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1, path=("Hexagonal ports",)), backend.passage("b", 2))
    hits = store.search(Question(unit_vector(50), k=2, words="hexagonal", alpha=0.0))
    assert hits[0].id == "a"
    assert hits[0].bm25 > 0


def test_words_of_neighbours_in_the_section_count(backend: Backend, store: PassageStore) -> None:
    texts = ["alpha one", "beta two", "the theodolite three", "gamma four", "delta five"]
    passages = [backend.passage(f"c{i}", i, text=text) for i, text in enumerate(texts)]
    write(store, *passages, backend.passage("elsewhere", 5, text="zeta six", path=("Part II",)))
    hits = store.search(Question(unit_vector(50), k=10, words="theodolite", alpha=0.0))
    assert {h.id for h in hits if h.bm25 > 0} == {"c0", "c1", "c2", "c3", "c4"}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where.of(citekey="key-d2"), {"c"}),
        (Where.of(["d1"]), {"a", "b"}),
        (Where.of(["d1", "d2", "nobody"]), {"a", "b", "c"}),
        (Where.of([]), set()),
        (Where.of(year=2001), {"b"}),
        (Where(None, (Condition("year", "gte", 2001),)), {"b"}),
        (Where(None, (Condition("year", "lte", 2000),)), {"a"}),
        (Where(None, (Condition("citekey", "in", ("key-d1", "x")),)), {"a", "b"}),
        (Where(None, (Condition("section", "starts", "Part I / Chap"),)), {"b"}),
        (Where(None, (Condition("section", "starts", "%"),)), set()),
        (Where.of(["d1"], year=2000), {"a"}),
        (Where.of(["d2"], year=2000), set()),
    ],
)
@pytest.mark.parametrize("words", [None, "passage"])
def test_filters_let_through_what_they_say(
    backend: Backend, store: PassageStore, where: Where, expected: set[str], words: str | None
) -> None:
    write(
        store,
        backend.passage("a", 1, year=2000),
        backend.passage("b", 2, year=2001, path=("Part I", "Chapter 1")),
        backend.passage("c", 3, doc="d2"),
    )
    assert set(found(store, where=where, words=words)) == expected
    assert store.count(where) == len(expected)


@pytest.mark.parametrize(
    ("tags", "expected"), [(("x",), {"a", "b"}), (("x", "y"), {"b"}), (("X",), set()), ((), {"a", "b", "c"})]
)
def test_every_tag_that_is_asked_for_must_be_there(
    backend: Backend, store: PassageStore, tags: tuple[str, ...], expected: set[str]
) -> None:
    backend.of_library()
    write(
        store, backend.passage("a", 1, ("x",)), backend.passage("b", 2, ("x", "y")), backend.passage("c", 3, doc="d2")
    )
    assert set(found(store, where=Where(None, tuple(Condition("tags", "has", tag) for tag in tags)))) == expected


def test_writing_again_replaces_by_id(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1))
    assert found(store) == ["a"]
    write(store, backend.passage("a", 2, doc="d2", text="moved elsewhere"))
    assert store.count() == 1
    assert store.search(Question(unit_vector(2), 1))[0].score == 1.0
    assert store.document("d1") == []
    assert found(store, words="number") == found(store)


def test_an_id_that_moves_out_of_a_replaced_document_is_there_once(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1), backend.passage("b", 2), replace=["d1"])
    write(store, backend.passage("a", 3, doc="d2"))
    assert [p.document_id for p in store.get(["a"])] == ["d2"]
    assert [p.id for p in store.document("d1")] == ["b"]
    assert store.count() == 2


def test_replacing_a_document_leaves_no_stale_passage(backend: Backend, store: PassageStore) -> None:
    old = [backend.passage(f"old{i}", i, text="obsolete words") for i in range(5)]
    write(store, *old, backend.passage("keep", 9, doc="d2"))
    assert len(found(store, words="obsolete")) == 6
    write(store, backend.passage("new", 20), replace=["d1"])
    assert {p.id for p in store.document("d1")} == {"new"}
    assert set(found(store, words="obsolete")) == {"new", "keep"}


def test_a_document_is_replaced_under_the_same_ids(backend: Backend, store: PassageStore) -> None:
    write(store, *(backend.passage(f"p{i}", i, text=f"first {i}") for i in range(4)), replace=["d1"])
    write(store, *(backend.passage(f"p{i}", i + 10, text=f"second {i}") for i in range(2)), replace=["d1"])
    assert [p.text for p in store.document("d1")] == ["second 0", "second 1"]
    assert {hit.text for hit in store.search(Question(unit_vector(1), 10, words="second"))} == {"second 0", "second 1"}


def test_deleting_a_document_removes_it_everywhere(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1), backend.passage("b", 2, doc="d2"))
    assert found(store, words="passage") != []
    assert store.delete("d1") == 1
    assert found(store, words="passage") == ["b"]
    assert [d.document_id for d in store.documents()] == ["d2"]
    assert store.delete("d1") == 0


def test_a_deleted_document_can_come_back(backend: Backend, store: PassageStore) -> None:
    for _ in range(2):
        write(store, backend.passage("a", 1), replace=["d1"])
        assert found(store) == ["a"]
        assert store.delete("d1") == 1
        assert found(store) == []


def test_documents_are_listed_with_what_is_known_of_them(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1), backend.passage("b", 2))
    row = store.documents()[0]
    assert (row.document_id, row.chunk_count) == ("d1", 2)
    backend.of_library()
    assert (row.path, row.title, row.sha256) == ("d1.pdf", "D1", "hash-d1")


def test_a_second_store_searches_the_new_words_of_a_document_that_another_has_replaced(backend: Backend) -> None:
    first, second = backend.open(), backend.open()
    write(first, backend.passage("a", 1, text="the hedgehog"), backend.passage("b", 2, doc="d2"))
    assert scores_by_words(second, "hedgehog")["a"] > 0
    write(first, backend.passage("a", 1, text="the kingfisher"), replace=["d1"])
    assert scores_by_words(second, "kingfisher")["a"] > 0
    assert scores_by_words(second, "hedgehog").get("a", 0) == 0


def test_scores_do_not_depend_on_who_wrote_and_who_read(backend: Backend) -> None:
    """Two stores write in turn and search in between: both end with the same scores, to the last digit."""
    first, second = backend.open(), backend.open()
    for number in range(6):
        written = [backend.passage(f"{number}-{n}", 10 * number + n, doc=f"d{number}") for n in range(number + 2)]
        write((first, second)[number % 2], *written)
        if number % 3:
            found(first, words="passage number")
    expected = scores_by_words(first, "passage number 3")
    assert len(expected) == 27
    assert scores_by_words(second, "passage number 3") == expected


def test_nothing_crosses_from_one_collection_to_another(backend: Backend) -> None:
    mine, other = backend.open("mine"), backend.open("other")
    write(mine, backend.passage("same", 1, text="mine alone"))
    write(other, backend.passage("same", 2, text="theirs alone"))
    assert [h.text for h in mine.search(Question(unit_vector(2), 5, words="alone theirs"))] == ["mine alone"]
    assert other.get(["same"])[0].text == "theirs alone"
    other.delete("d1")
    assert mine.get(["same"])[0].text == "mine alone"


def test_what_one_opening_wrote_the_next_one_finds(backend: Backend) -> None:
    first = backend.open()
    write(first, backend.passage("a", 1), replace=["d1"])
    second = backend.open()
    assert found(second, words="passage") == ["a"]
    write(first, backend.passage("b", 2, text="written later"), replace=["d1"])
    assert found(second, words="later") == ["b"]
    assert [p.text for p in second.document("d1")] == ["written later"]
    second.delete("d1")
    assert found(first) == []


def test_a_collection_is_bound_to_its_first_model(backend: Backend, store: PassageStore) -> None:
    backend.of_library()
    write(store, backend.passage("a", 1))
    write(store, backend.passage("b", 2), model="sentence-transformers/all-MiniLM-L6-v2")  # the same embedding
    with pytest.raises(EmbeddingMismatch):
        write(store, backend.passage("c", 3), model="openai/text-embedding-3-small")
    assert store.fingerprint() == MODEL
    assert store.get(["c"]) == []


def test_every_vector_of_a_set_has_the_dimension_of_the_first_one(backend: Backend, store: PassageStore) -> None:
    backend.of_library()

    def sized(name: str, dimensions: int) -> Passage:
        return replace(backend.passage(name, 1), vector=unit_vector(1, dimensions))

    write(store, sized("a", 3), sized("b", 3), model="openai/y")
    with pytest.raises(
        InvalidChunk, match="Chunk 1: embedding has 5 dimensions, those of 'openai/y' in this project 3"
    ) as caught:
        write(store, sized("c", 3), sized("d", 5), model="openai/y", replace=["d1"])
    assert caught.value.details["index"] == 1
    assert [passage.id for passage in store.document("d1")] == ["a", "b"]
    assert set(found(store, words="passage number", alpha=0.0)) == {"a", "b"}  # by words alone, as quotations are
    write(store, backend.passage("a", 1), backend.passage("b", 2), migrate=True)  # another set, another dimension
    assert store.fingerprint() == MODEL


def test_a_migration_swaps_when_every_passage_has_its_successor(backend: Backend, store: PassageStore) -> None:
    backend.of_library()
    write(store, backend.passage("a", 1), backend.passage("b", 2), model="old/model")
    first = store.write([backend.passage("a", 11)], model=MODEL, migrate=True)
    assert first is not None
    assert (first.done, first.total, store.fingerprint()) == (1, 2, "old/model")
    assert np.array_equal(store.get(["a"])[0].vector, unit_vector(1))
    second = store.write([backend.passage("b", 12)], model=MODEL, migrate=True)
    assert second is not None
    assert second.complete
    assert store.fingerprint() == MODEL
    assert store.count() == 2
    assert store.search(Question(unit_vector(12), 1))[0].score == 1.0


def test_a_write_that_is_not_allowed_at_the_end_leaves_nothing(backend: Backend, store: PassageStore) -> None:
    write(store, backend.passage("a", 1))
    with pytest.raises(LibraryTimeout):
        write(store, backend.passage("b", 2), replace=["d1"], allow=lambda: False)
    with pytest.raises(LibraryTimeout):
        store.delete("d1", allow=lambda: False)
    assert found(store, words="passage") == ["a"]


def test_inspection_tells_size_keys_and_a_sample(backend: Backend, store: PassageStore) -> None:
    write(store, *(backend.passage(f"c{i}", i) for i in range(4)))
    seen = store.inspect(2)
    assert (seen.size, len(seen.sample)) == (4, 2)
    assert set(seen.payload_keys) == set(backend.passage("a", 1).metadata)
