"""A collection is loaded into memory once, behind the searches; one that cannot wait is told how far the loading is."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from passage_stores import MODEL, for_library, make_passage, sqlite, unit_vector

from trigpoint.errors import IndexUnavailable, LibraryTimeout
from trigpoint.passages import sqlite_memory, sqlite_rows
from trigpoint.passages.deadline import Deadline
from trigpoint.passages.model import Hit, Question
from trigpoint.passages.sqlite import SqliteFile
from trigpoint.passages.store import PassageStore

_EVERYTHING = Question(unit_vector(1), 20)


class SlowLoading:
    """Loading stops half-way until it may go on."""

    def __init__(self) -> None:
        self.begun = 0
        self.half_way = threading.Event()
        self.may_go_on = threading.Event()

    def entries(self, *args: Any) -> Iterator[tuple[list[Any], list[bytes]]]:
        self.begun += 1
        for number, part in enumerate(_ENTRIES(*args)):
            if number == 1:
                self.half_way.set()
                assert self.may_go_on.wait(60)
            yield part


_ENTRIES = sqlite_rows.entries


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection of six passages."""
    with sqlite(tmp_path) as store:
        store.write([_passage(number) for number in range(6)], model=MODEL)
    return tmp_path


@pytest.fixture
def loading(folder: Path, monkeypatch: pytest.MonkeyPatch) -> SlowLoading:
    slow = SlowLoading()
    monkeypatch.setattr(sqlite_rows, "_LOADED_AT_ONCE", 3)
    monkeypatch.setattr(sqlite_rows, "entries", slow.entries)
    monkeypatch.setattr(sqlite_memory, "_PATIENCE_SECONDS", 0.0)
    return slow


def _passage(number: int, text: str | None = None) -> Any:
    return for_library(make_passage(f"c{number}", number, doc=f"d{number}", text=text))


def _search_until(deadline: Deadline, store: PassageStore) -> list[Hit]:
    with deadline.watching():
        return store.search(_EVERYTHING)


def _found(store: PassageStore) -> list[str]:
    return sorted(hit.passage.id for hit in store.search(_EVERYTHING))


def _given_up(store: PassageStore, loading: SlowLoading) -> Deadline:
    """A search whose caller gives up while the collection is half loaded."""
    deadline = Deadline()
    with ThreadPoolExecutor(1) as thread:
        search = thread.submit(_search_until, deadline, store)
        assert loading.half_way.wait(60)
        assert deadline.expire()
        with pytest.raises(LibraryTimeout):
            search.result(60)
    return deadline


def test_search_that_times_out_says_how_far_the_loading_is(folder: Path, loading: SlowLoading) -> None:
    with sqlite(folder) as store:
        told = _given_up(store, loading).excuse
        loading.may_go_on.set()
    assert told is not None
    assert "being loaded into memory: 3 of 6 chunks are there. Ask again in" in told


def test_a_search_that_gives_up_does_not_end_the_loading(folder: Path, loading: SlowLoading) -> None:
    with sqlite(folder) as store:
        _given_up(store, loading)
        _given_up(store, loading)
        loading.may_go_on.set()
        assert _found(store) == ["c0", "c1", "c2", "c3", "c4", "c5"]
    assert loading.begun == 1


def test_what_changes_while_a_collection_is_loaded_is_found_once_and_as_it_is_now(
    folder: Path, loading: SlowLoading
) -> None:
    with sqlite(folder) as store:
        _given_up(store, loading)
        store.write([_passage(0, "a new text")], replace=["d0"], model=MODEL)  # of the half that is in memory
        store.write([_passage(5, "another")], replace=["d5"], model=MODEL)  # of the half that is not
        store.write([_passage(6)], model=MODEL)
        store.delete("d1")
        store.delete("d4")
        loading.may_go_on.set()
        assert _found(store) == ["c0", "c2", "c3", "c5", "c6"]
        assert {"a new text", "another"} < {hit.passage.text for hit in store.search(_EVERYTHING)}


def test_only_some_searches_wait_for_a_long_loading(
    folder: Path, loading: SlowLoading, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_memory, "_MOST_WAITING", 1)
    with sqlite(folder) as store, ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(_found, store)
        assert loading.half_way.wait(60)
        with pytest.raises(LibraryTimeout, match="3 of 6 chunks are there"):
            store.search(_EVERYTHING)
        assert store.get(["c4"])[0].id == "c4"  # reading needs no memory
        loading.may_go_on.set()
        assert len(waiting.result(60)) == 6


def test_a_failed_loading_is_reported_and_the_next_search_tries_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing, sqlite(folder) as store:

        def broken(*args: Any) -> Any:
            raise sqlite3.OperationalError("disk I/O error")

        failing.setattr(sqlite_rows, "entries", broken)
        with pytest.raises(IndexUnavailable, match="disk I/O error"):
            store.search(_EVERYTHING)
        failing.undo()
        assert len(_found(store)) == 6


def test_closing_ends_a_loading(folder: Path, loading: SlowLoading) -> None:
    with ThreadPoolExecutor(1) as thread:
        with sqlite(folder) as store:
            search = thread.submit(store.search, _EVERYTHING)
            assert loading.half_way.wait(60)
            threading.Timer(0.2, loading.may_go_on.set).start()
        with pytest.raises(IndexUnavailable):
            search.result(60)
    assert not [t for t in threading.enumerate() if t.name.startswith("memory of collection")]


def test_closing_does_not_close_a_connection_under_the_thread_that_reads(folder: Path) -> None:
    file = SqliteFile(folder)
    with file.reading() as connection:
        file.close()
        assert connection.execute("select count(*) from chunk").fetchone()[0] == 6
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        connection.execute("select 1")
    with file.reading() as connection:  # and the file can be used again
        assert connection.execute("select count(*) from chunk").fetchone()[0] == 6
    file.close()
