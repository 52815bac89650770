"""The index of words is made behind the searches when it takes long, and a search says what it lacks."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest
from passage_stores import MODEL, for_library, make_passage, sqlite, unit_vector

from trigpoint.passages import sqlite_words
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.model import Question
from trigpoint.passages.store import PassageStore

_WORDS = Question(unit_vector(1), 3, words="kingfisher", alpha=0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A collection whose index of words is lost."""
    with sqlite(tmp_path) as store:
        for number in range(6):
            text = "a kingfisher by the lock" if number == 4 else f"passage number {number}"
            store.write([for_library(make_passage(f"c{number}", number, doc=f"d{number}", text=text))], model=MODEL)
    shutil.rmtree(tmp_path / "lexical")
    return tmp_path


@pytest.fixture
def slow_index(folder: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Indexing waits for this event, and nobody waits for indexing."""
    go_on = threading.Event()
    replace_many = LexicalIndex.replace_many

    def slowly(self: LexicalIndex, *args: object, **options: object) -> None:
        assert go_on.wait(60)
        replace_many(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(LexicalIndex, "replace_many", slowly)
    monkeypatch.setattr(sqlite_words, "_PATIENCE_SECONDS", 0.0)
    return go_on


def _words_arrive(store: PassageStore) -> None:
    arrived = threading.Event()
    for _ in range(600):
        if not store.lacks_words():
            return
        arrived.wait(0.05)
    pytest.fail("the words were never indexed")


def test_search_answers_by_meaning_while_a_lost_index_is_made_again(folder: Path, slow_index: threading.Event) -> None:
    with sqlite(folder) as store:
        assert store.lacks_words()
        assert [hit.bm25 for hit in store.search(_WORDS)] == [0.0, 0.0, 0.0]
        assert store.search(Question(unit_vector(4), 1))[0].passage.id == "c4"
        slow_index.set()
        _words_arrive(store)
        assert store.search(_WORDS)[0].passage.id == "c4"


def test_what_is_written_while_words_are_indexed_is_indexed_too(folder: Path, slow_index: threading.Event) -> None:
    with sqlite(folder) as store:
        assert store.lacks_words()
        late = make_passage("late", 9, doc="d9", text="another kingfisher")
        store.write([for_library(late)], model=MODEL)
        slow_index.set()
        _words_arrive(store)
        assert {hit.passage.id for hit in store.search(_WORDS) if hit.bm25} == {"c4", "late"}


def test_batches_that_a_closing_interrupts_are_taken_up_at_the_next_opening(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_words, "_BATCH", 1)
    with sqlite(folder) as store:
        replace_many = LexicalIndex.replace_many
        closing = store._derived_of(1).words._closing  # type: ignore[attr-defined]

        def once(self: LexicalIndex, *args: object, **options: object) -> None:
            replace_many(self, *args, **options)  # type: ignore[arg-type]
            closing.set()

        monkeypatch.setattr(LexicalIndex, "replace_many", once)
        assert store.lacks_words()
    monkeypatch.undo()
    with sqlite(folder) as store:
        assert not store.lacks_words()
        assert store.search(_WORDS)[0].passage.id == "c4"
