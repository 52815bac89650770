"""The review from reference to result, in the contract's five phases. Each is checkpointed with the time it took:
a second try does not fetch or ingest again. Servers are reached through `Tools` only.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from trigpoint.config import Settings
from trigpoint.dates import parse_day, today
from trigpoint.errors import (
    AnalysisFailed,
    IngestionFailed,
    ReviewFailed,
    ScraperError,
    TrigpointError,
    shorten,
)
from trigpoint.review.aspects import Aspect, aspect
from trigpoint.review.assemble import assemble_review, revisions_used
from trigpoint.review.evidence import Evidence
from trigpoint.review.gather import EvidenceRequest, gather_evidence
from trigpoint.review.ingested import WAITED_FOR, Ingest, require_stores, unread_documents
from trigpoint.review.intake import (
    Data,
    application_of,
    counted,
    document_counts,
    missing_document,
    of_manifest,
    page_counts,
    public_name,
    register_entry,
)
from trigpoint.review.models import (
    FOCUS_AREAS,
    PHASES,
    Checkpoints,
    Phase,
    Progress,
    ReviewOptions,
    ReviewRequest,
    Server,
    ToolProgress,
    Tools,
)
from trigpoint.review.policy_desk import PolicyDesk
from trigpoint.review.reading_progress import ReadingProgress
from trigpoint.review.render import render_markdown
from trigpoint.review.result import CitationCounts, Judgement, Metadata, ReviewResult
from trigpoint.review.rules import judge_by_rules
from trigpoint.review.verify import verify

__all__ = [
    "FOCUS_AREAS",
    "PHASES",
    "Checkpoints",
    "Phase",
    "Progress",
    "ReviewFailed",
    "ReviewOptions",
    "ReviewRequest",
    "ReviewResult",
    "Server",
    "ToolProgress",
    "Tools",
    "run_review",
]

log = logging.getLogger(__name__)

INGESTS_AT_ONCE = 2
TRY_AGAIN_AFTER = (2.0, 8.0)  # seconds
DOWNLOAD_AGAIN_AFTER = (5.0, 10.0, 20.0)

Report = Callable[[Progress], Awaitable[None]]
Step = Callable[[float, str], Awaitable[None]]
Work = Callable[[Step], Awaitable[Data]]


async def run_review(
    request: ReviewRequest, *, tools: Tools, checkpoints: Checkpoints, report: Report, settings: Settings
) -> ReviewResult:
    """Review one application. Raises ReviewFailed; a cancellation passes through at any await."""
    run = ReviewRun(request, tools, checkpoints, report, settings)
    opened = await run.open()
    judged = await run.phase(4, lambda step: run.analyse(step, opened.found, opened.ingested), AnalysisFailed)
    return await run.finish(opened, judged)


@dataclass(frozen=True)
class Opened:
    """The results of the first three phases: the register's entry, the files, what became of them."""

    found: Data
    fetched: Data
    ingested: Data


@dataclass
class ReviewRun:
    """One run of the pipeline: what the phases share. Somebody else's agent may do the judging between `open` and `finish`."""

    request: ReviewRequest
    tools: Tools
    checkpoints: Checkpoints
    report: Report
    settings: Settings

    def __post_init__(self) -> None:
        self.seconds: dict[str, float] = {}

    async def open(self) -> Opened:
        """Phases 1 to 3: look the application up, download its documents, have them read."""
        found = await self.phase(1, self.fetch_metadata, ScraperError)
        fetched = await self.phase(2, self.download, ScraperError)
        ingested = await self.phase(3, lambda step: self.ingest(step, fetched), IngestionFailed)
        return Opened(found, fetched, ingested)

    async def finish(self, opened: Opened, judged: Data) -> ReviewResult:
        """Phase 5: the review as the contract has it."""
        parts = opened.found, opened.fetched, opened.ingested
        return self.result(await self.phase(5, lambda step: self.generate(step, *parts, judged), ReviewFailed))

    async def phase(self, number: int, work: Work, failure: type[ReviewFailed]) -> Data:
        """Return the results of a phase, from its checkpoint or by doing it now."""
        phase = PHASES[number - 1]
        step = self._step(phase)
        kept = await self.checkpoints.load(phase.name)
        if kept is not None:
            self.seconds[phase.name] = float(kept["seconds"])
            await step(1.0, "Done in an earlier attempt")
            return dict(kept["data"])
        started = time.monotonic()
        await step(0.0, _BEGINNINGS[phase.name])
        data = await _guarded(lambda: work(step), failure)
        self.seconds[phase.name] = round(time.monotonic() - started, 3)
        await self.checkpoints.save(phase.name, {"data": data, "seconds": self.seconds[phase.name]})
        return data

    async def fetch_metadata(self, step: Step) -> Data:
        """Phase 1: what the register says, and the date whose policy applies (R7)."""
        try:
            answer = await self.tools.call("scraper", "get_application_details", self.request.where)
        except TrigpointError as error:
            if error.code == "application_not_found":
                raise ScraperError(error.message) from None
            raise
        application = dict(answer["application"])
        dated = next((name for name in POLICY_DATES if application.get(name)), "")
        effective = parse_day(application[dated]) if dated else today()
        return {
            "application": application,
            "effective_date": effective.isoformat(),
            "effective_date_from": dated,
            "register": answer.get("register_entry") or {},
            "notes": list(answer.get("notes") or ()),
        }

    async def download(self, step: Step) -> Data:
        """Phase 2: the documents that the portal's filter lets through, into the data folder."""

        async def progress(done: float, total: float | None, message: str | None) -> None:
            of_all = f" ({done:g} of {counted(total, 'document')} done)" if total else ""
            await step(done / total if total else 0.0, f"{message or 'Downloading'}{of_all}")

        answer = await self._download_all(progress)
        files = [one["file_path"] for one in answer["downloads"] if one.get("file_path")]
        failed = int(answer["failed_downloads"])
        if failed and not files:
            raise ScraperError(f"None of the {counted(failed, 'document')} of the application could be downloaded")
        return {
            "files": sorted(dict.fromkeys(files)),
            "listed": int(answer["total_documents"]),
            "failed": failed,
            "filtered": int(answer["filtered_count"]),
            "manifest": {one["file_path"]: of_manifest(one) for one in answer["downloads"] if one.get("file_path")},
            "not_downloaded": [
                missing_document(one, one.get("error")) for one in answer["downloads"] if one.get("status") == "failed"
            ],
            "left_out": [
                missing_document(one, one.get("filter_reason")) for one in answer.get("filtered_documents") or ()
            ],
            "unreadable": [
                missing_document(one, one.get("reason")) for one in answer.get("unreadable_documents") or ()
            ],
        }

    async def _download_all(self, progress: ToolProgress) -> Data:
        """Download the documents; ask again for those that the register gave no answer for, as long as it may be away."""
        arguments = {**self.request.where, **self.request.reading, "output_dir": "."}
        pauses = iter(DOWNLOAD_AGAIN_AFTER)
        while True:
            answer = await self.tools.call("scraper", "download_all_documents", arguments, progress=progress)
            unanswered = any(one.get("error_type") == "request_failed" for one in answer["downloads"])
            pause = next(pauses, None)
            if not unanswered or pause is None:
                return answer
            await asyncio.sleep(pause)

    async def ingest(self, step: Step, fetched: Data) -> Data:
        """Phase 3: every file into the document store. Drawings that are skipped and files without text are named."""
        files, done = list(fetched["files"]), dict[str, Ingest]()
        turn, manifest = asyncio.Semaphore(INGESTS_AT_ONCE), fetched.get("manifest", {})
        reading = ReadingProgress(files, manifest, step)

        async def one(path: str) -> None:
            async with turn:
                await reading.reached(path, 0.0)
                done[path] = await self._ingest_one(path, reading)
                await reading.reached(path, 1.0)

        for pause in (0.0, *TRY_AGAIN_AFTER):  # after a fault, those documents are tried again
            await asyncio.sleep(pause)
            async with asyncio.TaskGroup() as group:
                for path in [path for path in files if path not in done or done[path].fault]:
                    group.create_task(one(path))
            if not any(ingested.fault for ingested in done.values()):
                break
        require_stores(done, manifest)
        outcomes = {path: one.outcome for path, one in done.items()}
        counts = {name: sum(o == name for o in outcomes.values()) for name in ("ingested", "skipped", "failed")}
        if files and counts["failed"] == len(files):
            raise IngestionFailed(f"None of the {counted(len(files), 'document')} could be read")
        return counts | {
            "not_read": sorted(public_name(path, manifest) for path, one in done.items() if one.outcome == "skipped"),
            "unread": unread_documents(done, manifest),
            "pages": page_counts(outcomes, {path: one.account for path, one in done.items()}),
            "documents": {done[path].document_id: manifest.get(path, {}) for path in files if done[path].document_id},
        }

    @property
    def chosen_aspects(self) -> tuple[Aspect, ...]:
        return tuple(aspect(area) for area in self.request.options.aspects)

    async def evidence(self, found: Data, ingested: Data, step: Step) -> Evidence:
        """Return the documents as they were read, and the policy in force. Reads the same every time."""
        wanted = EvidenceRequest(
            application=register_entry(found),
            effective_date=found["effective_date"],
            aspects=self.chosen_aspects,
            manifest=ingested.get("documents"),
        )
        return await gather_evidence(self.tools, wanted, step)

    async def analyse(self, step: Step, found: Data, ingested: Data) -> Data:
        """Phase 4: read everything once, judge by one of the two analysers, verify every claim."""
        chosen = self.chosen_aspects
        evidence = await self.evidence(found, ingested, lambda share, detail: step(share * 0.3, detail))
        await step(0.3, "Judging the evidence")
        judgement, evidence = await self._judge(evidence, chosen, lambda share, detail: step(0.3 + share * 0.6, detail))
        await step(0.9, "Verifying citations")
        return await self.judged(judgement, evidence)

    async def judged(self, judgement: Judgement, evidence: Evidence) -> Data:
        """Verify every claim of a judgement, whoever made it, and return what the last phase needs."""
        verified, count = await asyncio.to_thread(verify, judgement, evidence)
        for note in count.notes:
            log.warning("review %s: dropped: %s", self.request.review_id, note)
        return {
            "judgement": verified.model_copy(update={"remarks": evidence.remarks}).model_dump(mode="json"),
            "citations": count.counts().model_dump(),
            "documents": len(evidence.documents),
            "notes": [shorten(note, 200) for note in (*evidence.unresolved, *count.notes)],
        }

    async def generate(self, step: Step, found: Data, fetched: Data, ingested: Data, judged: Data) -> Data:
        """Phase 5: the contract's objects, and the Markdown."""
        judgement = Judgement.model_validate(judged["judgement"])
        result = ReviewResult(
            application=application_of(found, fetched, ingested),
            review=assemble_review(judgement, self.request.options, document_counts(fetched, ingested)),
            metadata=self._metadata(found, judged, judgement, fetched, ingested),
        )
        await step(0.3, "Writing the review")
        markdown = await asyncio.to_thread(render_markdown, result)
        review = result.review.model_copy(update={"full_markdown": markdown})
        return result.model_copy(update={"review": review}).model_dump(mode="json")

    def result(self, done: Data) -> ReviewResult:
        """Return the result with the times of all phases, including those that an earlier try completed."""
        result = ReviewResult.model_validate(done)
        times = {"processing_time_seconds": round(sum(self.seconds.values())), "phase_seconds": dict(self.seconds)}
        return result.model_copy(update={"metadata": result.metadata.model_copy(update=times)})

    async def _judge(self, evidence: Evidence, chosen: tuple[Aspect, ...], step: Step) -> tuple[Judgement, Evidence]:
        """Return the judgement, and the evidence with what was looked up for it."""
        if self.settings.trigpoint_model is None:
            return await asyncio.to_thread(judge_by_rules, evidence, chosen), evidence
        # pydantic-ai takes a second to import, and rules do without
        from trigpoint.review.agent.judging import judge_by_model

        kept = self.settings.data_dir / "transcripts" / f"{self.request.review_id}.jsonl"
        judging = await judge_by_model(
            evidence,
            chosen,
            settings=self.settings,
            policy=PolicyDesk(self.tools, evidence.effective_date, evidence.profile.authority),
            checkpoints=self.checkpoints,
            step=step,
            transcript=kept if self.settings.review_transcripts else None,
        )
        return judging.judgement, judging.evidence

    async def _ingest_one(self, path: str, reading: ReadingProgress) -> Ingest:
        arguments = {"file_path": path, "application_ref": self.request.application_ref}

        async def progress(done: float, total: float | None, place: str | None) -> None:
            await reading.reached(path, min(done / total, 0.99) if total else 0.0, place)

        try:
            answer = await self.tools.call("document-store", "ingest_document", arguments, progress=progress)
        except TrigpointError as error:
            if error.code in WAITED_FOR:
                raise
            failed = Ingest.failed(error)
            level = logging.WARNING if failed.fault else logging.INFO  # the review itself names files without text
            log.log(level, "review %s: a document was not read: %s", self.request.review_id, error.code)
            return failed
        if answer["status"] not in ("success", "already_ingested"):
            return Ingest("skipped", account=answer.get("account"))
        return Ingest("ingested", answer["document_id"], answer.get("account"))

    def _metadata(self, found: Data, judged: Data, judgement: Judgement, fetched: Data, ingested: Data) -> Metadata:
        used = revisions_used(judgement)
        return Metadata(
            model=judgement.model,
            analyser=judgement.analyser,
            total_tokens_used=judgement.tokens,
            documents_analysed=judged["documents"],
            policy_sources_referenced=len({revision.source for revision in used}),
            policy_effective_date=found["effective_date"],
            policy_date_from=found.get("effective_date_from", "date_validated"),
            policy_revisions_used=used,
            citations=CitationCounts.model_validate(judged["citations"]),
            documents=document_counts(fetched, ingested),
            options=self.request.options.model_dump(mode="json"),
            fallback_from=judgement.fallback_from,
            quality=judgement.quality,
            notes=(*found.get("notes", ()), *judgement.notes, *judged["notes"]),
        )

    def _step(self, phase: Phase) -> Step:
        before = sum(p.weight for p in PHASES[: phase.number - 1])
        highest = before

        async def step(share: float, detail: str) -> None:
            nonlocal highest
            highest = max(highest, min(99, before + int(phase.weight * min(1.0, max(0.0, share)))))
            await self.report(Progress(phase.name, phase.number, len(PHASES), highest, detail))

        return step


POLICY_DATES = ("date_validated", "date_received", "date_of_documents")
"""Dates of an application of which the first that is known decides which policy applies."""

_BEGINNINGS = {
    "fetching_metadata": "Looking the application up",
    "downloading_documents": "Downloading documents",
    "ingesting_documents": "Reading documents",
    "analysing_application": "Gathering evidence",
    "generating_review": "Writing the review",
}


async def _guarded(work: Callable[[], Awaitable[Data]], failure: type[ReviewFailed]) -> Data:
    """Do a phase's work. Raises our own errors as the phase's failure, and anything unforeseen as it is."""
    try:
        return await work()
    except ReviewFailed:
        raise
    except ExceptionGroup as group:
        first = next((e for e in group.exceptions if isinstance(e, ReviewFailed)), group.exceptions[0])
        if isinstance(first, ReviewFailed):
            raise first from None
        if isinstance(first, TrigpointError):
            raise failure(first.message) from None
        raise first from None
    except TrigpointError as error:
        raise failure(error.message) from None
