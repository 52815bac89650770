"""The five phases: what each asks of the servers, what is kept, how it fails, and how far it says it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scripted_servers import REF, TEXT, Kept, Servers

from trigpoint.config import Settings
from trigpoint.dates import today
from trigpoint.errors import ReviewFailed, ServerUnreachable, ToolFailed
from trigpoint.review import pipeline
from trigpoint.review.models import FOCUS_AREAS, PHASES, Progress, ReviewOptions, ReviewRequest
from trigpoint.review.pipeline import run_review
from trigpoint.review.policy_desk import PolicyDesk
from trigpoint.review.result import ReviewResult


async def _run(
    servers: Servers, settings: Settings, *, kept: Kept | None = None, options: ReviewOptions | None = None
) -> tuple[ReviewResult, list[Progress]]:
    seen: list[Progress] = []

    async def report(progress: Progress) -> None:
        seen.append(progress)

    request = ReviewRequest("rev_1", REF, options or ReviewOptions())
    result = await run_review(request, tools=servers, checkpoints=kept or Kept(), report=report, settings=settings)
    return result, seen


async def test_a_review_has_the_contracts_parts(settings: Settings) -> None:
    result, _ = await _run(Servers(), settings)
    assert result.application.reference == REF
    assert (result.application.documents_fetched, result.application.documents_ingested) == (2, 2)
    assert result.review.full_markdown.startswith(f"# Cycle Advocacy Review: {REF}\n")
    assert result.metadata.model == "rules"
    assert result.metadata.total_tokens_used == 0
    assert list(result.metadata.phase_seconds) == [phase.name for phase in PHASES]
    assert result.metadata.citations.dropped == 0
    assert ReviewResult.model_validate_json(result.model_dump_json()) == result


async def test_progress_is_monotonic_by_the_weights_and_never_100(settings: Settings) -> None:
    _, seen = await _run(Servers(), settings)
    reading = [one.detail for one in seen if one.phase == "ingesting_documents"]
    assert any(detail.startswith("Reading ") and "done)" in detail for detail in reading)
    assert not any(".pdf" in detail for detail in reading)
    percents = [one.percent_complete for one in seen]
    assert percents == sorted(percents)
    assert percents[-1] <= 99
    starts = {one.phase: one.percent_complete for one in reversed(seen)}
    assert starts == {
        "fetching_metadata": 0,
        "downloading_documents": 5,
        "ingesting_documents": 25,
        "analysing_application": 55,
        "generating_review": 85,
    }
    assert {one.total_phases for one in seen} == {5}


@pytest.mark.parametrize(
    ("details", "day"),
    [
        ({}, "2025-05-21"),
        ({"date_validated": None}, "2025-05-15"),
        ({"date_validated": None, "date_received": None}, today().isoformat()),
        ({"date_validated": None, "date_received": None, "date_of_documents": "2025-11-20"}, "2025-11-20"),
        ({"date_validated": "2024-03-14"}, "2024-03-14"),
    ],
)
async def test_policy_is_that_of_the_validation_date(details: dict[str, Any], day: str, settings: Settings) -> None:
    servers = Servers(details=details)
    result, _ = await _run(servers, settings)
    assert result.metadata.policy_effective_date == day
    assert {args["effective_date"] for tool, args in servers.calls if tool == "get_provisions"} == {day}
    used = {one.revision_id for one in result.metadata.policy_revisions_used}
    assert ("rev_NPPF_2023_09" in used) is (day < "2024-12-12")


async def test_an_unknown_application_is_a_scraper_error_with_the_contracts_message(settings: Settings) -> None:
    said = "Application not found on Cherwell planning portal"  # by the register's server
    servers = Servers(get_application_details=ToolFailed("application_not_found", said))
    with pytest.raises(ReviewFailed) as failed:
        await _run(servers, settings)
    assert (failed.value.code, failed.value.message) == (
        "scraper_error",
        "Application not found on Cherwell planning portal",
    )


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"get_application_details": ToolFailed("request_failed", "the register is away")}, "scraper_error"),
        ({"download_all_documents": ServerUnreachable("nobody there")}, "scraper_error"),
        ({"ingest_document": ServerUnreachable("nobody there")}, "ingestion_failed"),
        ({"ingest_document": ToolFailed("extraction_failed", "broken")}, "ingestion_failed"),
        ({"get_document_text": ServerUnreachable("nobody there")}, "analysis_failed"),
        ({"get_provisions": ToolFailed("internal_error", "oops")}, "analysis_failed"),
    ],
)
async def test_a_failure_has_the_code_of_its_phase(answers: dict[str, Any], code: str, settings: Settings) -> None:
    with pytest.raises(ReviewFailed) as failed:
        await _run(Servers(**answers), settings)
    assert failed.value.code == code


async def test_what_cannot_be_foreseen_is_not_swallowed(settings: Settings) -> None:
    with pytest.raises(KeyError):
        await _run(Servers(get_application_details={"status": "success"}), settings)


async def test_drawings_and_broken_files_are_counted_and_the_review_goes_on(settings: Settings) -> None:
    answers = [
        {"status": "skipped", "reason": "image_based"},
        ToolFailed("no_content", "no text"),
        ToolFailed("extraction_failed", "broken"),
        {"status": "already_ingested", "document_id": "25_01178_REM_a1b2c3"},
    ]
    result, _ = await _run(Servers(files=4, ingest_document=answers), settings)
    counted = result.metadata.documents
    assert (counted.ingested, counted.skipped, counted.failed) == (1, 2, 1)
    assert result.application.documents_ingested == 1


async def test_the_pages_that_were_read_are_counted_and_those_that_were_not_are_named(settings: Settings) -> None:
    whole = {"page_count": 10, "pages_read": 10, "pages_by_ocr": 1, "pages_not_read": []}
    account = {"page_count": 10, "pages_read": 8, "pages_by_ocr": 1, "pages_not_read": [3, 4]}
    answers = [
        {"status": "success", "document_id": "25_01178_REM_a1b2c3", "account": whole},
        {"status": "already_ingested", "document_id": "25_01178_REM_a1b2c3", "account": account},
    ]
    result, _ = await _run(Servers(files=2, ingest_document=answers), settings)
    counts = result.metadata.documents
    assert (counts.pages, counts.pages_read, counts.pages_by_ocr) == (20, 18, 2)
    assert counts.reading == "2 of 2 documents, 18 of 20 pages read; 2 by OCR, 2 not: 1.pdf, pages 3 to 4."


async def test_an_application_without_documents_is_not_assessed(settings: Settings) -> None:
    result, _ = await _run(Servers(files=0), settings)
    assert result.review.overall_rating == "amber"
    assert {aspect.shown_rating for aspect in result.review.aspects} == {"not assessed"}
    assert result.review.summary.startswith("None of the core aspects")
    assert result.metadata.documents_analysed == 0


async def test_a_second_try_fetches_and_ingests_nothing_again(settings: Settings) -> None:
    kept = Kept()
    broken = Servers(get_document_text=ServerUnreachable("away"))
    with pytest.raises(ReviewFailed):
        await _run(broken, settings, kept=kept)
    servers = Servers()
    result, seen = await _run(servers, settings, kept=kept)
    assert servers.count("get_application_details") == 0
    assert servers.count("download_all_documents") == 0
    assert servers.count("ingest_document") == 0
    assert servers.count("get_document_text") > 0
    assert list(result.metadata.phase_seconds) == [phase.name for phase in PHASES]
    assert [one.percent_complete for one in seen] == sorted(one.percent_complete for one in seen)


async def test_a_review_that_was_done_is_given_again_as_it_was(settings: Settings) -> None:
    kept = Kept()
    first, _ = await _run(Servers(), settings, kept=kept)
    silent = Servers()
    again, _ = await _run(silent, settings, kept=kept)
    assert again == first
    assert silent.calls == []


async def test_the_same_review_twice_is_the_same_but_for_times(settings: Settings) -> None:
    (one, _), (other, _) = [await _run(Servers(), settings) for _ in range(2)]
    assert one.review == other.review
    times = {"processing_time_seconds", "phase_seconds"}
    assert one.metadata.model_dump(exclude=times) == other.metadata.model_dump(exclude=times)


async def test_only_the_focus_areas_are_reviewed(settings: Settings) -> None:
    result, _ = await _run(Servers(), settings, options=ReviewOptions(focus_areas=("cycle_parking", "junctions")))
    assert [aspect.name for aspect in result.review.aspects] == ["Cycle Parking", "Junctions"]
    everything, _ = await _run(Servers(), settings)
    assert [aspect.id for aspect in everything.review.aspects] == list(FOCUS_AREAS)


async def test_a_cancelled_review_stops_at_the_next_await(settings: Settings) -> None:
    ingesting = asyncio.Event()

    class Slow(Servers):
        async def call(self, server: str, tool: str, args: dict[str, Any], *, progress: Any = None) -> dict[str, Any]:
            if tool == "ingest_document":
                ingesting.set()
                await asyncio.sleep(30)
            return await super().call(server, tool, args, progress=progress)

    task = asyncio.create_task(_run(Slow(), settings))
    await asyncio.wait_for(ingesting.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 5)


async def test_a_provision_whose_section_is_not_certain_is_named_and_not_cited(settings: Settings) -> None:
    class Doubtful(Servers):
        def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
            answer = super()._get_provisions(args)
            doubtful = [one | {"state": "to_be_confirmed"} for one in answer["provisions"]]
            missing = [{"provision_id": "secure_cycle_parking", "reason": "no revision of NPPF was in force"}]
            return answer | {"provisions": doubtful, "unavailable": missing}

    result, _ = await _run(Doubtful(), settings, options=ReviewOptions(focus_areas=("cycle_parking",)))
    (parking,) = result.review.aspects
    assert parking.policy_refs == ()
    assert {ask.citation for ask in parking.asks} == {None}
    assert parking.findings == ()
    assert "section to be confirmed" in result.review.full_markdown
    assert any("no revision of NPPF was in force" in note for note in result.metadata.notes)


async def test_every_document_is_read_whole_and_not_searched(settings: Settings) -> None:
    servers = Servers()
    result, _ = await _run(servers, settings)
    assert servers.count("search_application_docs") == 0
    assert servers.count("list_ingested_documents") == servers.count("get_document_text") == 1
    assert result.metadata.documents_analysed == 1
    quoted = {quotation.citation.quote for aspect in result.review.aspects for quotation in aspect.says}
    assert TEXT.partition(". ")[2] in quoted


async def test_documents_that_could_not_be_had_or_read_are_named_in_the_summary(settings: Settings) -> None:
    lost = {"file_path": None, "status": "failed", "description": "Transport Assessment"}
    had = [{"file_path": f"/d/{name}.pdf", "status": "downloaded", "description": name} for name in ("Plan", "Letter")]
    downloads = {"downloads": [lost, *had], "failed_downloads": 1, "total_documents": 9, "filtered_count": 2}
    answers = [ToolFailed("no_content", "no text"), {"status": "success", "document_id": "d"}]
    result, _ = await _run(Servers(download_all_documents=downloads, ingest_document=answers), settings)
    assert "1 of the 9 documents that the register lists could not be downloaded: Transport Assessment." in (
        result.review.summary
    )
    assert "Not read, because no text was found: Letter.pdf." in result.review.summary
    assert "- Could not be downloaded: Transport Assessment\n" in result.review.full_markdown


async def test_only_policies_of_the_sites_authority_are_asked_for_and_a_missing_local_one_is_said(
    settings: Settings,
) -> None:
    class Elsewhere(Servers):
        def _get_application_details(self, args: dict[str, Any]) -> dict[str, Any]:
            entry = {"authority": "tower-hamlets", "name": "Tower Hamlets", "page_url": "https://register.example/1"}
            return super()._get_application_details(args) | {"register_entry": entry}

        def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
            assert args["authority"] == "tower-hamlets"
            return super()._get_provisions(args) | {"local_policies": []}

    result, _ = await _run(Elsewhere(), settings)
    assert (
        "No local policy of Tower Hamlets was available: only national policy and guidance are cited, and local standards as the documents quote them."
        in result.review.summary
    )
    assert "The London Plan is part of the development plan here and is not among the policies" in result.review.summary
    assert result.review.profile is not None
    assert result.review.profile.authority == "tower-hamlets"
    here, _ = await _run(Servers(), settings)
    assert "No local policy" not in here.review.summary


async def test_a_site_whose_authority_is_not_known_is_judged_by_national_policy_and_the_summary_says_so(
    settings: Settings,
) -> None:
    asked: list[dict[str, Any]] = []

    class Nowhere(Servers):
        def _get_application_details(self, args: dict[str, Any]) -> dict[str, Any]:
            return super()._get_application_details(args) | {"register_entry": {}}

        def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
            asked.append(args)
            return super()._get_provisions(args) | {"local_policies": []}

        def _search_policy(self, args: dict[str, Any]) -> dict[str, Any]:
            asked.append(args)
            return {"results": []}

    result, _ = await _run(Nowhere(), settings)
    await PolicyDesk(Nowhere(), "2025-06-01").search("cycle parking")
    assert [one["authority"] for one in asked] == ["unknown", "unknown"]
    assert (
        "The planning authority is not known: only national policy and guidance are cited, and local standards as the documents quote them."
        in result.review.summary
    )


async def test_the_local_parking_standard_is_asked_for_and_cited_before_the_national_one(settings: Settings) -> None:
    asked = []
    for local in (False, True):
        result, _ = await _run(Servers(local_standard=local), settings)
        cycle_parking = result.review.aspects[0]
        asked.append([(one.says, one.citation and one.citation.ref) for one in cycle_parking.asks][:2])
        assert result.metadata.citations.dropped == 0
    assert asked[0][0][1] == "LTN 1/20:Table 11-1"
    assert [ref for _, ref in asked[1]] == ["HEREFORD SPD:Table 7", "LTN 1/20:Table 11-1"]
    assert "2 per bedroom" in asked[1][0][0]
    assert "2 per bedroom" not in asked[1][1][0]


async def test_a_standard_whose_section_a_newer_text_lacks_is_named_and_the_review_goes_on(settings: Settings) -> None:
    class Replaced(Servers):
        def _get_policy_section(self, args: dict[str, Any]) -> dict[str, Any]:
            if args["source"] == "HEREFORD_SPD":
                raise ToolFailed("section_not_found", "no such section")
            return super()._get_policy_section(args)

    result, _ = await _run(Replaced(local_standard=True), settings)
    assert any("parking standard names Table 7" in note for note in result.metadata.notes)
    assert "HEREFORD_SPD" not in {ask.source for aspect in result.review.aspects for ask in aspect.asks}


async def test_a_review_says_that_a_revision_which_was_in_force_is_not_loaded(settings: Settings) -> None:
    said = "The revision of December 2023 was in force on the day and is not loaded."

    class Behind(Servers):
        def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
            return super()._get_provisions(args) | {"not_loaded": [said]}

    result, _ = await _run(Behind(), settings)
    assert said in result.review.summary


async def test_a_review_says_how_its_sections_of_policy_were_told(settings: Settings) -> None:
    class Confirmed(Servers):
        def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
            answer = super()._get_provisions(args)
            states = {"secure_cycle_parking": "confirmed", "cycle_parking_quality": "to_be_confirmed"}
            told = [one | {"state": states.get(one["provision_id"], "found")} for one in answer["provisions"]]
            return answer | {"provisions": told}

    result, _ = await _run(Confirmed(), settings, options=ReviewOptions(focus_areas=("cycle_parking",)))
    said = "Sections of policy: 2 found in the texts in force, 1 confirmed by a person, 1 to be confirmed"
    assert result.review.sections_used() == said
    assert said in result.review.full_markdown


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "TRY_AGAIN_AFTER", (0.0, 0.0))


@pytest.mark.usefixtures("no_pauses")
async def test_a_document_that_a_store_refused_is_tried_again(settings: Settings) -> None:
    answers = [
        ToolFailed("store_error", "the vector store cannot be written"),
        {"status": "success", "document_id": "25_01178_REM_a1b2c3"},
        {"status": "success", "document_id": "25_01178_REM_d4e5f6"},
    ]
    result, _ = await _run(Servers(ingest_document=answers), settings)
    assert result.metadata.documents.ingested == 2
    assert result.metadata.documents.unread == ()


@pytest.mark.usefixtures("no_pauses")
async def test_a_store_that_goes_on_failing_fails_the_review_with_its_reason(settings: Settings) -> None:
    refused = ToolFailed("store_error", "the vector store cannot be written")
    stored = {"status": "success", "document_id": "25_01178_REM_a1b2c3"}
    with pytest.raises(ReviewFailed, match=r"1 of 2 documents could not be stored, .*cannot be written") as failed:
        await _run(Servers(ingest_document=[stored, refused, refused, refused]), settings)
    assert failed.value.code == "ingestion_failed"


@pytest.mark.usefixtures("no_pauses")
async def test_a_document_lost_to_a_fault_of_ours_is_the_first_thing_the_summary_says(settings: Settings) -> None:
    broken = ToolFailed("internal_error", "Internal error")
    stored = {"status": "success", "document_id": "25_01178_REM_a1b2c3"}
    result, _ = await _run(Servers(ingest_document=[stored, broken, broken, broken]), settings)
    assert result.review.summary.startswith("1 of 2 documents could not be read because of a fault in Trigpoint: ")
    assert [one.fault for one in result.metadata.documents.unread] == [True]
    assert "no text was found" not in result.review.summary
    assert "Could not be read: " in result.review.full_markdown
