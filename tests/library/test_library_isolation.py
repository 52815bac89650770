"""Isolation: fifty projects whose names are easily taken for each other never see or touch one another's chunks."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from library_samples import library_settings, seeded_vector
from qdrant_client import QdrantClient

from trigpoint.errors import ChunkNotFound, DocumentNotInProject
from trigpoint.library.chunks import RULES
from trigpoint.library.library import Library
from trigpoint.library.projects import check_project_id, collection_names, load_projects
from trigpoint.passages.model import Passage, Question
from trigpoint.passages.qdrant import QdrantStores
from trigpoint.passages.sqlite import SqliteStores
from trigpoint.passages.store import PassageStores

MODEL = "fastembed/all-MiniLM-L6-v2"

NAMES = [
    *("a/b-c", "a-b/c", "a-b-c", "A/b-c", "a/B-c", "a/b_c", "a_b/c", "a.b/c", "a/b c", "a/b\u2010c"),
    *("a/b-c-d", "a-b/c-d", "a-b-c/d", "proj-a/b-c", "proj/a-b-c", "a", "A", "ａ", "а", "α"),
    *("caf\u00e9/x", "cafe\u0301/x", "cafe/x", "CAFÉ/x", "ﬁle", "file", "FILE", "fıle", "file'", 'file"'),
    *("100%", "100_", "1000", "a/%", "a/_", "*", "a/*", "a;b", "a--b", "' or 1=1 --"),
    *("\u017f", "s", "\u00df", "ss", "\u212a", "K", "k", "\u212b", "\u00c5", "\u0410/b-c"),
]


def test_the_names_are_fifty_different_valid_ids_with_different_collections() -> None:
    assert len(set(NAMES)) == len(NAMES) == 50
    for name in NAMES:
        check_project_id(name)
    assert len({unicodedata.normalize("NFKC", c).casefold() for c in collection_names(NAMES).values()}) == 50


@pytest.fixture(params=["sqlite", "qdrant"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    file = "".join(f"[library.projects.{toml_string(name)}]\n" for name in NAMES)
    projects = load_projects(library_settings(tmp_path, file))
    assert list(projects.by_id) == NAMES
    if request.param == "sqlite":
        stores: PassageStores = SqliteStores(tmp_path / "library", RULES)
    else:
        stores = QdrantStores(QdrantClient(":memory:"), RULES)
    made = Library(projects, stores, None)  # type: ignore[arg-type]  questions come as vectors
    yield made
    made.close()


def toml_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def vector(seed: int) -> np.ndarray:
    return np.array(seeded_vector(seed), dtype=np.float32)


def chunk(owner: int, number: int) -> Passage:
    """The same ids, documents, words and tags in every project; only `owner` tells whose it is."""
    payload = {
        "project": NAMES[owner],
        "owner": owner,
        "source": {"path": "same.pdf"},
        "zotero": {"citekey": "same", "tags": ["same"]},
        "doc": {"section_path": ["Same"], "start": number * 100, "end": number * 100 + len(words(owner))},
    }
    return Passage(f"chunk-{number}", f"doc-{number % 2}", number, words(owner), payload, vector(number))


def words(owner: int) -> str:
    return f"the same words of owner number {owner:02d}"


def test_every_project_sees_its_own_chunks_only(library: Library) -> None:
    for owner, name in enumerate(NAMES):
        library.passages(library.projects.get(name)).write([chunk(owner, n) for n in range(3)], model=MODEL)
    for owner, name in enumerate(NAMES):
        project = library.projects.get(name)
        for text in (None, "the same words of owner number"):
            hits = library.passages(project).search(Question(vector(1), 100, words=text))
            assert [h.metadata["owner"] for h in hits] == [owner] * 3
        assert library.inspect_collection(name, 5)["size"] == 3
        assert {s["owner"] for s in library.inspect_collection(name, 5)["sample"]} == {owner}
        assert library.find_quote(name, words(owner))["count"] == 3
        assert library.find_quote(name, words((owner + 1) % 50))["count"] == 0
        assert library.get_chunk(name, "chunk-0")["chunk"]["full_text"] == words(owner)


def test_no_sequence_of_writes_and_deletions_touches_another_project(library: Library) -> None:
    class Projects(RuleBasedStateMachine):
        """A model of what each project holds, beside the store."""

        @initialize()
        def empty(self) -> None:
            for name in self.names:
                for doc_id in ("doc-0", "doc-1"):
                    library.passages(library.projects.get(name)).delete(doc_id)
            self.held: dict[int, set[int]] = {NAMES.index(name): set() for name in self.names}

        names = NAMES[:6] + NAMES[20:22]
        owners = st.sampled_from([NAMES.index(name) for name in names])

        @rule(owner=owners, numbers=st.sets(st.integers(0, 5), min_size=1))
        def write(self, owner: int, numbers: set[int]) -> None:
            library.passages(library.projects.get(NAMES[owner])).write(
                [chunk(owner, n) for n in sorted(numbers)], model=MODEL
            )
            self.held[owner] |= numbers

        @rule(owner=owners, numbers=st.sets(st.integers(0, 5)), document=st.integers(0, 1))
        def replace(self, owner: int, numbers: set[int], document: int) -> None:
            kept = {n for n in numbers if n % 2 == document}
            library.passages(library.projects.get(NAMES[owner])).write(
                [chunk(owner, n) for n in sorted(kept)], replace=[f"doc-{document}"], model=MODEL
            )
            self.held[owner] = {n for n in self.held[owner] if n % 2 != document} | kept

        @rule(owner=owners, document=st.integers(0, 1))
        def delete(self, owner: int, document: int) -> None:
            there = {n for n in self.held[owner] if n % 2 == document}
            if there:
                assert library.delete_document(NAMES[owner], f"doc-{document}")["chunks_removed"] == len(there)
            else:
                with pytest.raises(DocumentNotInProject):
                    library.delete_document(NAMES[owner], f"doc-{document}")
            self.held[owner] -= there

        @rule(owner=owners, number=st.integers(0, 5))
        def get(self, owner: int, number: int) -> None:
            if number in self.held[owner]:
                assert library.get_chunk(NAMES[owner], f"chunk-{number}")["chunk"]["full_text"] == words(owner)
            else:
                with pytest.raises(ChunkNotFound):
                    library.get_chunk(NAMES[owner], f"chunk-{number}")

        @invariant()
        def each_holds_its_own(self) -> None:
            for owner, numbers in getattr(self, "held", {}).items():
                project = library.projects.get(NAMES[owner])
                hits = library.passages(project).search(Question(vector(0), 100, words="same words"))
                assert {(h.metadata["owner"], h.id) for h in hits} == {(owner, f"chunk-{n}") for n in numbers}
                assert library.passages(project).inspect(0).size == len(numbers)

    run_state_machine_as_test(
        Projects,
        settings=settings(
            max_examples=6,
            stateful_step_count=8,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
