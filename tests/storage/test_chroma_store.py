"""One owner, exact filtered search, and records that any other Chroma client reads (E8, P15, P16, D9)."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from trigpoint.config import Settings, load_settings
from trigpoint.errors import StoreInUse, StoreUnavailable
from trigpoint.storage.chroma import ChromaStore, Collection
from trigpoint.storage.mirror import Mirror

COUNT = 300


def unit_vectors(count: int, seed: int = 0) -> np.ndarray:
    vectors = np.random.default_rng(seed).standard_normal((count, 384)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def fill(collection: Collection, count: int = COUNT) -> np.ndarray:
    vectors = unit_vectors(count)
    collection.upsert(
        [f"p{i:04d}" for i in range(count)],
        vectors,
        [f"text {i}" for i in range(count)],
        [{"ref": f"r{i % 7}", "day": 20200000 + i} for i in range(count)],
    )
    return vectors


@pytest.fixture(scope="module")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server."""
    import socket

    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    chroma = Path(sys.executable).with_name("chroma")
    folder = tmp_path_factory.mktemp("chroma")
    process = subprocess.Popen(
        [chroma, "run", "--path", str(folder), "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while True:
        try:
            ChromaStore(load_settings(chroma_url=f"http://127.0.0.1:{port}"), "documents").close()
            break
        except StoreUnavailable:
            assert time.monotonic() < deadline, "chroma run did not start"
            time.sleep(0.2)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait()


@pytest.fixture(params=["embedded", "served"])
def store(request: pytest.FixtureRequest, settings: Settings) -> Iterator[ChromaStore]:
    if request.param == "served":
        settings = load_settings(chroma_url=request.getfixturevalue("chroma_url"))
    with ChromaStore(settings, "documents") as opened:
        yield opened


@pytest.fixture
def collection(store: ChromaStore, request: pytest.FixtureRequest) -> Collection:
    return store.collection(f"c-{abs(hash(request.node.name))}")


def test_filtered_search_equals_brute_force(collection: Collection) -> None:
    vectors = fill(collection)
    query = unit_vectors(1, seed=9)[0]
    for ref in range(7):
        rows = [i for i in range(COUNT) if i % 7 == ref and i >= 100]
        expected = sorted(rows, key=lambda i: (-round(max(0.0, float(vectors[i] @ query)), 4), i))[:10]
        hits = collection.nearest(query, 10, {"$and": [{"ref": f"r{ref}"}, {"day": {"$gte": 20200100}}]})
        assert [hit.id for hit in hits] == [f"p{i:04d}" for i in expected]
        assert [hit.text for hit in hits] == [f"text {i}" for i in expected]


def test_k_that_exceeds_what_the_filter_allows_returns_all_of_it(collection: Collection) -> None:
    fill(collection)
    hits = collection.nearest(unit_vectors(1, seed=9)[0], 500, {"ref": {"$in": ["r1", "r2"]}})
    assert len(hits) == len([i for i in range(COUNT) if i % 7 in (1, 2)])


def test_the_score_is_the_cosine(collection: Collection) -> None:
    vectors = fill(collection)
    hit = collection.nearest(vectors[5], 1)[0]
    assert (hit.id, hit.score) == ("p0005", 1.0)
    scores = collection.scores(vectors[5], {"ref": "r5"})
    assert scores["p0005"] == 1.0
    assert collection.score_of(vectors[5], ["p0005", "nobody"]) == {"p0005": 1.0}


def test_changes_are_seen_by_the_next_search(collection: Collection) -> None:
    vectors = fill(collection)
    query = vectors[3]
    collection.delete(["p0003"])
    assert "p0003" not in [hit.id for hit in collection.nearest(query, 5)]
    collection.upsert(["p0004"], query[None, :], ["moved"], [{"ref": "new", "day": 1}])
    assert [(h.id, h.text) for h in collection.nearest(query, 1, {"ref": "new"})] == [("p0004", "moved")]
    collection.update_metadatas(["p0004"], [{"ref": "newer"}])
    assert collection.nearest(query, 1, {"ref": "new"}) == []
    record = collection.get(ids=["p0004"])[0]
    assert record.metadata == {"ref": "newer", "day": 1}
    assert collection.count() == COUNT - 1
    assert collection.count({"ref": "newer"}) == 1


def test_more_than_one_batch_goes_in_and_comes_out(settings: Settings) -> None:
    with ChromaStore(settings, "documents") as store:
        collection = store.collection("many")
        fill(collection, 5_500)
        assert collection.count() == 5_500
        assert len(collection.get(where={"ref": "r0"})) == len(range(0, 5_500, 7))


def test_a_second_owner_is_told_who_holds_the_store_and_the_way_out(settings: Settings) -> None:
    with ChromaStore(settings, "documents"), ChromaStore(settings, "policies"):
        with pytest.raises(StoreInUse, match=r"in use by process [0-9]+ .*CHROMA_URL"):
            ChromaStore(settings, "documents")
    with ChromaStore(settings, "documents") as again:
        again.ping()


def test_another_chroma_client_reads_what_was_written(settings: Settings) -> None:
    with ChromaStore(settings, "documents") as store:
        vectors = fill(store.collection("shared"))
    import chromadb

    client = chromadb.PersistentClient(path=str(settings.chroma_dir("documents")))
    record = client.get_collection("shared", embedding_function=None).get(
        ids=["p0001"], include=["documents", "metadatas", "embeddings"]
    )
    assert record["documents"] == ["text 1"]
    assert record["metadatas"] == [{"ref": "r1", "day": 20200001}]
    assert np.array_equal(np.asarray(record["embeddings"][0], dtype=np.float32), vectors[1])
    client.close()


def test_another_embedding_is_noticed(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    with ChromaStore(settings, "documents") as store:
        store.collection("docs", fingerprint="one")
    with ChromaStore(settings, "documents") as store, caplog.at_level(logging.WARNING):
        store.collection("docs", fingerprint="two")
    assert "another embedding (one, now two)" in caplog.text


def test_an_unreachable_server_is_named(free_port: Callable[[], int]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    with pytest.raises(StoreUnavailable, match=f"CHROMA_URL={url}"):
        ChromaStore(load_settings(chroma_url=url), "documents")


@hypothesis_settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["upsert", "delete", "update"]), st.integers(0, 9), st.integers(0, 3)), max_size=30
    )
)
def test_the_mirror_agrees_with_a_plain_dictionary(steps: list[tuple[str, int, int]]) -> None:
    vectors = unit_vectors(40)
    mirror, model = Mirror([], [], []), {}
    for number, (step, key, tag) in enumerate(steps):
        name = f"p{key}"
        if step == "upsert":
            mirror.upsert([name], vectors[number : number + 1], [{"tag": tag}])
            model[name] = (vectors[number], tag)
        elif step == "delete":
            mirror.delete([name])
            model.pop(name, None)
        elif name in model:
            mirror.update([name], [{"tag": tag}])
            model[name] = (model[name][0], tag)
    query = vectors[39]
    for tag in range(4):
        found = {n: round(max(0.0, float(v @ query)), 4) for n, (v, t) in model.items() if t == tag}
        assert mirror.scores(query, {"tag": tag}) == pytest.approx(found, abs=1e-4)
        assert sorted(mirror.ids_where({"tag": {"$in": [tag]}})) == sorted(found)
