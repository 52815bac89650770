"""Ingestion, search as of a date, sections and repair, with the real model, on digests that ship with the package."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pymupdf
import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import FileMissing, NoContent, RevisionNotFound, SectionNotFound
from trigpoint.passages.lexical import LexicalIndex
from trigpoint.passages.model import Passage
from trigpoint.policies.digest import MARK, digest_pdf, read_digest
from trigpoint.policies.ingest import PolicyIngest
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.models import Policy, PolicyCategory, Revision
from trigpoint.policies.passages import LEDGER, PolicyChromaClient, passage_id
from trigpoint.policies.seed import Seeder, SeedOutcome, load_seed
from trigpoint.storage.files import write_atomic

METADATA = {
    "source": str,
    "source_title": str,
    "revision_id": str,
    "version_label": str,
    "effective_from": int,
    "effective_to": int,
    "section_ref": str,
    "page_number": int,
    "chunk_index": int,
}


@pytest.fixture
def settings(tmp_path: Path, clean_redis_url: str) -> Settings:
    return load_settings(trigpoint_data_dir=tmp_path / "data", redis_url=clean_redis_url)


@pytest.fixture
async def knowledge(settings: Settings) -> AsyncIterator[PolicyKnowledge]:
    async with open_knowledge(settings) as opened:
        await opened.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
        yield opened


def pdf(settings: Settings, digest: str) -> str:
    path = settings.data_dir / digest.replace(".md", ".pdf")
    write_atomic(path, digest_pdf(read_digest(digest)))
    return str(path)


async def add(knowledge: PolicyKnowledge, file: str, start: date, *, finish: bool = True) -> str:
    revision, _ = await knowledge.registry.create_revision("NPPF", version_label=f"from {start}", effective_from=start)
    made = await knowledge.ingest("NPPF", revision.revision_id, file)
    if finish:
        await knowledge.registry.mark_active(
            "NPPF", revision.revision_id, chunk_count=made.chunks_created, page_count=made.page_count
        )
        await knowledge.settle()
    return revision.revision_id


async def test_passages_carry_exactly_the_metadata_of_the_contract(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    records = knowledge.passages.passages_of(revision_id)
    for index, record in enumerate(records):
        assert {k: type(v) for k, v in record.metadata.items()} == METADATA
        assert record.metadata["chunk_index"] == index
        assert record.id == passage_id("NPPF", revision_id, record.metadata["section_ref"], index)
    assert {r.metadata["effective_from"] for r in records} == {20241212}
    assert {r.metadata["effective_to"] for r in records} == {99991231}
    assert records[0].id == f"NPPF__{revision_id}__doc__000"
    assert f"NPPF__{revision_id}__Para_116__" in " ".join(r.id for r in records)


def test_a_slash_in_a_section_becomes_an_underscore_in_the_id() -> None:
    assert passage_id("LTN_1_20", "rev_LTN_1_20_2020_07", "Chapter 5/6", 42) == (
        "LTN_1_20__rev_LTN_1_20_2020_07__Chapter_5_6__042"
    )


async def test_a_new_revision_is_invisible_until_the_registry_says_active(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    old = await add(knowledge, pdf(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    new = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12), finish=False)
    asked = {"query": "refused on highways grounds", "effective_date": date(2025, 6, 1)}
    assert {h.metadata["revision_id"] for h in await knowledge.search(**asked)} == {old}  # type: ignore[arg-type]
    assert {h.metadata["revision_id"] for h in await knowledge.search("highways")} == {old}
    assert {r.metadata["effective_to"] for r in knowledge.passages.passages_of(old)} == {99991231}
    assert (await knowledge.section("NPPF", "Chapter 9")).revision.revision_id == old
    assert (await knowledge.section("NPPF", "Chapter 9", new)).revision.revision_id == new  # asked for by name
    await knowledge.registry.mark_active("NPPF", new, chunk_count=1, page_count=1)
    await knowledge.settle()
    assert {h.metadata["revision_id"] for h in await knowledge.search(**asked)} == {new}  # type: ignore[arg-type]
    assert {h.metadata["revision_id"] for h in await knowledge.search("highways", n_results=50)} == {old, new}
    assert {r.metadata["effective_to"] for r in knowledge.passages.passages_of(old)} == {20241211}


async def test_a_date_before_all_revisions_and_an_unknown_source_find_nothing(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    assert await knowledge.search("highways", effective_date=date(2000, 1, 1)) == []
    assert await knowledge.search("highways", sources=["UNKNOWN"]) == []
    assert len(await knowledge.search("highways", sources=["NPPF", "UNKNOWN"], n_results=3)) == 3


async def test_no_sources_are_all_sources(knowledge: PolicyKnowledge, settings: Settings) -> None:
    await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    assert [h.id for h in await knowledge.search("highways", sources=[])] == [
        h.id for h in await knowledge.search("highways")
    ]


async def test_a_revision_is_removed_under_its_own_policy_only(knowledge: PolicyKnowledge, settings: Settings) -> None:
    revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    before = [(h.id, h.score) for h in await knowledge.search("travel plan", mode="hybrid")]
    section = await knowledge.section("NPPF", "Para 115")
    assert await knowledge.remove("LTN_1_20", revision_id) == 0
    assert [(h.id, h.score) for h in await knowledge.search("travel plan", mode="hybrid")] == before
    assert await knowledge.section("NPPF", "Para 115") == section
    assert await knowledge.remove("NPPF", revision_id) > 0
    assert await knowledge.search("travel plan", mode="hybrid") == []


async def test_a_section_names_every_page_it_stands_on(knowledge: PolicyKnowledge, settings: Settings) -> None:
    """One passage that begins on the first page and ends on the second; its metadata has the first."""
    path = settings.data_dir / "two.pdf"
    with pymupdf.open() as made:
        made.new_page().insert_textbox((50, 50, 545, 800), "Chapter 9: Transport\n\nDevelopment should give priority")
        made.new_page().insert_textbox((50, 50, 545, 800), "first to pedestrian and cycle movements.")
        path.write_bytes(made.tobytes())
    revision_id = await add(knowledge, str(path), date(2024, 12, 12))
    assert [r.metadata["page_number"] for r in knowledge.passages.passages_of(revision_id)] == [1]
    assert (await knowledge.section("NPPF", "Chapter 9")).page_numbers == (1, 2)


async def test_a_scanned_policy_is_read_even_where_ocr_is_off_for_documents(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    without = PolicyIngest(settings.model_copy(update={"enable_ocr": False}), knowledge.passages)
    path = settings.data_dir / "scan.pdf"
    with pymupdf.open() as text, pymupdf.open() as scan:
        text.new_page().insert_text((72, 100), "Cycle parking should be provided.", fontsize=20)
        scan.new_page().insert_image(scan[0].rect, stream=text[0].get_pixmap(dpi=150).tobytes("png"))
        path.write_bytes(scan.tobytes())
    policy = await knowledge.registry.get_policy("NPPF")
    revision, _ = await knowledge.registry.create_revision(
        "NPPF", version_label="scan", effective_from=date(2024, 1, 1)
    )
    try:
        made = await asyncio.to_thread(without.ingest, policy, revision, path)
    finally:
        without.processor.close()
    assert made.extraction_method == "ocr"
    assert "Cycle parking" in knowledge.passages.passages_of(revision.revision_id)[0].text


async def test_hybrid_shows_the_cosine_and_the_fused_score(knowledge: PolicyKnowledge, settings: Settings) -> None:
    await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    semantic = {h.id: h for h in await knowledge.search("travel plan", n_results=50)}
    hybrid = await knowledge.search("travel plan", n_results=10, mode="hybrid")
    assert hybrid[0].metadata["section_ref"] == "Para 118"
    assert all(h.cosine == semantic[h.id].cosine for h in hybrid)
    scores = [h.fused for h in hybrid]
    assert scores == sorted(scores, reverse=True, key=float)  # type: ignore[arg-type]
    assert all(h.fused is None for h in semantic.values())


async def test_a_section_is_whole_and_found_by_any_spelling_p12(knowledge: PolicyKnowledge, settings: Settings) -> None:
    old = await add(knowledge, pdf(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    new = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    for spelling in ("Para 115", "paragraph 115", "PARA  115", "para. 115", "para.115", "115"):
        section = await knowledge.section("NPPF", spelling)
        assert section.revision.revision_id == new
        assert section.section_ref == "Para 115"
        assert "sustainable transport modes are prioritised" in " ".join(section.text.split())
        assert section.text.count("vision-led approach") == 1
    earlier = await knowledge.section("NPPF", "Para 111", old)
    assert "highways grounds" in earlier.text
    for source, ref, revision in (("NPPF", "Para 999", None), ("NONE", "Para 1", None), ("NPPF", "Para 115", "rev_X")):
        with pytest.raises(SectionNotFound, match=f"Section '{ref}' not found in policy '{source}'"):
            await knowledge.section(source, ref, revision)


async def test_patch_reaches_the_passages_p7(knowledge: PolicyKnowledge, settings: Settings) -> None:
    revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    await knowledge.registry.update_revision(
        "NPPF", revision_id, {"effective_to": date(2025, 12, 31), "version_label": "Corrected"}
    )
    await knowledge.registry.update_policy("NPPF", {"title": "A new title"})
    await knowledge.settle()
    metadata = [r.metadata for r in knowledge.passages.passages_of(revision_id)]
    assert {(m["effective_to"], m["version_label"], m["source_title"]) for m in metadata} == {
        (20251231, "Corrected", "A new title")
    }
    assert await knowledge.registry.policies_due() == {}


async def test_reindex_leaves_nothing_of_the_old_set_and_a_failed_one_leaves_it_all(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    before = knowledge.passages.passages_of(revision_id)
    broken = settings.data_dir / "broken.pdf"
    broken.write_bytes(b"%PDF-1.7\nnothing here")
    with pytest.raises(Exception, match=r"broken\.pdf"):
        await knowledge.ingest("NPPF", revision_id, str(broken))
    assert knowledge.passages.passages_of(revision_id) == before
    made = await knowledge.ingest("NPPF", revision_id, pdf(settings, "OCC_LTCP_2022_07.md"))
    after = knowledge.passages.passages_of(revision_id)
    assert len(after) == made.chunks_created < len(before)
    assert not any("highways grounds" in r.text for r in after)
    assert [h.id for h in await knowledge.search("highways grounds refused", mode="hybrid", n_results=50)] != []
    assert knowledge.passages.count() == len(after)


async def test_what_cannot_be_ingested_says_why(knowledge: PolicyKnowledge, settings: Settings, tmp_path: Path) -> None:
    file = pdf(settings, "OCC_LTCP_2022_07.md")
    with pytest.raises(RevisionNotFound):
        await knowledge.ingest("NPPF", "rev_NPPF_1999_01", file)
    with pytest.raises(RevisionNotFound):
        await knowledge.ingest("UNKNOWN", "rev_NPPF_1999_01", file)
    revision, _ = await knowledge.registry.create_revision("NPPF", version_label="x", effective_from=date(2020, 1, 1))
    outside = tmp_path / "outside.pdf"
    write_atomic(outside, digest_pdf(read_digest("OCC_LTCP_2022_07.md")))
    for path in (str(outside), "/nowhere/at/all.pdf", "relative.pdf", str(settings.data_dir)):
        with pytest.raises(FileMissing):
            await knowledge.ingest("NPPF", revision.revision_id, path)
    import pymupdf

    empty = pymupdf.open()
    empty.new_page()
    empty.save(settings.data_dir / "empty.pdf")
    with pytest.raises(NoContent):
        await knowledge.ingest("NPPF", revision.revision_id, str(settings.data_dir / "empty.pdf"))


async def test_passages_of_a_revision_deleted_meanwhile_do_not_stay(
    knowledge: PolicyKnowledge, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision, _ = await knowledge.registry.create_revision("NPPF", version_label="x", effective_from=date(2020, 1, 1))
    real = knowledge._registered
    calls = 0

    async def deleted_before_the_second_look(source: str, revision_id: str) -> tuple[Policy, Revision]:
        nonlocal calls
        calls += 1
        if calls == 2:
            await knowledge.registry.delete_revision(source, revision_id)
        return await real(source, revision_id)

    monkeypatch.setattr(knowledge, "_registered", deleted_before_the_second_look)
    with pytest.raises(RevisionNotFound):
        await knowledge.ingest("NPPF", revision.revision_id, pdf(settings, "OCC_LTCP_2022_07.md"))
    assert knowledge.passages.count() == 0


async def test_removal_counts_what_it_removed_and_none_is_no_error(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    count = knowledge.passages.count(revision_id)
    assert await knowledge.remove("NPPF", revision_id) == count > 0
    assert await knowledge.remove("NPPF", revision_id) == 0
    assert await knowledge.remove("NPPF", "../../etc/passwd") == 0


async def test_a_lost_lexical_index_is_rebuilt(settings: Settings) -> None:
    async with open_knowledge(settings) as first:
        await first.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
        await add(first, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
        before = await first.search("travel plan", mode="hybrid")
    shutil.rmtree(settings.chroma_dir("policies") / "lexical")
    async with open_knowledge(settings) as second:
        assert await second.search("travel plan", mode="hybrid") == before


async def test_a_lexical_index_of_another_make_up_is_rebuilt(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_knowledge(settings) as first:
        await first.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
        revision_id = await add(first, pdf(settings, "LTN_1_20_2020_07.md"), date(2020, 7, 27))
        before = await first.search("width of a cycle track", mode="hybrid", n_results=50)
        records = first.passages.passages_of(revision_id)
    folder = settings.chroma_dir("policies") / "lexical"
    shutil.rmtree(folder)
    with monkeypatch.context() as earlier:
        earlier.setattr("trigpoint.passages.lexical._EVERY", "make_up_1")
        bare = LexicalIndex(folder)  # as many rows, without the words around them
        bare.replace(revision_id, [(r.id, r.text) for r in records])
        bare.replace("rev_GONE", [("gone", "width of a cycle track")])
        bare.close()
    async with open_knowledge(settings) as second:
        assert await second.search("width of a cycle track", mode="hybrid", n_results=50) == before


async def test_a_passage_is_found_by_the_words_around_it_in_its_section(knowledge: PolicyKnowledge) -> None:
    texts = [
        ("Para 1", "alpha one"),
        ("Para 2", "beta two"),
        ("Para 2", "the theodolite three"),
        ("Para 2", "gamma four"),
        ("Para 3", "delta five"),
    ]
    store = knowledge.passages
    vectors = store.embedding.embed_batch([text for _, text in texts])
    passages = [
        Passage(
            str(n),
            "rev_X",
            n,
            text,
            {"revision_id": "rev_X", "section_ref": section, "chunk_index": n},
            vectors[n],
        )
        for n, (section, text) in enumerate(texts)
    ]
    store.replace_revision("rev_X", passages)
    hits = store.search("theodolite", 10, ["rev_X"], "hybrid")
    assert hits[0].text == "the theodolite three"
    by_words = {h.text for h in hits if h.score > 0.36 * h.cosine + 0.1}
    assert by_words == {"beta two", "the theodolite three", "gamma four"}


async def test_texts_joined_without_a_layout_still_say_nothing_twice(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    revision_id = await add(knowledge, pdf(settings, "LTN_1_20_2020_07.md"), date(2020, 7, 27))
    with_layout = (await knowledge.section("NPPF", "Section 4.2")).text
    knowledge.passages._store.collection(LEDGER).delete([revision_id])
    without = (await knowledge.section("NPPF", "Section 4.2")).text
    assert " ".join(without.split()) == " ".join(with_layout.split())
    assert with_layout.count("Coherent: cycle networks") == 1
    assert (
        len([r for r in knowledge.passages.passages_of(revision_id) if r.metadata["section_ref"] == "Section 4.2"]) > 1
    )


async def _seed(knowledge: PolicyKnowledge, settings: Settings, *, digest: bool = True) -> list[SeedOutcome]:
    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        made = await knowledge.ingest(source, revision_id, file_path)
        return made.chunks_created, made.page_count

    seeder = Seeder(settings, knowledge.registry, ingest, digest=digest)
    return [outcome async for outcome in seeder.seed(load_seed())]


async def test_seeding_is_idempotent_marks_digests_and_heals(settings: Settings) -> None:
    async with open_knowledge(settings) as knowledge:
        missing = await _seed(knowledge, settings, digest=False)
        assert {o.result for o in missing} == {"missing"}
        assert "trigpoint policies fetch" in missing[0].detail
        first = await _seed(knowledge, settings)
        assert [o.result for o in first] == ["ingested"] * 7
        assert {o.result for o in await _seed(knowledge, settings)} == {"unchanged"}

        policies = {p.source: p for p in await knowledge.registry.list_policies()}
        assert len(policies) == 6
        newer, older = policies["NPPF"].revisions
        assert (newer.effective_from, newer.effective_to, newer.status) == (date(2024, 12, 12), None, "active")
        assert (older.effective_from, older.effective_to, older.status) == (
            date(2023, 9, 5),
            date(2024, 12, 11),
            "superseded",
        )
        for policy in policies.values():
            for revision in policy.revisions:
                assert MARK in (revision.notes or "")
                assert revision.version_label.endswith("(digest)")
                opening = knowledge.passages.passages_of(revision.revision_id)[0].text
                assert MARK in " ".join(opening.split())

        revision = policies["LTN_1_20"].revisions[0]
        await knowledge.registry.create_policy("SPARE", "Another", PolicyCategory.SUPPLEMENTARY)
        await knowledge.registry.begin_reindex("LTN_1_20", revision.revision_id, "job_dead", hold_seconds=1)
        busy = [o for o in await _seed(knowledge, settings) if o.source == "LTN_1_20"]
        assert busy[0].result == "unchanged"


async def test_seeding_heals_a_failed_revision_and_the_official_text_replaces_a_digest(settings: Settings) -> None:
    async with open_knowledge(settings) as knowledge:

        async def broken(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
            raise NoContent("nothing to read")

        ltn = [p for p in load_seed() if p.source == "LTN_1_20"]
        failing = Seeder(settings, knowledge.registry, broken, digest=True)
        assert [o.result async for o in failing.seed(ltn)] == ["failed"]
        healed = [o for o in await _seed(knowledge, settings) if o.source == "LTN_1_20"]
        assert healed[0].result == "ingested"
        assert len(await knowledge.registry.list_revisions("LTN_1_20")) == 1

        download = settings.data_dir / "downloads" / "policy" / "LTN_1_20_2020-07-27.pdf"
        write_atomic(download, digest_pdf(f"# Official\n\nAn official text, {MARK}.\n\n## Chapter 1: Real\n\nWords.\n"))
        official = [o for o in await _seed(knowledge, settings, digest=False) if o.source == "LTN_1_20"]
        assert official[0].result == "ingested"
        revision = (await knowledge.registry.list_revisions("LTN_1_20"))[0]
        assert revision.version_label == "July 2020"
        kept = [o for o in await _seed(knowledge, settings) if o.source == "LTN_1_20"]
        assert kept[0].result == "kept"


async def test_a_second_process_sees_what_the_first_has_changed(settings: Settings, knowledge: PolicyKnowledge) -> None:
    with PolicyChromaClient(settings) as second:
        assert second.count() == 0
        revision_id = await add(knowledge, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
        assert second.passages_of(revision_id) == knowledge.passages.passages_of(revision_id) != []
        assert second.delete_revision_chunks("NPPF", revision_id) > 0
        assert knowledge.passages.count() == 0


async def test_a_swap_that_a_crash_cut_in_two_is_finished_on_the_next_start(settings: Settings) -> None:
    class Crash(Exception): ...

    def die(ids: object) -> None:
        raise Crash

    async with open_knowledge(settings) as first:
        await first.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
        revision_id = await add(first, pdf(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
        first.passages.collection.delete = die  # type: ignore[method-assign]
        with pytest.raises(Crash):
            await first.ingest("NPPF", revision_id, pdf(settings, "OCC_LTCP_2022_07.md"))
        mixed = first.passages.collection.get(where={"revision_id": revision_id})
        assert any("highways grounds" in r.text for r in mixed)
        assert any("decide and provide" in " ".join(r.text.split()) for r in mixed)
    async with open_knowledge(settings) as second:
        whole = second.passages.passages_of(revision_id)
        assert 0 < len(whole) < len(mixed)
        assert not any("highways grounds" in r.text for r in whole)
        hits = await second.search("decide and provide", effective_date=date(2025, 1, 1), n_results=50, mode="hybrid")
        assert {h.id for h in hits} == {r.id for r in whole}
