"""The life of a revision in the registry: replaced, deleted with its predecessor restored, and where it applies."""

from __future__ import annotations

from datetime import date

import pytest

from trigpoint.errors import CannotDeleteSoleRevisionError, CannotReindex, InvalidInput
from trigpoint.policies.models import IngestPhase, IngestStage, PolicyCategory, Revision, RevisionStatus
from trigpoint.policies.registry import PolicyRegistry

OLD, NEW = date(2023, 9, 5), date(2024, 12, 12)


async def active(
    registry: PolicyRegistry,
    start: date,
    end: date | None = None,
    label: str = "digest",
    notes: str | None = "a digest",
) -> Revision:
    made, _ = await registry.create_revision(
        "NPPF", version_label=label, effective_from=start, effective_to=end, file_path="/old.pdf", notes=notes
    )
    return await registry.mark_active("NPPF", made.revision_id, chunk_count=3, page_count=1)


async def replace(registry: PolicyRegistry, revision_id: str, job: str = "job") -> Revision:
    return await registry.begin_replace(
        "NPPF",
        revision_id,
        job,
        file_path="/new.pdf",
        file_size_bytes=9,
        version_label="December 2024",
        notes=None,
    )


async def test_a_replacement_takes_effect_when_its_text_is_in_and_not_before(nppf: PolicyRegistry) -> None:
    revision = await active(nppf, NEW)

    taken = await replace(nppf, revision.revision_id)
    with pytest.raises(CannotReindex):
        await replace(nppf, revision.revision_id, "another job")
    before = await nppf.get_revision("NPPF", revision.revision_id)
    await nppf.mark_active("NPPF", revision.revision_id, chunk_count=500, page_count=82, job_id="job")
    after = await nppf.get_revision("NPPF", revision.revision_id)

    assert (taken.replacement, before.file_path, before.version_label) == ("/new.pdf", "/old.pdf", "digest")
    assert (after.file_path, after.version_label, after.notes) == ("/new.pdf", "December 2024", None)
    assert (after.replacement, after.file_size_bytes, after.effective_from) == (None, 9, NEW)


async def test_a_replacement_that_fails_leaves_the_old_text_and_its_name(nppf: PolicyRegistry) -> None:
    revision = await active(nppf, NEW)
    await replace(nppf, revision.revision_id)

    await nppf.mark_failed("NPPF", revision.revision_id, "encrypted", job_id="job")
    after = await nppf.get_revision("NPPF", revision.revision_id)

    assert (after.status, after.error) == (RevisionStatus.ACTIVE, "encrypted")
    assert (after.file_path, after.version_label, after.replacement) == ("/old.pdf", "digest", None)


@pytest.mark.parametrize("end_of_the_old_one", [None, date(2024, 12, 11)])
async def test_the_newest_is_deleted_and_its_predecessor_restored(
    nppf: PolicyRegistry, end_of_the_old_one: date | None
) -> None:
    old = await active(nppf, OLD, end_of_the_old_one)
    new = await active(nppf, NEW)
    await nppf.mark_superseded("NPPF", old.revision_id, date(2024, 12, 11))

    with pytest.raises(CannotDeleteSoleRevisionError):
        await nppf.delete_revision("NPPF", new.revision_id)
    await nppf.begin_delete("NPPF", new.revision_id, restore_predecessor=True)
    await nppf.delete_revision("NPPF", new.revision_id)
    (left,) = (await nppf.get_policy("NPPF")).revisions

    assert (left.revision_id, left.status, left.effective_to) == (old.revision_id, RevisionStatus.ACTIVE, None)
    assert (await nppf.get_policy("NPPF")).in_force(date(2026, 1, 1)) == left


async def test_the_only_revision_cannot_be_deleted_even_so(nppf: PolicyRegistry) -> None:
    only = await active(nppf, NEW)

    with pytest.raises(CannotDeleteSoleRevisionError):
        await nppf.begin_delete("NPPF", only.revision_id, restore_predecessor=True)

    assert (await nppf.get_policy("NPPF")).in_force(date(2026, 1, 1)) is not None


async def test_a_policy_applies_where_it_says_and_everywhere_if_it_says_nothing(registry: PolicyRegistry) -> None:
    plan = await registry.create_policy("PLAN", "Plan", PolicyCategory.LOCAL_PLAN, authorities=["tewkesbury"])
    shipped = await registry.create_policy("CHERWELL_LOCAL_PLAN", "Plan", PolicyCategory.LOCAL_PLAN)
    everywhere = await registry.create_policy("NPPF", "Framework", PolicyCategory.NATIONAL_POLICY)

    assert [plan.applies_to(a) for a in ("tewkesbury", "cherwell", None)] == [True, False, True]
    assert shipped.authorities == ("cherwell",)  # registered before policies named authorities
    assert everywhere.applies_to("tower-hamlets")
    moved = await registry.update_policy("PLAN", {"authorities": []})
    assert moved.applies_to("cherwell")
    with pytest.raises(InvalidInput, match="Tower Hamlets"):
        await registry.update_policy("PLAN", {"authorities": ["Tower Hamlets"]})


def test_progress_travels_as_data() -> None:
    stage = IngestStage(IngestPhase.EMBEDDING, 12, 96)

    assert IngestStage.from_message(stage.as_message()) == stage
    assert IngestStage.from_message("embedded 12 of 96 chunks") is None
    assert IngestStage.from_message('{"phase": "dreaming", "done": 1, "total": 2}') is None


async def test_a_parking_standard_goes_with_its_revision(nppf: PolicyRegistry) -> None:
    first, second = await active(nppf, OLD, date(2024, 12, 11)), await active(nppf, NEW)
    await nppf.put_parking("NPPF", first.revision_id, "{}")

    await nppf.delete_revision("NPPF", first.revision_id)
    again = await active(nppf, OLD, date(2024, 12, 11))

    assert again.revision_id == first.revision_id != second.revision_id
    assert await nppf.read_parking("NPPF", again.revision_id) is None
