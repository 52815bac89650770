"""One suite for every store: what is written is found, within its project, as a whole, by every process."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient

from trigpoint.errors import EmbeddingMismatch, InvalidChunk, LibraryTimeout
from trigpoint.library.projects import Project
from trigpoint.library.store import ChunkStore, Filters, Question, StoredChunk
from trigpoint.library.store_qdrant import QdrantStore
from trigpoint.library.store_sqlite import SqliteStore

MODEL = "fastembed/all-MiniLM-L6-v2"
MINE = Project("citeloom/clean-arch", "proj-citeloom-clean-arch")
OTHER = Project("citeloom/ddd", "proj-citeloom-ddd")

STORES: dict[str, Callable[[Path], ChunkStore]] = {
    "sqlite": SqliteStore,
    "qdrant": lambda _: QdrantStore(QdrantClient(":memory:")),
}


def unit_vector(seed: int, size: int = 384) -> np.ndarray:
    vector = np.random.default_rng(seed).standard_normal(size).astype(np.float32)
    return vector / np.linalg.norm(vector)


def make_chunk(
    name: str,
    seed: int,
    *,
    doc: str = "d1",
    text: str | None = None,
    tags: tuple[str, ...] = (),
    year: int | None = None,
    path: tuple[str, ...] = ("Part I",),
) -> StoredChunk:
    payload = {
        "source": {"path": f"{doc}.pdf", "title": doc.upper(), "sha256": f"hash-{doc}"},
        "zotero": {"citekey": f"key-{doc}", "tags": list(tags), "year": year},
        "doc": {"section": path[-1], "section_path": list(path), "page_span": [1, 2]},
    }
    return StoredChunk(name, doc, seed, text or f"passage number {name}", unit_vector(seed), payload)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChunkStore]:
    made = STORES[request.param](tmp_path)
    yield made
    made.close()


def found(store: ChunkStore, project: Project, seed: int = 1, **question: object) -> list[str]:
    return [hit.chunk.id for hit in store.search(project, Question(unit_vector(seed), **{"k": 10, **question}))]


def test_an_empty_project_answers_with_nothing(store: ChunkStore) -> None:
    assert found(store, MINE) == []
    assert store.get(MINE, ["x"]) == []
    assert store.documents(MINE) == []
    assert store.delete_document(MINE, "d1") == 0
    assert store.bound_model(MINE) is None
    assert store.inspect(MINE, 3).size == 0


def test_chunks_come_back_as_they_were_written(store: ChunkStore) -> None:
    chunk = make_chunk("a", 1, text="Ünïcode ﬁligature\n“quoted”", tags=("x", "y"), year=2017)
    store.write(MINE, MODEL, [chunk])
    back = store.get(MINE, ["nobody", "a"])[0]
    assert (back.id, back.doc_id, back.seq, back.text, back.payload) == (
        chunk.id,
        chunk.doc_id,
        chunk.seq,
        chunk.text,
        chunk.payload,
    )
    assert np.array_equal(back.vector, chunk.vector)


def test_the_nearest_comes_first_and_scores_fall(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk(f"c{i}", i) for i in range(30)])
    hits = store.search(MINE, Question(unit_vector(7), k=5))
    assert (hits[0].chunk.id, hits[0].score) == ("c7", 1.0)
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert all(0 <= h.score <= 1 for h in hits)


def test_hybrid_finds_by_words_what_meaning_misses(store: ChunkStore) -> None:
    store.write(
        MINE,
        MODEL,
        [make_chunk(f"c{i}", i) for i in range(300)] + [make_chunk("rare", 900, text="the Nokia bollard treatment")],
    )
    assert found(store, MINE, seed=5, words="nokia bollards", alpha=0.3)[0] == "rare"
    assert "rare" not in found(store, MINE, seed=5)


def test_words_of_the_headings_count(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1, path=("Hexagonal ports",)), make_chunk("b", 2)])
    hits = store.search(MINE, Question(unit_vector(50), k=2, words="hexagonal", alpha=0.0))
    assert hits[0].chunk.id == "a"
    assert hits[0].bm25 > 0


def test_words_of_neighbours_in_the_section_count(store: ChunkStore) -> None:
    texts = ["alpha one", "beta two", "the theodolite three", "gamma four", "delta five"]
    chunks = [make_chunk(f"c{i}", i, text=text) for i, text in enumerate(texts)]
    chunks.append(make_chunk("elsewhere", 5, text="zeta six", path=("Part II",)))
    store.write(MINE, MODEL, chunks)
    hits = store.search(MINE, Question(unit_vector(50), k=10, words="theodolite", alpha=0.0))
    assert {h.chunk.id for h in hits if h.bm25 > 0} == {"c0", "c1", "c2", "c3", "c4"}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(tags=("x",)), {"a", "b"}),
        (Filters(tags=("x", "y")), {"b"}),
        (Filters(tags=("X",)), set()),
        (Filters(citekey="key-d2"), {"c"}),
        (Filters(doc_id="d1"), {"a", "b"}),
        (Filters(year=2001), {"b"}),
        (Filters(section_prefix="Part I / Chap"), {"b"}),
        (Filters(section_prefix="%"), set()),
        (Filters(tags=("x",), year=2000), {"a"}),
    ],
)
@pytest.mark.parametrize("words", [None, "passage"])
def test_filters_let_through_what_they_say(
    store: ChunkStore, filters: Filters, expected: set[str], words: str | None
) -> None:
    chunks = [
        make_chunk("a", 1, tags=("x",), year=2000),
        make_chunk("b", 2, tags=("x", "y"), year=2001, path=("Part I", "Chapter 1")),
        make_chunk("c", 3, doc="d2"),
    ]
    store.write(MINE, MODEL, chunks)
    assert set(found(store, MINE, filters=filters, words=words)) == expected
    assert {c.id for c in chunks if filters.allows(c)} == expected


def test_writing_again_replaces_by_id(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1)])
    assert found(store, MINE) == ["a"]
    store.write(MINE, MODEL, [make_chunk("a", 2, doc="d2", text="moved elsewhere")])
    assert store.inspect(MINE, 1).size == 1
    assert store.search(MINE, Question(unit_vector(2), 1))[0].score == 1.0
    assert store.document(MINE, "d1") == []
    assert found(store, MINE, words="number") == found(store, MINE)


def test_replacing_a_document_leaves_no_stale_chunk(store: ChunkStore) -> None:
    store.write(
        MINE,
        MODEL,
        [make_chunk(f"old{i}", i, text="obsolete words") for i in range(5)] + [make_chunk("keep", 9, doc="d2")],
    )
    assert len(found(store, MINE, words="obsolete")) == 6
    store.write(MINE, MODEL, [make_chunk("new", 20)], replace_documents=["d1"])
    assert {c.id for c in store.document(MINE, "d1")} == {"new"}
    assert set(found(store, MINE, words="obsolete")) == {"new", "keep"}


def test_deleting_a_document_removes_it_everywhere(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1), make_chunk("b", 2, doc="d2")])
    assert found(store, MINE, words="passage") != []
    assert store.delete_document(MINE, "d1") == 1
    assert found(store, MINE, words="passage") == ["b"]
    assert [d.doc_id for d in store.documents(MINE)] == ["d2"]
    assert store.delete_document(MINE, "d1") == 0


def test_documents_are_listed_with_what_is_known_of_them(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1), make_chunk("b", 2)])
    row = store.documents(MINE)[0]
    assert (row.doc_id, row.path, row.title, row.sha256, row.chunk_count) == ("d1", "d1.pdf", "D1", "hash-d1", 2)


def test_nothing_crosses_from_one_project_to_another(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("same", 1, text="mine alone")])
    store.write(OTHER, MODEL, [make_chunk("same", 2, text="theirs alone")])
    assert [h.chunk.text for h in store.search(MINE, Question(unit_vector(2), 5, words="alone theirs"))] == [
        "mine alone"
    ]
    assert store.get(OTHER, ["same"])[0].text == "theirs alone"
    store.delete_document(OTHER, "d1")
    assert store.get(MINE, ["same"])[0].text == "mine alone"


def test_a_project_is_bound_to_its_first_model(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1)])
    store.write(MINE, "sentence-transformers/all-MiniLM-L6-v2", [make_chunk("b", 2)])  # L10: the same embedding
    with pytest.raises(EmbeddingMismatch):
        store.write(MINE, "openai/text-embedding-3-small", [make_chunk("c", 3)])
    assert store.bound_model(MINE) == MODEL
    assert store.get(MINE, ["c"]) == []


def test_l2_every_vector_of_a_set_has_the_dimension_of_the_first_one(store: ChunkStore) -> None:
    def sized(name: str, dimensions: int) -> StoredChunk:
        return replace(make_chunk(name, 1), vector=unit_vector(1, dimensions))

    store.write(MINE, "openai/y", [sized("a", 3), sized("b", 3)])
    with pytest.raises(
        InvalidChunk, match="Chunk 1: embedding has 5 dimensions, those of 'openai/y' in this project 3"
    ) as caught:
        store.write(MINE, "openai/y", [sized("c", 3), sized("d", 5)], replace_documents=["d1"])
    assert caught.value.details["index"] == 1
    assert [chunk.id for chunk in store.document(MINE, "d1")] == ["a", "b"]
    assert set(found(store, MINE, words="passage number", alpha=0.0)) == {"a", "b"}  # by words alone, as quotations are
    store.write(MINE, MODEL, [make_chunk("a", 1), make_chunk("b", 2)], migrate=True)  # another set, another dimension
    assert store.bound_model(MINE) == MODEL


def test_a_migration_swaps_when_every_chunk_has_its_successor(store: ChunkStore) -> None:
    store.write(MINE, "old/model", [make_chunk("a", 1), make_chunk("b", 2)])
    first = store.write(MINE, MODEL, [make_chunk("a", 11)], migrate=True)
    assert first is not None
    assert (first.done, first.total, store.bound_model(MINE)) == (1, 2, "old/model")
    assert np.array_equal(store.get(MINE, ["a"])[0].vector, unit_vector(1))
    second = store.write(MINE, MODEL, [make_chunk("b", 12)], migrate=True)
    assert second is not None
    assert second.complete
    assert store.bound_model(MINE) == MODEL
    assert store.inspect(MINE, 0).size == 2
    assert store.search(MINE, Question(unit_vector(12), 1))[0].score == 1.0


def test_a_write_that_is_not_allowed_at_the_end_leaves_nothing(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk("a", 1)])
    with pytest.raises(LibraryTimeout):
        store.write(MINE, MODEL, [make_chunk("b", 2)], replace_documents=["d1"], allow=lambda: False)
    with pytest.raises(LibraryTimeout):
        store.delete_document(MINE, "d1", allow=lambda: False)
    assert found(store, MINE, words="passage") == ["a"]


def test_inspection_tells_size_model_keys_and_a_sample(store: ChunkStore) -> None:
    store.write(MINE, MODEL, [make_chunk(f"c{i}", i) for i in range(4)])
    seen = store.inspect(MINE, 2)
    assert (seen.size, seen.embed_model, len(seen.sample)) == (4, MODEL, 2)
    assert set(seen.payload_keys) == {"source", "zotero", "doc"}


def _write_from_outside(folder: str, name: str, seed: int) -> None:
    other = SqliteStore(Path(folder))
    other.write(MINE, MODEL, [make_chunk(name, seed, text=f"outside words {name}")])
    other.close()


def test_writes_of_other_processes_are_seen_once_they_have_returned(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.write(MINE, MODEL, [make_chunk("a", 1)])
    assert found(store, MINE, words="outside") == ["a"]
    spawn = multiprocessing.get_context("spawn")
    for seed in (20, 21):
        process = spawn.Process(target=_write_from_outside, args=(str(tmp_path), f"p{seed}", seed))
        process.start()
        process.join(60)
        assert process.exitcode == 0, sys.stderr
        assert found(store, MINE, seed=seed, words="outside")[0] == f"p{seed}"


def test_a_crash_between_database_and_lexical_index_is_repaired_by_the_next_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = SqliteStore(tmp_path)
    store.write(MINE, MODEL, [make_chunk("a", 1)])
    with monkeypatch.context() as crash:
        crash.setattr(SqliteStore, "_catch_up", lambda *_, **__: None)
        store.write(MINE, MODEL, [make_chunk("b", 2, text="written before the crash")])
    store.close()
    again = SqliteStore(tmp_path)
    assert again.search(MINE, Question(unit_vector(50), 2, words="crash", alpha=0.0))[0].chunk.id == "b"
