"""The three servers as the pipeline sees them, answering from what a test put in; and checkpoints that are JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from review_samples import HOMES, digest_passages, placed_provisions

from trigpoint.review.evidence import PlacedProvision

REF = "25/01178/REM"
TEXT = (
    "The shared path is 2.5m wide. Cycle parking is proposed at 1 cycle space per bedroom in secure and covered stores."
)


STANDARD = {
    "source": "HEREFORD_SPD",
    "revision_id": "rev_HEREFORD_SPD_2023_01",
    "version_label": "2023",
    "section": "Table 7",
    "note": "",
    "rates": [
        {"name": "cycle_parking_long_stay", "use": "dwellings", "count": 2, "unit": "bedroom"},
        {"name": "cycle_parking_short_stay", "use": "dwellings", "count": 1, "of": 20, "unit": "dwelling"},
    ],
}


class Servers:
    """The three servers as the pipeline sees them, answering from what a test put in."""

    def __init__(
        self, *, details: dict[str, Any] | None = None, files: int = 2, local_standard: bool = False, **answers: Any
    ) -> None:
        self.details = {
            "reference": REF,
            "proposal": HOMES,
            "date_validated": "2025-05-21",
            "date_received": "2025-05-15",
        } | (details or {})
        self.files = files
        self.local_standard = local_standard
        self.answers = answers
        self.calls: list[tuple[str, dict[str, Any]]] = []

    async def call(self, server: str, tool: str, args: dict[str, Any], *, progress: Any = None) -> dict[str, Any]:
        await asyncio.sleep(0)
        self.calls.append((tool, args))
        given = self.answers.get(tool)
        if isinstance(given, list):
            given = given.pop(0)
        if isinstance(given, BaseException):
            raise given
        if given is not None:
            return dict(given)
        if tool == "download_all_documents" and progress:
            await progress(1, 2, "Downloading 2 documents")
        return json.loads(json.dumps(getattr(self, f"_{tool}")(args)))

    def count(self, tool: str) -> int:
        return sum(name == tool for name, _ in self.calls)

    def _get_application_details(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"status": "success", "application": self.details}

    def _download_all_documents(self, args: dict[str, Any]) -> dict[str, Any]:
        downloads = [{"file_path": f"/d/{n}.pdf", "status": "downloaded"} for n in range(self.files)]
        return {"downloads": downloads, "failed_downloads": 0, "total_documents": self.files, "filtered_count": 0}

    def _ingest_document(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"status": "success", "document_id": "25_01178_REM_a1b2c3", "chunks_created": 1}

    def _search_application_docs(self, args: dict[str, Any]) -> dict[str, Any]:
        meta = {
            "application_ref": REF,
            "document_id": "25_01178_REM_a1b2c3",
            "source_file": "TA.pdf",
            "page_numbers": "4",
            "chunk_index": 0,
        }
        return {
            "results": [
                {"chunk_id": "25_01178_REM_a1b2c3_004_000", "text": TEXT, "relevance_score": 0.5, "metadata": meta}
            ]
        }

    def _list_ingested_documents(self, args: dict[str, Any]) -> dict[str, Any]:
        return {"documents": [{"document_id": "25_01178_REM_a1b2c3"}] if self.files else []}

    def _get_document_text(self, args: dict[str, Any]) -> dict[str, Any]:
        pages = [{"number": number, "start": 0, "end": 0} for number in range(1, 4)]
        pages.append({"number": 4, "start": 0, "end": len(TEXT)})
        return {"file_path": "/d/TA.pdf", "document_type": "transport_assessment", "text": TEXT, "pages": pages}

    def _get_provisions(self, args: dict[str, Any]) -> dict[str, Any]:
        placed = placed_provisions(args["effective_date"])
        chosen = [one for name in args["provision_ids"] for one in placed.get(name, ())]
        answer = {"provisions": [_provision(one) for one in chosen], "unavailable": [], "warnings": []}
        return answer | {"parking_standards": [STANDARD] if self.local_standard else []}

    def _get_policy_section(self, args: dict[str, Any]) -> dict[str, Any]:
        wanted = args["source"], args["section_ref"], args["revision_id"]
        if wanted[0] == STANDARD["source"]:
            return {"section_ref": "Table 7", "page_numbers": [41], "text": "Homes: 2 cycle spaces per bedroom."}
        passages = [p for day in ("2024-01-01", "2025-06-01") for p in digest_passages(day).values()]
        return {"text": next(p.text for p in passages if (p.source, p.section_ref, p.revision_id) == wanted)}

    def _search_policy(self, args: dict[str, Any]) -> dict[str, Any]:
        passages = [
            p for p in digest_passages(args["effective_date"]).values() if args.get("sources") in (None, [p.source])
        ]
        found = [
            {"chunk_id": p.id, "text": p.text, "relevance_score": 0.5, "source": p.source, "revision_id": p.revision_id}
            | {"version_label": p.version_label, "section_ref": p.section_ref, "page_number": 1}
            for p in passages
        ]
        return {"results": found[: 1000 if args["n_results"] > 1 else 1]}


def _provision(placed: PlacedProvision) -> dict[str, Any]:
    passage = placed.passage
    return {
        "provision_id": placed.provision_id,
        "title": placed.title,
        "requires": placed.requires,
        "source": passage.source,
        "revision_id": passage.revision_id,
        "version_label": passage.version_label,
        "section_ref": passage.section_ref,
        "state": "found",
        "excerpt": passage.text,
        "page_number": passage.page,
    }


class Kept:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def load(self, phase: str) -> dict[str, Any] | None:
        return json.loads(self.kept[phase]) if phase in self.kept else None

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        self.kept[phase] = json.dumps(data)
