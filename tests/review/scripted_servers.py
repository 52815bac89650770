"""The three servers as the pipeline sees them, answering from what a test put in; and checkpoints that are JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from review_samples import digest_passages

REF = "25/01178/REM"
TEXT = "The shared path is 2.5m wide. Cycle parking is provided at 1 space per bedroom in secure and covered stores."


class Servers:
    """The three servers as the pipeline sees them, answering from what a test put in."""

    def __init__(self, *, details: dict[str, Any] | None = None, files: int = 2, **answers: Any) -> None:
        self.details = {"reference": REF, "date_validated": "2025-05-21", "date_received": "2025-05-15"} | (
            details or {}
        )
        self.files = files
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
        return {"status": "success", "document_id": "d", "chunks_created": 1}

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


class Kept:
    def __init__(self) -> None:
        self.kept: dict[str, str] = {}

    async def load(self, phase: str) -> dict[str, Any] | None:
        return json.loads(self.kept[phase]) if phase in self.kept else None

    async def save(self, phase: str, data: dict[str, Any]) -> None:
        self.kept[phase] = json.dumps(data)
