"""The registry: keys, overlap rules, supersession and its undoing, PATCH, deletion, reindexing."""

from __future__ import annotations

import asyncio
from datetime import date

import pytest
import redis

from trigpoint.errors import (
    CannotDeleteSoleRevisionError,
    CannotReindex,
    InvalidInput,
    JobLostRevision,
    NoFilePath,
    PolicyAlreadyExists,
    PolicyNotFound,
    RevisionNotFound,
    RevisionOverlapError,
)
from trigpoint.policies.models import IngestProgress, PolicyCategory, Revision, RevisionStatus
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.policies.resolver import EffectiveDateResolver


def day(text: str) -> date:
    return date.fromisoformat(text)


async def add(
    registry: PolicyRegistry, start: str, end: str | None = None, *, ingest: bool = True, source: str = "NPPF"
) -> Revision:
    revision, _ = await registry.create_revision(
        source,
        version_label=f"from {start}",
        effective_from=day(start),
        effective_to=None if end is None else day(end),
        file_path="/files/{revision_id}/text.pdf",
    )
    if ingest:
        revision = await registry.mark_active(source, revision.revision_id, chunk_count=3, page_count=1)
    return revision


async def dates(registry: PolicyRegistry, revision: Revision) -> tuple[str, str | None, str]:
    found = await registry.get_revision(revision.source, revision.revision_id)
    end = None if found.effective_to is None else found.effective_to.isoformat()
    return found.effective_from.isoformat(), end, found.status.value


async def in_force(registry: PolicyRegistry, on: str) -> str | None:
    return (await EffectiveDateResolver(registry).get_revision_ids_for_date(day(on), ["NPPF"]))["NPPF"]


def dump(url: str) -> dict[bytes, object]:
    """Everything that Redis holds."""
    with redis.Redis.from_url(url) as client:
        readers = {b"hash": client.hgetall, b"set": client.smembers, b"string": client.get}
        return {
            key: client.zrange(key, 0, -1, withscores=True)
            if (kind := client.type(key)) == b"zset"
            else readers[kind](key)
            for key in client.keys("*")
        }


async def test_the_keys_and_fields_are_those_of_the_contract(nppf: PolicyRegistry, clean_redis_url: str) -> None:
    await nppf.create_revision(
        "NPPF",
        version_label="December 2024",
        effective_from=day("2024-12-12"),
        file_path="/data/policy/NPPF/{revision_id}/nppf.pdf",
        file_size_bytes=2458624,
    )
    with redis.Redis.from_url(clean_redis_url, decode_responses=True) as client:
        policy = client.hgetall("policy:NPPF")
        revision = client.hgetall("policy_revision:NPPF:rev_NPPF_2024_12")
        assert set(policy) == {"source", "title", "description", "category", "created_at", "updated_at"}
        assert set(revision) == set(
            "revision_id source version_label effective_from effective_to status file_path file_size_bytes "
            "page_count chunk_count notes created_at ingested_at error".split()
        )
        assert revision["file_path"] == "/data/policy/NPPF/rev_NPPF_2024_12/nppf.pdf"
        assert revision["effective_from"] == "2024-12-12"
        assert client.zrange("policy_revisions:NPPF", 0, -1, withscores=True) == [("rev_NPPF_2024_12", 20069.0)]
        assert client.smembers("policies_all") == {"NPPF"}


async def test_a_policy_is_created_once_and_patched(nppf: PolicyRegistry) -> None:
    with pytest.raises(PolicyAlreadyExists, match="A policy with source 'NPPF' already exists"):
        await nppf.create_policy("NPPF", "Again", PolicyCategory.LOCAL_PLAN)
    policy = await nppf.get_policy("NPPF")
    assert (policy.title, policy.description, policy.updated_at) == ("National Planning Policy Framework", None, None)
    patched = await nppf.update_policy("NPPF", {"description": "For England"})
    assert (patched.title, patched.description) == ("National Planning Policy Framework", "For England")
    assert patched.updated_at is not None
    assert (await nppf.update_policy("NPPF", {"description": None})).description is None
    with pytest.raises(PolicyNotFound, match="No policy found with source 'NONEXISTENT'"):
        await nppf.update_policy("NONEXISTENT", {"title": "x"})


async def test_policies_are_listed_by_slug_and_category(nppf: PolicyRegistry) -> None:
    await nppf.create_policy("LTN_1_20", "Cycle Infrastructure Design", PolicyCategory.NATIONAL_GUIDANCE)
    assert [p.source for p in await nppf.list_policies()] == ["LTN_1_20", "NPPF"]
    assert [p.source for p in await nppf.list_policies(PolicyCategory.NATIONAL_POLICY)] == ["NPPF"]
    assert [p.source for p in await nppf.list_policies(source="LTN_1_20")] == ["LTN_1_20"]
    assert await nppf.list_policies(source="NONE") == []


async def test_ids_follow_month_then_day_then_number_p4(nppf: PolicyRegistry) -> None:
    assert (await add(nppf, "2024-12-12", "2024-12-12")).revision_id == "rev_NPPF_2024_12"
    assert (await add(nppf, "2024-12-14", "2024-12-14")).revision_id == "rev_NPPF_2024_12_14"
    failed = await add(nppf, "2024-12-20", "2024-12-20", ingest=False)
    await nppf.mark_failed("NPPF", failed.revision_id, "broken")
    assert (await add(nppf, "2024-12-20", "2024-12-20")).revision_id == "rev_NPPF_2024_12_20_2"
    assert (await nppf.get_revision("NPPF", failed.revision_id)).status is RevisionStatus.FAILED


async def test_rule_1_supersedes_the_open_ended_one(nppf: PolicyRegistry) -> None:
    old = await add(nppf, "2023-09-05")
    new, effects = await nppf.create_revision("NPPF", version_label="new", effective_from=day("2024-12-12"))
    assert effects is not None
    assert effects.as_json() == {
        "superseded_revision": "rev_NPPF_2023_09",
        "superseded_effective_to": "2024-12-11",
    }
    assert await dates(nppf, old) == ("2023-09-05", "2024-12-11", "superseded")
    assert new.status is RevisionStatus.PROCESSING


async def test_rule_2_allows_a_historical_insertion(nppf: PolicyRegistry) -> None:
    await add(nppf, "2024-12-12")
    revision, effects = await nppf.create_revision(
        "NPPF", version_label="old", effective_from=day("2023-09-05"), effective_to=day("2024-12-11")
    )
    assert effects is None
    assert revision.revision_id == "rev_NPPF_2023_09"


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        (("2024-12-12", None), ("2024-12-12", None)),  # rule 3
        (("2024-12-12", None), ("2023-01-01", None)),
        (("2024-12-12", None), ("2023-01-01", "2024-12-12")),
        (("2023-01-01", "2023-12-31"), ("2023-12-31", "2024-12-31")),  # rule 4
        (("2023-01-01", "2023-12-31"), ("2022-01-01", "2023-01-01")),
        (("2023-01-01", "2023-12-31"), ("2023-06-01", None)),
        (("2023-01-01", "2023-12-31"), ("2022-06-01", None)),
    ],
)
async def test_rules_3_and_4_refuse_and_change_nothing(
    nppf: PolicyRegistry, clean_redis_url: str, existing: tuple[str, str | None], new: tuple[str, str | None]
) -> None:
    held = await add(nppf, *existing)
    before = dump(clean_redis_url)
    with pytest.raises(RevisionOverlapError) as refused:
        await add(nppf, *new)
    assert refused.value.message == f"Revision dates overlap with existing revision {held.revision_id}"
    assert refused.value.details == {"source": "NPPF", "effective_from": new[0]}
    assert dump(clean_redis_url) == before


async def test_p6_a_bounded_revision_inside_an_open_one_warns_of_the_gap(nppf: PolicyRegistry) -> None:
    await add(nppf, "2020-01-01")
    _, effects = await nppf.create_revision(
        "NPPF", version_label="short", effective_from=day("2024-01-01"), effective_to=day("2024-06-30")
    )
    assert effects is not None
    assert "2024-07-01" in (effects.warning or "")


async def test_p5_the_predecessor_answers_until_the_new_one_is_active(nppf: PolicyRegistry) -> None:
    await add(nppf, "2023-09-05")
    await add(nppf, "2024-12-12", ingest=False)
    assert await in_force(nppf, "2025-06-01") == "rev_NPPF_2023_09"
    await nppf.mark_active("NPPF", "rev_NPPF_2024_12", chunk_count=1, page_count=1)
    assert await in_force(nppf, "2025-06-01") == "rev_NPPF_2024_12"
    assert await in_force(nppf, "2024-12-12") == "rev_NPPF_2024_12"
    assert await in_force(nppf, "2024-12-11") == "rev_NPPF_2023_09"
    assert await in_force(nppf, "2023-09-04") is None


@pytest.mark.parametrize("way", ["failed", "deleted"])
async def test_p5_the_predecessor_is_restored_when_the_new_one_goes(nppf: PolicyRegistry, way: str) -> None:
    old = await add(nppf, "2023-09-05")
    new = await add(nppf, "2024-12-12", ingest=False)
    if way == "failed":
        await nppf.mark_failed("NPPF", new.revision_id, "no text")
    else:
        await nppf.delete_revision("NPPF", new.revision_id)
    assert await dates(nppf, old) == ("2023-09-05", None, "active")
    assert await in_force(nppf, "2025-06-01") == old.revision_id


async def test_deleting_a_middle_revision_gives_its_days_to_the_one_before(nppf: PolicyRegistry) -> None:
    first, middle, last = [await add(nppf, start) for start in ("2020-01-01", "2022-01-01", "2024-01-01")]
    await nppf.delete_revision("NPPF", middle.revision_id)
    assert await dates(nppf, first) == ("2020-01-01", "2023-12-31", "superseded")
    assert await in_force(nppf, "2022-06-01") == first.revision_id
    assert await in_force(nppf, "2024-06-01") == last.revision_id


async def test_two_pending_successors_may_finish_in_any_order(nppf: PolicyRegistry) -> None:
    first = await add(nppf, "2020-01-01")
    second = await add(nppf, "2022-01-01", ingest=False)
    third = await add(nppf, "2024-01-01", ingest=False)
    await nppf.mark_active("NPPF", third.revision_id, chunk_count=1, page_count=1)
    assert await in_force(nppf, "2022-06-01") == first.revision_id
    assert await in_force(nppf, "2024-06-01") == third.revision_id
    await nppf.mark_failed("NPPF", second.revision_id, "broken")
    assert await dates(nppf, first) == ("2020-01-01", "2023-12-31", "superseded")
    await nppf.begin_reindex("NPPF", second.revision_id, "job_2")
    await nppf.mark_active("NPPF", second.revision_id, chunk_count=1, page_count=1)
    assert await dates(nppf, first) == ("2020-01-01", "2021-12-31", "superseded")
    assert await dates(nppf, second) == ("2022-01-01", "2023-12-31", "superseded")


async def test_a_restored_revision_stops_where_another_began_meanwhile(
    nppf: PolicyRegistry, clean_redis_url: str
) -> None:
    first = await add(nppf, "2020-01-01")
    short = await add(nppf, "2024-01-01", "2024-06-30", ingest=False)
    later = await add(nppf, "2025-01-01")
    assert await in_force(nppf, "2024-03-01") == first.revision_id
    await nppf.mark_failed("NPPF", short.revision_id, "broken")
    assert await dates(nppf, first) == ("2020-01-01", "2024-12-31", "superseded")
    assert await in_force(nppf, "2024-12-31") == first.revision_id
    assert await in_force(nppf, "2025-01-01") == later.revision_id
    before = dump(clean_redis_url)
    with pytest.raises(RevisionOverlapError):
        await nppf.begin_reindex("NPPF", short.revision_id, "job_1", file_path="/another.pdf", file_size_bytes=1)
    assert dump(clean_redis_url) == before


async def test_the_last_day_before_a_month_or_year_is_right_in_leap_years_too(nppf: PolicyRegistry) -> None:
    for start, end in (("2000-03-01", "2000-02-29"), ("2023-03-01", "2023-02-28"), ("2024-01-01", "2023-12-31")):
        older = (
            (await nppf.list_revisions("NPPF"))[0]
            if await nppf.list_revisions("NPPF")
            else await add(nppf, "1999-01-01")
        )
        await add(nppf, start)
        assert (await dates(nppf, older))[1] == end


async def test_a_superseded_revision_that_is_still_ingesting_ends_superseded(nppf: PolicyRegistry) -> None:
    old = await add(nppf, "2020-01-01", ingest=False)
    await add(nppf, "2022-01-01")
    await nppf.mark_active("NPPF", old.revision_id, chunk_count=1, page_count=1)
    assert await dates(nppf, old) == ("2020-01-01", "2021-12-31", "superseded")


async def test_patch_absent_leaves_null_clears_p7(nppf: PolicyRegistry) -> None:
    revision = await add(nppf, "2020-01-01", "2020-12-31")
    await nppf.update_revision("NPPF", revision.revision_id, {"notes": "n"})
    assert await dates(nppf, revision) == ("2020-01-01", "2020-12-31", "active")
    changed = await nppf.update_revision("NPPF", revision.revision_id, {"effective_to": None})
    assert (changed.effective_to, changed.notes) == (None, "n")
    assert (await nppf.update_revision("NPPF", revision.revision_id, {"notes": None})).notes is None
    with pytest.raises(InvalidInput, match="cannot be null"):
        await nppf.update_revision("NPPF", revision.revision_id, {"effective_from": None})  # type: ignore[typeddict-item]


async def test_patch_of_dates_is_checked_and_does_not_cascade_p7(nppf: PolicyRegistry, clean_redis_url: str) -> None:
    old, new = await add(nppf, "2023-09-05"), await add(nppf, "2024-12-12")
    before = dump(clean_redis_url)
    with pytest.raises(RevisionOverlapError):
        await nppf.update_revision("NPPF", new.revision_id, {"effective_from": day("2024-12-01")})
    with pytest.raises(InvalidInput, match="is before effective_from"):
        await nppf.update_revision("NPPF", new.revision_id, {"effective_to": day("2024-12-11")})
    with pytest.raises(RevisionOverlapError) as refused:
        await nppf.update_revision("NPPF", old.revision_id, {"effective_to": None})
    assert refused.value.details == {"source": "NPPF", "effective_from": "2023-09-05"}
    assert dump(clean_redis_url) == before
    await nppf.update_revision("NPPF", new.revision_id, {"effective_from": day("2025-01-01")})
    assert await dates(nppf, old) == ("2023-09-05", "2024-12-11", "superseded")
    assert [r.revision_id for r in await nppf.list_revisions("NPPF")] == [new.revision_id, old.revision_id]


async def test_dates_given_by_hand_are_not_undone_by_a_later_restoration(nppf: PolicyRegistry) -> None:
    old, new = await add(nppf, "2020-01-01"), await add(nppf, "2024-01-01", ingest=False)
    await nppf.update_revision("NPPF", old.revision_id, {"effective_to": day("2023-06-30")})
    await nppf.mark_failed("NPPF", new.revision_id, "broken")
    assert (await dates(nppf, old))[1] == "2023-06-30"


async def test_the_sole_active_revision_cannot_be_deleted(nppf: PolicyRegistry, clean_redis_url: str) -> None:
    old, new = await add(nppf, "2023-09-05"), await add(nppf, "2024-12-12")
    before = dump(clean_redis_url)
    with pytest.raises(CannotDeleteSoleRevisionError, match="Cannot delete the sole active revision for a policy"):
        await nppf.begin_delete("NPPF", new.revision_id)
    assert dump(clean_redis_url) == before
    await nppf.delete_revision("NPPF", old.revision_id)
    with pytest.raises(RevisionNotFound):
        await nppf.get_revision("NPPF", old.revision_id)
    with pytest.raises(RevisionNotFound):
        await nppf.begin_delete("NPPF", old.revision_id)


async def test_a_deletion_that_crashed_can_be_repeated_p8(nppf: PolicyRegistry) -> None:
    old = await add(nppf, "2023-09-05")
    await add(nppf, "2024-12-12")
    await nppf.begin_delete("NPPF", old.revision_id)
    assert await in_force(nppf, "2024-01-01") is None
    assert await nppf.unfinished_deletions() == [("NPPF", old.revision_id)]
    with pytest.raises(RevisionNotFound):
        await nppf.mark_active("NPPF", old.revision_id, chunk_count=1, page_count=1)
    assert (await nppf.delete_revision("NPPF", old.revision_id)).revision_id == old.revision_id
    assert await nppf.unfinished_deletions() == []


async def test_reindex_keeps_answering_and_a_failed_one_leaves_the_status_p9(nppf: PolicyRegistry) -> None:
    revision = await add(nppf, "2024-12-12")
    taken = await nppf.begin_reindex("NPPF", revision.revision_id, "job_1")
    assert (taken.status, taken.reindexing) == (RevisionStatus.ACTIVE, True)
    with pytest.raises(CannotReindex, match="Revision is already processing"):
        await nppf.begin_reindex("NPPF", revision.revision_id, "job_2")
    assert await in_force(nppf, "2025-01-01") == revision.revision_id
    failed = await nppf.mark_failed("NPPF", revision.revision_id, "disk full", job_id="job_1")
    assert (failed.status, failed.error, failed.reindexing) == (RevisionStatus.ACTIVE, "disk full", False)
    await nppf.begin_reindex("NPPF", revision.revision_id, "job_2")


async def test_reindex_of_a_revision_without_a_file_is_refused(nppf: PolicyRegistry) -> None:
    revision, _ = await nppf.create_revision("NPPF", version_label="x", effective_from=day("2020-01-01"))
    with pytest.raises(NoFilePath):
        await nppf.begin_reindex("NPPF", revision.revision_id, "job_1")


async def test_a_failed_revision_cannot_come_back_over_another(nppf: PolicyRegistry) -> None:
    failed = await add(nppf, "2024-01-01", ingest=False)
    await nppf.mark_failed("NPPF", failed.revision_id, "broken")
    with pytest.raises(JobLostRevision):
        await nppf.mark_active("NPPF", failed.revision_id, chunk_count=1, page_count=1)
    other = await add(nppf, "2024-01-01")
    with pytest.raises(RevisionOverlapError, match=other.revision_id) as refused:
        await nppf.begin_reindex("NPPF", failed.revision_id, "job_1")
    assert refused.value.details["effective_from"] == failed.effective_from.isoformat()


async def test_a_job_that_lost_its_revision_learns_it(nppf: PolicyRegistry) -> None:
    revision, _ = await nppf.create_revision(
        "NPPF", version_label="x", effective_from=day("2020-01-01"), job_id="job_1"
    )
    progress = IngestProgress("embedding", 40, 12)
    assert await nppf.keep_hold("NPPF", revision.revision_id, "job_1", progress=progress)
    assert await nppf.get_progress(revision) == progress
    assert not await nppf.keep_hold("NPPF", revision.revision_id, "job_2")
    with pytest.raises(JobLostRevision):
        await nppf.mark_active("NPPF", revision.revision_id, chunk_count=1, page_count=1, job_id="job_2")
    await nppf.delete_revision("NPPF", revision.revision_id)
    assert not await nppf.keep_hold("NPPF", revision.revision_id, "job_1")


async def test_of_50_concurrent_creations_of_one_revision_one_succeeds(nppf: PolicyRegistry) -> None:
    tries = [nppf.create_revision("NPPF", version_label=str(n), effective_from=day("2024-12-12")) for n in range(50)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(not isinstance(o, BaseException) for o in outcomes) == 1
    assert sum(isinstance(o, RevisionOverlapError) for o in outcomes) == 49
    assert len(await nppf.list_revisions("NPPF")) == 1


async def test_50_concurrent_different_creations_equal_some_serial_order(nppf: PolicyRegistry) -> None:
    """Each success superseded an open one that began earlier: the creations in order of date give the same book."""
    starts = [date(2000 + n, 1, 1) for n in range(50)]
    tries = [nppf.create_revision("NPPF", version_label=str(s), effective_from=s) for s in reversed(starts)]
    outcomes = await asyncio.gather(*tries, return_exceptions=True)
    made = [o[0].effective_from for o in outcomes if not isinstance(o, BaseException)]
    assert all(isinstance(o, RevisionOverlapError) for o in outcomes if isinstance(o, BaseException))
    revisions = list(reversed(await nppf.list_revisions("NPPF")))
    await nppf.create_policy("SERIAL", "The same, one after the other", PolicyCategory.NATIONAL_POLICY)
    for start in sorted(made):
        await nppf.create_revision("SERIAL", version_label="x", effective_from=start)
    serial = list(reversed(await nppf.list_revisions("SERIAL")))
    assert [(r.effective_from, r.effective_to) for r in revisions] == [
        (r.effective_from, r.effective_to) for r in serial
    ]


async def test_a_list_costs_one_round_trip_whatever_its_length(nppf: PolicyRegistry, clean_redis_url: str) -> None:
    for n in range(20):
        await nppf.create_policy(f"P{n}", "x", PolicyCategory.LOCAL_PLAN)
        await add(nppf, "2020-01-01", source=f"P{n}")
    with redis.Redis.from_url(clean_redis_url) as client:
        client.config_resetstat()
        await nppf.list_policies()
        calls = {name: stat["calls"] for name, stat in client.info("commandstats").items()}
    assert calls["cmdstat_evalsha"] == 1


async def test_the_snapshot_names_what_is_not_yet_effective_and_what_is_in_a_gap(nppf: PolicyRegistry) -> None:
    await add(nppf, "2020-01-01", "2020-12-31")
    await add(nppf, "2022-01-01")
    await nppf.create_policy("EMPTY", "x", PolicyCategory.LOCAL_PLAN)
    await nppf.create_policy("LATER", "x", PolicyCategory.LOCAL_PLAN)
    await add(nppf, "2024-01-01", source="LATER")
    resolver = EffectiveDateResolver(nppf)
    gap = await resolver.resolve_snapshot(day("2021-06-01"))
    assert gap.policies_with_revision == []
    assert gap.policies_in_gap == ["NPPF"]
    assert gap.policies_not_yet_effective == ["LATER"]
    assert gap.policies_without_revisions == ["EMPTY"]
    assert (await resolver.resolve_for_policy("NPPF", day("2019-01-01"))).reason == "date_before_first_revision"
    assert await resolver.validate_revision_for_date("NPPF", "rev_NPPF_2020_01", day("2020-12-31"))
    assert not await resolver.validate_revision_for_date("NPPF", "rev_NPPF_2020_01", day("2021-01-01"))
