"""Two machines on one Chroma: scores do not depend on the order in which they learn of each other's documents."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from passage_stores import chroma, make_passage, unit_vector

from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.model import Passage, Question


def document(number: int) -> list[Passage]:
    return [make_passage(f"{number}-{n}", 20 * number + n, doc=f"d{number}") for n in range(5 + number)]


def scores(store: Any) -> dict[str, float]:
    hits = store.search(Question(unit_vector(1), k=100, words="passage number 3", alpha=0.0))
    return {hit.id: hit.bm25 for hit in hits}


def before_words_are_indexed(store: ChromaPassages, step: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the step in the middle of the store's next change."""
    index = store.lexical.replace_many

    def step_first(*arguments: Any, **options: Any) -> None:
        monkeypatch.undo()
        step()
        index(*arguments, **options)

    monkeypatch.setattr(store.lexical, "replace_many", step_first)


def test_a_search_in_the_middle_of_a_change_does_not_alter_scores(
    tmp_path: Path, chroma_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"arrivals-{uuid.uuid4().hex[:8]}"
    with chroma(tmp_path / "one", name, chroma_url) as one, chroma(tmp_path / "two", name, chroma_url) as two:
        one.write(document(0))
        asked = threading.Thread(target=scores, args=(one,))

        def another_document_comes_and_somebody_asks() -> None:
            two.write(document(2))
            asked.start()
            asked.join(1)

        assert isinstance(one, ChromaPassages)
        before_words_are_indexed(one, another_document_comes_and_somebody_asks, monkeypatch)
        one.write(document(1))
        asked.join()
        with chroma(tmp_path / "three", name, chroma_url) as undisturbed:
            expected = scores(undisturbed)
        assert len(expected) == 18
        assert scores(one) == scores(two) == expected
