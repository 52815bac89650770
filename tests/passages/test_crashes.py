"""A crash between any two steps of a change leaves the old passages or the new ones, in every store."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from passage_stores import MODEL, chroma, for_library, make_passage, qdrant_in, sqlite, unit_vector
from qdrant_client import QdrantClient

from trigpoint.passages import sqlite_rows
from trigpoint.passages.contents import Contents
from trigpoint.passages.journal import Journal
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.marks import FileMark, RecordMark
from trigpoint.passages.model import Passage, Question
from trigpoint.passages.store import PassageStore
from trigpoint.storage.chroma import Collection

STEPS: dict[str, list[tuple[Any, str]]] = {
    "sqlite": [
        *((sqlite_rows, name) for name in ("bind", "dimensions", "delete_others", "insert", "mark", "delete_document")),
        (LexicalIndex, "replace_many"),
    ],
    "qdrant": [(QdrantClient, "upsert"), (QdrantClient, "delete")],
    "chroma": [
        *((Collection, name) for name in ("upsert", "update", "delete")),
        *((Contents, name) for name in ("write", "remove_others")),
        (Journal, "commit"),
        (LexicalIndex, "replace_many"),
        (FileMark, "move"),
        (RecordMark, "move"),
        (Path, "unlink"),
    ],
}
OLD = {"the first old words", "the second old words", "the third old words"}
NEW = {"quite new words", "other new words"}


class Crash(BaseException):
    """Nothing catches it, as nothing catches the end of a process."""


@contextmanager
def crash_at(number: int, steps: list[tuple[Any, str]], when: str) -> Iterator[None]:
    """Die at this step: right before it is done, or right after."""
    count = 0

    def dying(step: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **more: Any) -> Any:
            nonlocal count
            count += 1
            mine = count
            if mine == number and when == "before":
                raise Crash
            answer = step(*args, **more)
            if mine == number and when == "after":
                raise Crash
            return answer

        return run

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in steps:
            patch.setattr(owner, name, dying(getattr(owner, name)))
        yield


def replace_it(store: PassageStore, make: Callable[..., Passage]) -> None:
    """The first passage keeps its vector, which Chroma need not be told again; the second has a new one."""
    passages = [make(f"p{n}", seed, text=text) for n, (seed, text) in enumerate(zip((0, 11), sorted(NEW), strict=True))]
    store.write(passages, replace=["d1"], model=MODEL)


def delete_it(store: PassageStore, make: Callable[..., Passage]) -> None:
    store.delete("d1")


def seen(store: PassageStore) -> list[set[str]]:
    """What a reader and two searches find of the document."""
    where = {"document": {passage.text for passage in store.document("d1")}}
    for words in (None, "words"):
        hits = store.search(Question(unit_vector(1), 20, words))
        where[f"search for {words}"] = {hit.text for hit in hits if hit.passage.document_id == "d1"}
    return list(where.values())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # words are indexed in a thread
@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "after"])
@pytest.mark.parametrize(("change", "result"), [(replace_it, NEW), (delete_it, set())])
@pytest.mark.parametrize(
    "backend", ["sqlite", "qdrant", "chroma", pytest.param("chroma at a URL", marks=pytest.mark.slow)]
)
def test_a_crash_at_any_step_leaves_the_old_passages_or_the_new_ones(
    backend: str,
    change: Callable[[PassageStore, Callable[..., Passage]], None],
    result: set[str],
    when: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    kind = backend.split()[0]
    url = request.getfixturevalue("chroma_url") if backend == "chroma at a URL" else None
    client = QdrantClient(":memory:")
    opened: dict[str, Callable[[str], Any]] = {
        "sqlite": lambda name: sqlite(tmp_path, name),
        "qdrant": lambda name: qdrant_in(client)(tmp_path, name),
        "chroma": lambda name: chroma(tmp_path, name, url),
    }

    def make(name: str, seed: int, **about: Any) -> Passage:
        passage = make_passage(name, seed, **about)
        return passage if kind == "chroma" else for_library(passage)

    run = uuid.uuid4().hex[:6]
    with ExitStack() as stack:
        if kind == "chroma":
            stack.enter_context(opened["chroma"]("keeps-the-server"))
        for number in range(1, 40):
            name = f"c{run}-{number}"
            with opened[kind](name) as store:
                old = [make(f"p{n}", n, text=text) for n, text in enumerate(sorted(OLD))]
                store.write([*old, make("other", 30, doc="d2")], replace=["d1", "d2"], model=MODEL)
                finished = True
                with crash_at(number, STEPS[kind], when):
                    try:
                        change(store, make)
                    except Crash:
                        finished = False
            with opened[kind](name) as again:
                found = seen(again)
                assert found[0] in (OLD, result), f"step {number}: {found[0]}"
                assert found == [found[0]] * 3, f"step {number}"
                assert [p.id for p in again.document("d2")] == ["other"]
                change(again, make)
                assert seen(again) == [result] * 3, f"step {number}, repeated"
                assert again.count() == len(result) + 1
            if finished:
                break
    assert finished
    assert number > 2, "no step was found to crash at"
