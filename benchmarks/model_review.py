"""Run a review led by a model over a labelled application: `python -m benchmarks.model_review APPLICATION --out FOLDER`.

APPLICATION is the name of one in `benchmarks/reading/written` or of the shared data, or a folder with `application.json`
and `documents/`. The model is that of the settings (`TRIGPOINT_MODEL`); what must be reported is never shown to it. The
policy server is a real one, and PDFs are read by the product's own document store, scanned pages included. Every answer
of the model is kept in the output folder before it is used, so that a run that was stopped goes on where it was: start it
again with the same command.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.reading.applications import LabelledApplication, own_applications, shared_applications
from trigpoint.config import load_settings
from trigpoint.documents.ingest import SUPPORTED
from trigpoint.mcp.local_servers import local_servers
from trigpoint.reading.documents import pages_by_form_feed
from trigpoint.registers.entries import RegisterTable, load_registers
from trigpoint.review.findings import Finding
from trigpoint.review.formats import FORMATS
from trigpoint.review.models import Progress, ReviewOptions, ReviewRequest, Server, ToolProgress, Tools
from trigpoint.review.pipeline import run_review
from trigpoint.review.result import ReviewResult
from trigpoint.storage.files import write_atomic
from trigpoint.text.classify import DocumentClassifier

REVIEW_ID = "model_review"


def find_application(name: str) -> LabelledApplication:
    """Return the application of a name or folder. Raises SystemExit if there is none."""
    folder = Path(name)
    if (folder / "application.json").exists():
        return next(one for one in own_applications(folder.parent) if one.name == folder.resolve().name)
    known = {one.name: one for one in (*own_applications(), *shared_applications())}
    if name not in known:
        raise SystemExit(f"There is no application {name!r}. There are: {', '.join(known)}")
    return known[name]


class FolderTools:
    """Answers for the register from a labelled application. Policy is the real server's, and so are PDFs and pictures: the
    document store reads them as the product does, scanned pages by OCR. Texts have no reader in the product; their pages
    are separated by form feeds.
    """

    def __init__(self, application: LabelledApplication, servers: Tools, register: dict[str, Any]) -> None:
        self.servers = servers
        self.details = _details(application.about)
        self.register = register
        texts = [path for path in application.paths if path.suffix.lower() not in SUPPORTED]
        self.texts = {path.name: path.read_text() for path in texts}
        self.files = [path.name if path in texts else str(path) for path in application.paths]

    async def call(
        self, server: Server, tool: str, args: dict[str, Any], *, progress: ToolProgress | None = None
    ) -> dict[str, Any]:
        if server == "scraper":
            answer: dict[str, Any] = getattr(self, f"_{tool}")()
            return answer
        given = args.get("file_path") or args.get("document_id")
        if server == "document-store" and given in self.texts:
            return getattr(self, f"_{tool}")(str(given))  # type: ignore[no-any-return]
        answer = await self.servers.call(server, tool, args, progress=progress)
        if tool == "list_ingested_documents":
            return {**answer, "documents": [*answer["documents"], *({"document_id": name} for name in self.texts)]}
        return answer

    def _get_application_details(self) -> dict[str, Any]:
        return {"application": self.details, "register_entry": self.register}

    def _download_all_documents(self) -> dict[str, Any]:
        files = [{"file_path": file, "status": "downloaded"} for file in self.files]
        return {"downloads": files, "failed_downloads": 0, "total_documents": len(files), "filtered_count": 0}

    def _ingest_document(self, name: str) -> dict[str, Any]:
        count = len(_pages(self.texts[name]))
        account = {"page_count": count, "pages_read": count, "pages_by_ocr": 0, "pages_not_read": []}
        return {"status": "success", "document_id": name, "account": account}

    def _get_document_text(self, name: str) -> dict[str, Any]:
        text = self.texts[name]
        kind = DocumentClassifier().classify(name, text).document_type
        return {"file_path": name, "document_type": kind, "text": text, "pages": _pages(text)}


def _pages(text: str) -> list[dict[str, int]]:
    return [page.model_dump() for page in pages_by_form_feed(text)] or [{"number": 1, "start": 0, "end": len(text)}]


def _details(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return the register's entry. Nothing else of `application.json` is used."""
    known = about.get("register") or {"reference": about["application"], "address": about.get("site", "")}
    day = str(known.get("date_validated") or about.get("date") or "")
    if re.fullmatch(r"\d{4}-\d{2}", day):
        known, day = {**known, "date_validated": None}, f"{day}-01"
    return {**known, "date_of_documents": day or None}


def register_of(about: Mapping[str, Any], table: RegisterTable) -> dict[str, Any]:
    """Return the authority as a register tells it: its slug, its name, and its address if the table has it."""
    name = about.get("authority") or ""
    entry = table.by_name(name)
    if entry is not None:
        return {"authority": entry.authority, "name": entry.name, "post": entry.post}
    return {"authority": "-".join(re.findall(r"[a-z0-9]+", name.lower())), "name": name or None}


class FileCheckpoints:
    """Checkpoints as files, so that a stopped run goes on where it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def _file(self, phase: str) -> Path:
        return self.folder / f"{re.sub(r'[^a-z0-9_]+', '-', phase)}.json"

    async def load(self, phase: str) -> dict[str, Any] | None:
        file = self._file(phase)
        return json.loads(file.read_text()) if file.exists() else None

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        write_atomic(self._file(phase), json.dumps(data, ensure_ascii=False).encode())


async def _show(progress: Progress) -> None:
    print(f"{progress.percent_complete:3d} % {progress.detail}", file=sys.stderr, flush=True)


async def review(application: LabelledApplication, out: Path) -> ReviewResult:
    """Return the review, and leave its checkpoints and its transcript in a folder."""
    folders = tuple({path.parent for path in application.paths})
    settings = load_settings(trigpoint_data_dir=out / "data", review_transcripts=True, document_roots=folders)
    register = register_of(application.about, load_registers(settings))
    request = ReviewRequest(REVIEW_ID, _details(application.about)["reference"], ReviewOptions(), folder="given")
    async with local_servers(settings) as (tools, local):
        return await run_review(
            request,
            tools=FolderTools(application, tools, register),
            checkpoints=FileCheckpoints(out / "checkpoints"),
            report=_show,
            settings=local,
        )


def scoring_sheet(application: LabelledApplication, result: ReviewResult) -> str:
    """Return findings and what must be reported in a form to be scored by a person."""
    lines = [f"# {application.name}: a sheet to score", "", result.review.summary, "", "## Ratings"]
    wanted = application.about.get("officer_would_rate", {})
    given = {one.id: one.shown_rating for one in result.review.aspects} | {"overall": result.review.shown_rating}
    lines += [
        f"- {name}: {rating}, an officer would say {wanted.get(name, 'nothing')}" for name, rating in given.items()
    ]
    findings = [one for aspect in result.review.aspects for one in aspect.findings]
    findings += result.review.general_contradictions()
    lines += [
        "",
        "## Findings: right, wrong, overstated or repeated?",
        *(_line(n, f) for n, f in enumerate(findings, 1)),
    ]
    lines += ["", "## Must be reported: which finding does?"]
    lines += [wanted_point(n, one, findings) for n, one in enumerate(application.about.get("must_report", ()), 1)]
    lines += ["", "## Must not be said: is it?"]
    lines += [f"- [ ] {one['claim']} ({one['because']})" for one in application.about.get("must_not_say", ())]
    quality = result.metadata.quality
    if quality is not None:
        lines += ["", "## How it was made", "```", quality.model_dump_json(indent=1), "```", *result.metadata.notes]
    return "\n".join(lines) + "\n"


def _line(number: int, finding: Finding) -> str:
    places = "; ".join(f"{one.place}: “{one.quote}”" for one in finding.evidence)
    policy = ", ".join(f"{one.ref} “{one.quote}”" for one in finding.policy)
    sums = "; ".join(one.expression for one in finding.calculations)
    told = "; ".join((*(f"limited by: {one.text}" for one in finding.limits), *finding.flags))
    parts = (("policy", policy), ("sums", sums), ("told with it", told))
    more = "".join(f"\n      {name}: {text}" for name, text in parts if text)
    return f"- [ ] {number}. {finding.check} **{finding.outcome}**: {finding.text}\n      {places}{more}"


def wanted_point(number: int, one: Mapping[str, Any], findings: list[Finding]) -> str:
    """Return a point that must be reported, with the findings that quote one of its pages."""
    places = set(_places(one))
    near = [
        str(n)
        for n, finding in enumerate(findings, 1)
        if any((Path(cited.document).stem, page) in places for cited in finding.evidence for page in cited.pages)
    ]
    return f"- [ ] M{number} ({one['kind']}): {one['point']}\n      findings that quote one of its pages: {', '.join(near) or 'none'}"


def _places(one: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield the documents, by name without ending, and pages of a point: listed as places, or as two lists side by side."""
    yield from ((Path(place["doc"]).stem, place["page"]) for place in one.get("where", ()))
    names = one.get("documents", ())
    for name, pages in zip(names, one.get("pages", ()) if names else (), strict=False):
        yield from ((Path(name).stem, page) for page in (pages if isinstance(pages, list) else [pages]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("application")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    out: Path = asked.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    application = find_application(asked.application)
    result = asyncio.run(review(application, out))
    for name, kind in FORMATS.items():
        write_atomic(out / kind.file_name.format(name.value), kind.render(result))
    write_atomic(out / "score.md", scoring_sheet(application, result).encode())
    print(result.metadata.documents.reading)
    print(f"The review is in {out}, what is to be scored in {out / 'score.md'}")
    print(f"The transcript is {out / 'data' / 'transcripts' / f'{REVIEW_ID}.jsonl'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
