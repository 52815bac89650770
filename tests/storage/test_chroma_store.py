"""Records in a Chroma server of ours, or at a URL: shared by processes, restarted when it dies or hangs, read by others."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import StoreInUse, StoreUnavailable
from trigpoint.storage.chroma import ChromaStore, Collection
from trigpoint.storage.chroma_server import Server
from trigpoint.storage.keeper import wait_until_gone
from trigpoint_process import kill_and_wait

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


@pytest.fixture
def store(settings: Settings) -> Iterator[ChromaStore]:
    with ChromaStore(settings, "documents") as opened:
        yield opened


def server_of(store: ChromaStore) -> Server:
    assert store.folder is not None
    return Server(store.folder)


def pid_of(store: ChromaStore) -> int:
    pid = server_of(store).process()
    assert pid is not None
    return pid


def test_records_come_back_as_they_were_written(store: ChromaStore) -> None:
    collection = store.collection("docs")
    vectors = fill(collection)
    record = collection.get(ids=["nobody", "p0005"], embeddings=True)[0]
    assert (record.text, record.metadata) == ("text 5", {"ref": "r5", "day": 20200005})
    assert np.array_equal(record.embedding, vectors[5])
    assert collection.get(ids=["p0005"], texts=False)[0].text == ""


def test_more_than_one_page_goes_in_and_comes_out(store: ChromaStore) -> None:
    collection = store.collection("many")
    fill(collection, 2_500)
    assert collection.count() == 2_500
    assert len(collection.get(where={"ref": "r0"})) == len(range(0, 2_500, 7))
    assert len(collection.get(texts=False)) == 2_500


def test_of_two_who_add_a_record_the_first_wins(store: ChromaStore) -> None:
    collection = store.collection("rows")
    for text in ("first", "second"):
        collection.add(["same"], unit_vectors(1), [text], [{"by": text}])
    assert [(r.text, r.metadata) for r in collection.get()] == [("first", {"by": "first"})]


def test_two_processes_share_the_server_of_a_folder(store: ChromaStore, settings: Settings) -> None:
    fill(store.collection("shared"))
    code = (
        "import sys; from trigpoint.config import load_settings; from trigpoint.storage.chroma import ChromaStore\n"
        "with ChromaStore(load_settings(trigpoint_data_dir=sys.argv[1]), 'documents') as store:\n"
        "    store.collection('shared').delete(['p0001']); print(store.collection('shared').count())"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, str(settings.data_dir)], capture_output=True, text=True, timeout=300
    )
    assert said.stdout.strip() == str(COUNT - 1), said.stderr
    assert store.collection("shared").count() == COUNT - 1


def test_the_server_goes_with_its_last_user_and_keeps_what_it_has(settings: Settings) -> None:
    with ChromaStore(settings, "documents") as store:
        fill(store.collection("docs"))
        pid = pid_of(store)
    wait_until_gone(settings.chroma_dir("documents"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with ChromaStore(settings, "documents") as store:
        assert store.collection("docs").count() == COUNT


def test_a_killed_server_is_started_again_and_the_caller_does_not_notice(store: ChromaStore) -> None:
    collection = store.collection("docs")
    fill(collection)
    before = pid_of(store)
    os.kill(before, signal.SIGKILL)
    assert collection.count() == COUNT
    assert pid_of(store) != before


def test_a_server_that_hangs_is_named_within_five_seconds_and_replaced(store: ChromaStore) -> None:
    collection = store.collection("docs")
    fill(collection)
    before = pid_of(store)
    os.kill(before, signal.SIGSTOP)
    began = time.monotonic()
    try:
        assert collection.count() == COUNT  # the keeper noticed it in time
    except StoreUnavailable as error:
        assert str(store.folder) in error.message
    assert time.monotonic() - began < 5
    assert collection.count() == COUNT
    assert pid_of(store) != before


def test_a_killed_keeper_is_replaced_and_the_server_adopted(store: ChromaStore, settings: Settings) -> None:
    server = pid_of(store)
    keeper = int(Path(f"/proc/{server}/stat").read_text().rsplit(")", 1)[1].split()[1])
    kill_and_wait(keeper)
    with ChromaStore(settings, "documents") as again:
        assert pid_of(again) == server
        os.kill(server, signal.SIGKILL)
        again.ping()
        assert pid_of(again) != server


def test_a_folder_that_a_released_version_has_open_is_refused(settings: Settings) -> None:
    """It locks the folder's file itself, and runs no server."""
    import fcntl

    folder = settings.chroma_dir("documents")
    folder.mkdir(parents=True)
    with (folder / "owner.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StoreInUse, match="older version"):
            ChromaStore(settings, "documents")
    with ChromaStore(settings, "documents") as store:
        store.ping()


def test_another_chroma_client_reads_what_was_written(settings: Settings) -> None:
    with ChromaStore(settings, "documents") as store:
        vectors = fill(store.collection("shared"))
    wait_until_gone(settings.chroma_dir("documents"))
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
