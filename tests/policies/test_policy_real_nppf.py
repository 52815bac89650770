"""The real Framework of December 2024 and the draft of December 2025 as two revisions: the right words on the right day."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from trigpoint.config import load_settings
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.models import PolicyCategory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CURRENT, DRAFT = "rev_NPPF_2024_12", "rev_NPPF_2026_07"
SEVERE = "refused on highways grounds severe residual cumulative impacts"


@pytest.fixture
async def both(tmp_path: Path, clean_redis_url: str, shared_data: Path) -> AsyncIterator[PolicyKnowledge]:
    settings = load_settings(
        trigpoint_data_dir=tmp_path / "data", redis_url=clean_redis_url, document_roots=(shared_data,)
    )
    async with open_knowledge(settings) as knowledge:
        registry = knowledge.registry
        await registry.create_policy("NPPF", "National Planning Policy Framework", PolicyCategory.NATIONAL_POLICY)
        for start, name in (
            (date(2024, 12, 12), "NPPF_December_2024.pdf"),
            (date(2026, 7, 1), "Draft_NPPF_December_2025.pdf"),
        ):
            revision, _ = await registry.create_revision("NPPF", version_label=name, effective_from=start)
            made = await knowledge.ingest("NPPF", revision.revision_id, str(shared_data / "policy" / name))
            await registry.mark_active(
                "NPPF", revision.revision_id, chunk_count=made.chunks_created, page_count=made.page_count
            )
        await knowledge.settle()
        yield knowledge


async def test_the_words_of_the_day(both: PolicyKnowledge) -> None:
    section = await both.section("NPPF", "Para 116", CURRENT)
    text = " ".join(section.text.split())
    assert text.startswith("116. Development should only be prevented or refused on highways grounds")
    assert text.endswith("taking into account all reasonable future scenarios.")
    assert section.page_numbers == (33,)

    for mode in ("semantic", "hybrid"):
        now = await both.search(SEVERE, effective_date=date(2025, 6, 1), mode=mode)  # type: ignore[arg-type]
        assert now[0].metadata["section_ref"] == "Para 116"
        assert {h.metadata["revision_id"] for h in now} == {CURRENT}
        later = await both.search(SEVERE, effective_date=date(2026, 8, 1), mode=mode)  # type: ignore[arg-type]
        assert {h.metadata["revision_id"] for h in later} == {DRAFT}
        severe = [h for h in later if h.metadata["section_ref"] == "Policy TR6" and "severe" in h.text]
        assert severe
        assert mode == "semantic" or later[0] == severe[0]

    for query in ("cycle parking", "green belt", "housing land supply", "heritage assets", "travel plan", "flood risk"):
        for day, expected in ((date(2026, 6, 30), CURRENT), (date(2026, 7, 1), DRAFT)):
            hits = await both.search(query, effective_date=day, n_results=200, mode="hybrid")
            assert len(hits) == 200
            assert {h.metadata["revision_id"] for h in hits} == {expected}
    assert await both.search("cycle parking", effective_date=date(2024, 12, 11)) == []

    for paragraph in (109, 110, 115, 117, 118):
        words = " ".join((await both.section("NPPF", f"Para {paragraph}", CURRENT)).text.split())
        assert words.count(f"{paragraph + 1}. ") == 0
