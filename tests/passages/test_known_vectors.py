"""Chroma is told a vector again only if it may have changed: that takes several times as long as new fields do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from passage_stores import chroma, make_passage, unit_vector

from trigpoint.passages.chroma import ChromaPassages
from trigpoint.passages.journal import Change
from trigpoint.passages.model import Passage
from trigpoint.storage.chroma import Collection


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of all records, of whatever collection, that are written with a vector."""
    ids: list[str] = []
    upsert = Collection.upsert

    def noted(self: Collection, *args: object) -> None:
        ids.extend(cast(list[str], args[0]))
        upsert(self, *args)  # type: ignore[arg-type]

    monkeypatch.setattr(Collection, "upsert", noted)
    return ids


def stored(store: ChromaPassages, passage_id: str) -> tuple[str, dict[str, object], np.ndarray]:
    (record,) = store.records.get(ids=[passage_id], embeddings=True)
    assert record.embedding is not None
    return record.text, dict(record.metadata), record.embedding


def test_new_fields_are_written_without_the_vectors(tmp_path: Path, written: list[str]) -> None:
    with chroma(tmp_path) as opened:
        store = cast(ChromaPassages, opened)
        old = [make_passage(f"p{n}", n, year=2024) for n in range(3)]
        store.write(old)
        assert store.count() == 3
        written.clear()
        store.write([replace(p, metadata={**p.metadata, "year": 2025}) for p in old[:2]])
        assert not {"p0", "p1", "p2"} & set(written)
        text, fields, vector = stored(store, "p1")
        assert (text, fields["year"]) == ("passage number p1", 2025)
        assert np.array_equal(vector, unit_vector(1))
        assert [p.metadata["year"] for p in store.document("d1")] == [2025, 2025, 2024]


def test_a_new_vector_is_written_and_a_field_that_is_gone_is_gone(tmp_path: Path, written: list[str]) -> None:
    with chroma(tmp_path) as opened:
        store = cast(ChromaPassages, opened)
        store.write([make_passage(f"p{n}", n, year=2024) for n in range(2)])
        assert store.count() == 2
        written.clear()
        store.write([make_passage("p0", 7), make_passage("p1", 1)])
        assert {"p0", "p1"} & set(written) == {"p0"}
        assert np.array_equal(stored(store, "p0")[2], unit_vector(7))
        for passage_id in ("p0", "p1"):
            assert "year" not in stored(store, passage_id)[1]


def test_a_memory_that_is_behind_is_not_believed(tmp_path: Path) -> None:
    """Between what this process has seen and a change that it finishes, another process has written another vector."""
    first: Passage = make_passage("p0", 1)
    with chroma(tmp_path) as opened, chroma(tmp_path) as also_opened:
        mine, other = cast(ChromaPassages, opened), cast(ChromaPassages, also_opened)
        mine.write([first])
        assert mine.count() == other.count() == 1
        other.write([replace(first, vector=unit_vector(2))])
        interrupted = Change({"d1": [first]}, {"d1": other._versions["d1"]})
        mine.journal.commit(interrupted)
        mine.finish_interrupted()
        assert np.array_equal(stored(mine, "p0")[2], unit_vector(1))
        assert np.array_equal(other.document("d1")[0].vector, unit_vector(1))
