"""Where revisions state provisions: found in real texts, confirmed by people, kept through every change."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import date
from pathlib import Path

import pytest

from trigpoint.config import Settings, load_settings
from trigpoint.errors import InvalidInput, ProvisionNotFound, RevisionNotFound
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.policies.knowledge import PolicyKnowledge, open_knowledge
from trigpoint.policies.models import PolicyCategory
from trigpoint.policies.placements import Placement, Placements, PlacementStatus
from trigpoint.storage.files import write_atomic


@pytest.fixture
def settings(tmp_path: Path, clean_redis_url: str) -> Settings:
    return load_settings(trigpoint_data_dir=tmp_path / "data", redis_url=clean_redis_url)


@pytest.fixture
async def knowledge(settings: Settings) -> AsyncIterator[PolicyKnowledge]:
    async with open_knowledge(settings) as opened:
        await opened.registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)
        yield opened


def digest(settings: Settings, name: str) -> str:
    path = settings.data_dir / name.replace(".md", ".pdf")
    write_atomic(path, digest_pdf(read_digest(name)))
    return str(path)


async def add(knowledge: PolicyKnowledge, file: str, start: date) -> str:
    revision, _ = await knowledge.registry.create_revision("NPPF", version_label=f"from {start}", effective_from=start)
    await ingest(knowledge, revision.revision_id, file)
    return revision.revision_id


async def ingest(knowledge: PolicyKnowledge, revision_id: str, file: str) -> None:
    made = await knowledge.ingest("NPPF", revision_id, file)
    await knowledge.registry.mark_active(
        "NPPF", revision_id, chunk_count=made.chunks_created, page_count=made.page_count
    )


async def placement(knowledge: PolicyKnowledge, day: date, provision_id: str) -> Placement:
    answer = await knowledge.provisions(day, provision_ids=[provision_id])
    (found,) = answer.placements
    return found


async def test_a_new_revision_states_the_provision_at_another_number(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    await add(knowledge, digest(settings, "NPPF_2024_12.md"), date(2024, 12, 12))

    before = await placement(knowledge, date(2024, 1, 1), "priority_walking_cycling")
    after = await placement(knowledge, date(2025, 1, 1), "priority_walking_cycling")

    assert (before.section_ref, after.section_ref) == ("Para 112", "Para 117")
    assert before.status is after.status is PlacementStatus.FOUND
    assert "priority first to pedestrian and cycle" in after.excerpt


async def test_a_provision_that_the_text_does_not_state_is_to_be_confirmed_and_never_dropped(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))

    found = await placement(knowledge, date(2024, 1, 1), "vision_led_approach")

    assert found.status is PlacementStatus.TO_BE_CONFIRMED
    assert not found.citable
    assert "to be confirmed" in found.where


async def test_a_confirmation_survives_reindexing_and_a_correction_helps_the_next_revision(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    first = await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    placements = Placements(knowledge.registry)
    await knowledge.placer.bring_up_to_date("NPPF")

    confirmed = await placements.confirm("NPPF", first, "travel_plan")
    corrected = await placements.set_section("NPPF", first, "vision_led_approach", "paragraph 105")
    absent = await placements.set_section("NPPF", first, "reasonable_future_scenarios", None)
    await knowledge.registry.begin_reindex("NPPF", first, "job", file_path="x")
    await ingest(knowledge, first, digest(settings, "NPPF_2023_09.md"))

    assert (confirmed.status, confirmed.section_ref) == (PlacementStatus.CONFIRMED, "Para 113")
    assert (corrected.status, corrected.section_ref) == (PlacementStatus.CONFIRMED, "Para 105")
    assert absent.status is PlacementStatus.NOT_STATED
    for said in (confirmed, corrected, absent):
        now = await placement(knowledge, date(2024, 1, 1), said.provision.id)
        assert (now.status, now.section_ref) == (said.status, said.section_ref)
    assert (await placement(knowledge, date(2024, 1, 1), "vision_led_approach")).excerpt


async def test_a_confirmed_section_that_a_replacement_lacks_is_to_be_confirmed_again(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    first = await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    await knowledge.placer.bring_up_to_date("NPPF")
    await Placements(knowledge.registry).confirm("NPPF", first, "travel_plan")
    await knowledge.registry.begin_reindex("NPPF", first, "job", file_path="x")
    other = write_other_numbering(settings)
    await ingest(knowledge, first, other)

    found = await placement(knowledge, date(2024, 1, 1), "travel_plan")

    assert found.status is PlacementStatus.TO_BE_CONFIRMED
    assert found.section_ref == "Para 918"
    assert found.note is not None
    assert "Para 113" in found.note


def write_other_numbering(settings: Settings) -> str:
    path = settings.data_dir / "other.pdf"
    text = read_digest("NPPF_2024_12.md").replace("### Para 1", "### Para 9")
    write_atomic(path, digest_pdf(text))
    return str(path)


async def test_choices_are_refused_when_they_cannot_be_right(knowledge: PolicyKnowledge, settings: Settings) -> None:
    first = await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    await knowledge.placer.bring_up_to_date("NPPF")
    placements = Placements(knowledge.registry)

    with pytest.raises(InvalidInput, match="Para 999"):
        await placements.set_section("NPPF", first, "travel_plan", "Para 999")
    with pytest.raises(ProvisionNotFound, match="cycle_parking_rates"):
        await placements.confirm("NPPF", first, "cycle_parking_rates")
    with pytest.raises(RevisionNotFound):
        await placements.confirm("NPPF", "rev_NPPF_1999_01", "travel_plan")


async def test_a_choice_can_be_taken_back(knowledge: PolicyKnowledge, settings: Settings) -> None:
    first = await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    await knowledge.placer.bring_up_to_date("NPPF")
    placements = Placements(knowledge.registry)
    await placements.set_section("NPPF", first, "travel_plan", None)

    back = await placements.forget_choice("NPPF", first, "travel_plan")

    assert (back.status, back.section_ref) == (PlacementStatus.FOUND, "Para 113")


async def test_a_deleted_revision_leaves_no_placement_and_no_choice(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    first = await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))
    await add(knowledge, digest(settings, "NPPF_2024_12.md"), date(2024, 12, 12))
    await knowledge.placer.bring_up_to_date("NPPF")
    await Placements(knowledge.registry).confirm("NPPF", first, "travel_plan")

    await knowledge.remove("NPPF", first)
    await knowledge.registry.delete_revision("NPPF", first)

    assert await knowledge.registry.read_placements("NPPF", [first]) == {first: ({}, {})}


async def test_the_answer_accounts_for_every_provision_asked_for(
    knowledge: PolicyKnowledge, settings: Settings
) -> None:
    await add(knowledge, digest(settings, "NPPF_2023_09.md"), date(2023, 9, 5))

    early = await knowledge.provisions(date(2020, 1, 1), provision_ids=["travel_plan", "cycle_parking_rates", "nope"])

    assert early.placements == ()
    assert "in force on 2020-01-01" in early.unavailable["travel_plan"]
    assert "LTN_1_20" in early.unavailable["cycle_parking_rates"]
    assert early.warnings[0] == "There is no provision 'nope'"
    assert "before its first loaded revision" in early.warnings[1]
