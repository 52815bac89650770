"""A document that grows by many writes is found as if it had been written at once, and no write takes longer than the first."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from library_samples import PROJECT, item, library_settings

from trigpoint.library.library import Library
from trigpoint.passages.model import Question

PLAIN = "plain"
WORDS = "harbour lamp keeper tide quay rope anchor signal chart pilot".split()


def chunk(number: int, project: str) -> dict:
    text = f"Passage {number} tells of the {WORDS[number % 10]} and of the {WORDS[number // 10 % 10]}."
    doc = {"doc_id": "book", "seq": number, "section_path": [f"Chapter {number // 7}"]}
    return item(f"c{number:04}", text, seed=number, project=project, doc=doc)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with closing(Library.open(library_settings(tmp_path))) as made:
        yield made


def found(library: Library, project: str, question: str) -> list[str]:
    return [hit["chunk_id"] for hit in library.query_hybrid(project, question, 10)["items"]]


def scores(library: Library, project: str, words: str) -> dict[str, float]:
    """By words alone. Rows that were replaced a moment ago still count in BM25's frequencies, so scores differ a little."""
    passages = library.passages(library.projects.get(project))
    nowhere = np.zeros(384, dtype=np.float32)
    return {hit.id: hit.bm25 for hit in passages.search(Question(nowhere, 60, words=words, alpha=0.0)) if hit.bm25 > 0}


def test_appended_passages_are_found_as_if_written_at_once(library: Library) -> None:
    library.store_chunks(PLAIN, [chunk(number, PLAIN) for number in range(60)])
    for start, end in ((0, 11), (11, 12), (12, 40), (40, 60)):
        library.store_chunks(PROJECT, [chunk(number, PROJECT) for number in range(start, end)])
    for question in ("the lamp", "tide and rope", "passage 11", "keeper of the harbour", "anchor"):
        at_once = scores(library, PLAIN, question)
        assert scores(library, PROJECT, question) == pytest.approx(at_once, rel=0.25, abs=0.03)
        assert at_once


def test_a_passage_that_is_replaced_or_comes_in_between_is_indexed_with_its_document(library: Library) -> None:
    library.store_chunks(PROJECT, [chunk(number, PROJECT) for number in (0, 1, 2, 5, 6)])
    library.store_chunks(PROJECT, [chunk(number, PROJECT) for number in (3, 4)])
    changed = chunk(1, PROJECT) | {"text": "Now it tells of a unicorn."}
    changed["metadata"]["fulltext"] = changed["text"]
    library.store_chunks(PROJECT, [changed])
    assert found(library, PROJECT, "unicorn")[0] == "c0001"
    assert found(library, PROJECT, "tide passage 3")[0] == "c0003"


@pytest.mark.slow
def test_the_twentieth_write_to_a_document_takes_no_longer_than_the_second(library: Library) -> None:
    seconds = []
    for batch in range(20):
        items = [chunk(number, PROJECT) for number in range(batch * 300, batch * 300 + 300)]
        started = time.monotonic()
        library.store_chunks(PROJECT, items)
        seconds.append(time.monotonic() - started)
    assert min(seconds[-5:]) < 3 * max(seconds[1:6]), seconds
