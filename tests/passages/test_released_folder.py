"""A data folder that version 0.1.0 has written opens in this one: policies, documents, library.

`data/data-0.1.0.tar.xz` was made by the released code: two revisions of a policy, a reindexing of the first that was
interrupted after its journal had been written, two documents, a project of the library with a note, and the registry.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.documents.search import DocumentSearch
from trigpoint.documents.store import DocumentStore
from trigpoint.library.library import Library
from trigpoint.policies import migration
from trigpoint.policies.knowledge import open_knowledge
from trigpoint.policies.passages import PolicyChromaClient

ARCHIVE = Path(__file__).parent / "data" / "data-0.1.0.tar.xz"
FIRST, SECOND = "rev_NPPF_2022_07", "rev_NPPF_2024_12"
PROJECT = "team/streets"


@pytest.fixture
def released(tmp_path: Path) -> Settings:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path, filter="data")
    config = tmp_path / "trigpoint.toml"
    config.write_text(f'[library.projects."{PROJECT}"]\n')
    return load_settings(trigpoint_data_dir=tmp_path / "data", text_workers=1, trigpoint_config=config)


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


async def test_policies_answer_as_before_with_their_pages(released: Settings) -> None:
    expected = (released.data_dir / "expected-section.txt").read_text()
    async with open_knowledge(released) as knowledge:
        section = await knowledge.section("NPPF", "Section 5.5", SECOND)
        assert (section.text, section.page_numbers) == (expected, (4,))
        hits = await knowledge.search("width of a cycle track", n_results=5, mode="hybrid")
        assert hits[0].metadata["revision_id"] == SECOND
        assert all(p.start is not None and p.pages for p in knowledge.passages.passages_of(SECOND))


async def test_a_change_that_the_released_version_had_begun_is_finished(released: Settings) -> None:
    async with open_knowledge(released) as knowledge:
        texts = [p.text for p in knowledge.passages.passages_of(FIRST)]
    assert len(texts) == 1
    assert "theodolites" in texts[0]


def test_the_files_of_the_released_version_are_taken_over_once_and_kept(released: Settings) -> None:
    folder = released.chroma_dir("policies")
    before = [name for name in files(folder) if name.startswith(("layout", "journal"))]
    assert before == [f"journal/{FIRST}.npz", f"layout/{FIRST}.json", f"layout/{SECOND}.json"]
    with PolicyChromaClient(released) as client:
        first = client.passages_of(SECOND)
    assert files(folder / migration.BACKUP) == before
    assert not [name for name in files(folder) if name in before]
    with PolicyChromaClient(released) as client:
        assert client.passages_of(SECOND) == first


def test_a_migration_that_is_interrupted_begins_again(released: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    class Crash(BaseException): ...

    def die(*args: object) -> None:
        raise Crash

    with monkeypatch.context() as patch:
        patch.setattr(migration, "_set_aside", die)
        with pytest.raises(Crash):
            PolicyChromaClient(released)
    with PolicyChromaClient(released) as client:
        assert all(p.start is not None for p in client.passages_of(SECOND))
        assert len(client.passages_of(FIRST)) == 1


def test_documents_are_listed_searched_and_read_as_before(released: Settings) -> None:
    expected = (released.data_dir / "expected-text.txt").read_text()
    with DocumentStore(released) as store:
        rows = store.registry.of_application("25/01178/REM")
        assert [row.document_type for row in rows] == ["transport_assessment", "noise_assessment"]
        assert store.text_of(rows[1].document_id)[1:] == (rows[1].chunk_count, expected)
        hits = DocumentSearch(store).search("covered cycle parking", mode="hybrid", max_results=3)
        assert {hit.metadata.document_id for hit in hits} == {rows[0].document_id}
        assert store.delete_document(rows[0].document_id) == rows[0].chunk_count


def test_the_library_answers_as_before(released: Settings) -> None:
    library = Library.open(released)
    items = library.query_hybrid(PROJECT, "theodolite")["items"]
    assert "theodolite" in items[0]["render_text"]
    assert items[0]["section_path"] == ["Streets"]
    assert library.query_hybrid(PROJECT, "height", filters={"section_prefix": "Streets / K"})["count"] == 1
    library.close()
