"""The shipped policies' dates: those of the seed, whichever of its texts could be brought in, and in whatever order (P2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date

import pytest

from trigpoint.config import Settings
from trigpoint.errors import NoContent
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint.policies.known import missing_revisions
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.seed import Seeder, SeedPolicy, SeedRevision, download_path, load_seed
from trigpoint.storage.files import write_atomic

NPPF = next(policy for policy in load_seed() if policy.source == "NPPF")
OLD, NEW = NPPF.revisions
OLD_ID, NEW_ID = "rev_NPPF_2023_09", "rev_NPPF_2024_12"
THEN, NOW = date(2024, 12, 11), date(2024, 12, 12)
ENDED = ("2023-09-05", "2024-12-11", "superseded")
CURRENT = ("2024-12-12", "None", "active")


def fetch(settings: Settings, *revisions: SeedRevision) -> None:
    for revision in revisions:
        write_atomic(download_path(settings, NPPF, revision), digest_pdf(read_digest(revision.digest)))


async def seed(
    settings: Settings, registry: PolicyRegistry, *, failing: Iterable[str] = (), policy: SeedPolicy = NPPF
) -> list[str]:
    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        for day in (THEN, NOW):  # no day has the wrong text while another is being read
            assert await in_force(registry, day) in (None, OLD_ID if day == THEN else NEW_ID)
        if revision_id in failing:
            raise NoContent("nothing to read")
        return 3, 1

    return [outcome.result async for outcome in Seeder(settings, registry, ingest).seed([policy])]


async def in_force(registry: PolicyRegistry, day: date) -> str | None:
    revision = (await registry.get_policy("NPPF")).in_force(day)
    return revision.revision_id if revision else None


async def dates(registry: PolicyRegistry) -> list[tuple[str, str, str]]:
    found = reversed(await registry.list_revisions("NPPF"))
    return [(str(r.effective_from), str(r.effective_to), r.status.value) for r in found]


async def test_the_old_text_alone_ends_on_its_day(settings: Settings, registry: PolicyRegistry) -> None:
    fetch(settings, OLD)
    assert await seed(settings, registry) == ["ingested", "missing"]
    assert await dates(registry) == [ENDED]
    assert (await in_force(registry, THEN), await in_force(registry, NOW)) == (OLD_ID, None)


async def test_the_new_text_alone_has_no_end(settings: Settings, registry: PolicyRegistry) -> None:
    fetch(settings, NEW)
    assert await seed(settings, registry) == ["missing", "ingested"]
    assert await dates(registry) == [CURRENT]
    assert (await in_force(registry, THEN), await in_force(registry, NOW)) == (None, NEW_ID)


@pytest.mark.parametrize("order", [[OLD, NEW], [NEW, OLD]])
@pytest.mark.parametrize("at_once", [True, False])
async def test_both_texts_have_their_days_in_either_order(
    settings: Settings, registry: PolicyRegistry, order: list[SeedRevision], at_once: bool
) -> None:
    if at_once:
        fetch(settings, *order)
        assert await seed(settings, registry, policy=replace(NPPF, revisions=tuple(order))) == ["ingested"] * 2
    else:
        for revision in order:
            fetch(settings, revision)
            await seed(settings, registry)
    assert await dates(registry) == [ENDED, CURRENT]
    assert (await in_force(registry, THEN), await in_force(registry, NOW)) == (OLD_ID, NEW_ID)
    assert await seed(settings, registry) == ["unchanged"] * 2
    assert await dates(registry) == [ENDED, CURRENT]


async def test_a_new_text_that_fails_does_not_stretch_the_old_one_and_is_healed(
    settings: Settings, registry: PolicyRegistry
) -> None:
    fetch(settings, OLD, NEW)
    assert await seed(settings, registry, failing=[NEW_ID]) == ["ingested", "failed"]
    assert await dates(registry) == [ENDED, ("2024-12-12", "None", "failed")]
    assert (await in_force(registry, THEN), await in_force(registry, NOW)) == (OLD_ID, None)
    assert await seed(settings, registry) == ["unchanged", "ingested"]
    assert await dates(registry) == [ENDED, CURRENT]


async def test_an_old_text_that_fails_takes_its_days_when_it_is_healed(
    settings: Settings, registry: PolicyRegistry
) -> None:
    fetch(settings, OLD, NEW)
    assert await seed(settings, registry, failing=[OLD_ID]) == ["failed", "ingested"]
    assert (await in_force(registry, THEN), await in_force(registry, NOW)) == (None, NEW_ID)
    assert await seed(settings, registry) == ["ingested", "unchanged"]
    assert await dates(registry) == [ENDED, CURRENT]


async def test_an_old_text_that_was_left_without_an_end_gets_it(settings: Settings, registry: PolicyRegistry) -> None:
    fetch(settings, OLD)
    await seed(settings, registry)
    await registry.update_revision("NPPF", OLD_ID, {"effective_to": None})
    assert await in_force(registry, NOW) == OLD_ID
    assert await seed(settings, registry) == ["unchanged", "missing"]
    assert await dates(registry) == [ENDED]


async def test_dates_given_by_hand_stay(settings: Settings, registry: PolicyRegistry) -> None:
    fetch(settings, OLD, NEW)
    await seed(settings, registry)
    await registry.update_revision("NPPF", OLD_ID, {"effective_to": date(2023, 12, 31)})
    await seed(settings, registry)
    assert await dates(registry) == [("2023-09-05", "2023-12-31", "superseded"), CURRENT]


CURRENT_NPPF = next(policy for policy in load_seed("current") if policy.source == "NPPF")


async def update(settings: Settings, registry: PolicyRegistry, *, failing: Iterable[str] = ()) -> list[str]:
    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        assert await in_force(registry, date(2024, 6, 1)) in (OLD_ID, "rev_NPPF_2023_12")  # never without a text
        if revision_id in failing:
            raise NoContent("nothing to read")
        return 3, 1

    seeder = Seeder(settings, registry, ingest, digest=True)
    return [outcome.result async for outcome in seeder.seed([CURRENT_NPPF])]


async def digests(settings: Settings, registry: PolicyRegistry) -> None:
    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        return 3, 1

    async for _ in Seeder(settings, registry, ingest, digest=True).seed([NPPF]):
        pass


async def test_an_update_adds_the_missing_and_the_later_revision(settings: Settings, registry: PolicyRegistry) -> None:
    await digests(settings, registry)
    policies = await registry.list_policies()
    before = [m.revision.version_label for m in missing_revisions(policies)]
    on_the_days = [
        [m.source for m in missing_revisions(policies, day)] for day in (date(2024, 6, 1), NOW, date(2026, 9, 1))
    ]

    assert await update(settings, registry) == ["unchanged", "ingested", "unchanged", "ingested"]

    assert before == ["December 2023", "August 2026"]
    assert on_the_days == [["NPPF"], [], ["NPPF"]]
    assert await dates(registry) == [
        ("2023-09-05", "2023-12-19", "superseded"),
        ("2023-12-20", "2024-12-11", "superseded"),
        ("2024-12-12", "2026-08-16", "superseded"),
        ("2026-08-17", "None", "active"),
    ]
    assert missing_revisions(await registry.list_policies()) == []
    assert await update(settings, registry) == ["unchanged"] * 4


async def test_an_update_that_fails_gives_the_days_back_and_is_healed(
    settings: Settings, registry: PolicyRegistry
) -> None:
    await digests(settings, registry)

    assert await update(settings, registry, failing=["rev_NPPF_2023_12"]) == [
        "unchanged",
        "failed",
        "unchanged",
        "ingested",
    ]
    assert await in_force(registry, date(2024, 6, 1)) == OLD_ID
    assert await update(settings, registry) == ["unchanged", "ingested", "unchanged", "unchanged"]
    assert await in_force(registry, date(2024, 6, 1)) == "rev_NPPF_2023_12"
    assert await in_force(registry, date(2023, 12, 19)) == OLD_ID


async def test_a_policy_of_the_current_set_begins_with_all_revisions(
    settings: Settings, registry: PolicyRegistry
) -> None:
    async def ingest(source: str, revision_id: str, file_path: str) -> tuple[int, int]:
        return 3, 1

    results = [o.result async for o in Seeder(settings, registry, ingest, digest=True).seed([CURRENT_NPPF])]

    assert results == ["ingested"] * 4
    assert await in_force(registry, date(2023, 12, 20)) == "rev_NPPF_2023_12"
    assert await in_force(registry, date(2026, 8, 16)) == NEW_ID
    assert await in_force(registry, date(2026, 8, 17)) == "rev_NPPF_2026_08"
