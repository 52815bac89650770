"""The scraper, the document store and the policy server as local fakes: real MCP over HTTP, answers from this file.

Every call is remembered. A tool in `hold` waits until it is released, so that a test can act in the middle of a phase.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from serving_api import serving
from trigpoint.config import load_settings
from trigpoint.errors import TrigpointError
from trigpoint.mcp.server import Tool, ToolCall, ToolServer
from trigpoint.policies.models import IngestPhase, IngestStage

DOCUMENTS = ("Transport Assessment.pdf", "Travel Plan.pdf", "Design and Access Statement.pdf")


class Anything(BaseModel):
    model_config = ConfigDict(extra="allow")


class NotThere(TrigpointError):
    code = "application_not_found"


class StoreAway(TrigpointError):
    """As a server says it whose own store is down."""

    code = "store_unavailable"


class FakeServers:
    """What was called, and what happens when it is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.hold: set[str] = set()
        self.entered: dict[str, threading.Event] = {}
        self.ingested: set[str] = set()
        self.urls: dict[str, str] = {}
        self.failing: set[str] = set()
        self.away: dict[str, int] = {}
        self.tools = {
            "scraper": (self.get_application_details, self.download_all_documents),
            "document-store": (
                *(self.ingest_document, self.search_application_docs),
                *(self.list_ingested_documents, self.get_document_text),
            ),
            "policy-kb": (
                *(self.search_policy, self.list_policy_revisions, self.get_policy_section, self.get_provisions),
                *(self.ingest_policy_revision, self.remove_policy_revision),
            ),
        }

    def times(self, tool: str, **args: Any) -> int:
        return sum(name == tool and args.items() <= given.items() for name, given in self.calls)

    def event(self, tool: str) -> threading.Event:
        return self.entered.setdefault(tool, threading.Event())

    def server(self, name: str) -> ToolServer:
        tools = [
            Tool(handler.__name__, handler.__name__, Anything, Anything, self._watched(handler))
            for handler in self.tools[name]
        ]
        return ToolServer(name, tools, load_settings(trigpoint_data_dir=self.folder))

    def _watched(self, handler: Any) -> Any:
        async def call_tool(given: Anything, call: ToolCall) -> dict[str, Any]:
            name, args = handler.__name__, dict(given.model_extra or {})
            self.calls.append((name, args))
            self.event(name).set()
            while name in self.hold:  # noqa: ASYNC110  released from another thread
                await asyncio.sleep(0.02)
            if self.away.get(name, 0) > 0:
                self.away[name] -= 1
                raise StoreAway("Redis cannot be reached")
            if name in self.failing:
                raise RuntimeError("broken")
            answer: dict[str, Any] = await handler(args, call)
            return {"status": "success", **answer}

        return call_tool

    async def get_application_details(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        reference = args["application_ref"]
        if reference.startswith("99/"):
            raise NotThere("Application not found on Cherwell planning portal")
        application = {
            "reference": reference,
            "address": "Gavray Drive",
            "proposal": "200 dwellings",
            "applicant": "C",
            "status": "Under consideration",
            "consultation_end": "2025-03-01",
            "date_validated": "2025-02-07",
            "date_received": "2025-02-01",
        }
        return {"application": application}

    async def download_all_documents(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        reference = args["application_ref"].replace("/", "_")
        downloads = [{"file_path": str(self.folder / reference / name)} for name in DOCUMENTS]
        await call.progress(len(downloads), len(downloads), f"Downloaded {len(downloads)} documents")
        return {"downloads": downloads, "failed_downloads": 0, "total_documents": 3, "filtered_count": 0}

    async def ingest_document(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        path = args["file_path"]
        if path in self.ingested:
            return {"status": "already_ingested", "document_id": Path(path).stem}
        self.ingested.add(path)
        return {"status": "success", "document_id": Path(path).stem}

    async def search_application_docs(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"results": [], "results_count": 0}

    async def list_ingested_documents(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"documents": [{"document_id": Path(path).stem} for path in sorted(self.ingested)]}

    async def get_document_text(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        text = "Cycle parking is proposed."
        pages = [{"number": 1, "start": 0, "end": len(text)}]
        return {"file_path": f"{args['document_id']}.pdf", "document_type": "other", "text": text, "pages": pages}

    async def get_provisions(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"provisions": [], "unavailable": [], "warnings": []}

    async def search_policy(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"results": [], "results_count": 0}

    async def list_policy_revisions(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"source": args["source"], "revision_count": 0, "revisions": []}

    async def get_policy_section(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        raise TrigpointError("no such section")

    async def ingest_policy_revision(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        await call.progress(50, 100, IngestStage(IngestPhase.EMBEDDING, 12, 24).as_message())
        while "after_progress" in self.hold:  # noqa: ASYNC110  released from another thread
            await asyncio.sleep(0.02)
        if b"broken" in Path(args["file_path"]).read_bytes():  # noqa: ASYNC240
            raise TrigpointError("The PDF cannot be read: it is damaged")
        return {"chunks_created": 24, "page_count": 3, "extraction_method": "text_layer"}

    async def remove_policy_revision(self, args: dict[str, Any], call: ToolCall) -> dict[str, Any]:
        return {"chunks_removed": 24}

    def settings(self) -> dict[str, str]:
        """Where to find them, as settings."""
        return {
            "cherwell_scraper_url": self.urls["scraper"],
            "document_store_url": self.urls["document-store"],
            "policy_kb_url": self.urls["policy-kb"],
        }


@contextmanager
def fake_servers(folder: Path) -> Iterator[FakeServers]:
    fakes = FakeServers(folder)
    with ExitStack() as stack:
        for name in fakes.tools:
            fakes.urls[name] = stack.enter_context(serving(fakes.server(name).app()))
        try:
            yield fakes
        finally:
            fakes.hold.clear()
