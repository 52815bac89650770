"""The pages in a real browser: when the largest content is painted, with nothing kept from before; and the server's share.

The server is a process of its own with a list of reviews in it, one of them finished. A document store has the document that this
review quotes, so that its page shows strips of it.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pymupdf

from benchmarks.report import Report, percentile_ms
from benchmarks.serving import document_store, serving
from trigpoint.config import load_settings
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.mcp.client import ToolClient
from trigpoint.review.result import ReviewResult
from trigpoint.storage.redis import redis_client, redis_server

VISITS = int(os.environ.get("BENCH_PAGES_VISITS", "7"))
REVIEWS = 40
BAR_MS = "<= 1000"
TEXT = "Long-stay cycle parking is below one space per bedroom for the larger homes of the development. "
QUOTED_PAGE = 11
_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_LARGEST_PAINT = """() => new Promise(answer => new PerformanceObserver(list => {
  const entries = list.getEntries(); answer(entries[entries.length - 1].startTime);
}).observe({type: "largest-contentful-paint", buffered: true}))"""


def run(report: Report) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        redis_server(load_settings(trigpoint_data_dir=Path(folder))) as redis_url,
        document_store({"TRIGPOINT_DATA_DIR": folder}) as (documents, _),
    ):
        finished = asyncio.run(_fill(redis_url, documents, Path(folder)))
        environment = {"TRIGPOINT_DATA_DIR": folder, "REDIS_URL": redis_url, "DOCUMENT_STORE_URL": documents}
        with serving("trigpoint.api.app:create_app", environment) as port:
            address = f"http://127.0.0.1:{port}"
            pages = {"first page": "/", "list of reviews": "/reviews", "a review": f"/reviews/{finished}"}
            _strip(report, f"{address}/reviews/{finished}/evidence/1/strip.png")
            _answers(report, address, pages)
            _paint(report, address, pages)


def _strip(report: Report, address: str) -> None:
    """The first drawing of a strip: later ones come from memory."""
    start = time.perf_counter()
    answer = httpx.get(address, trust_env=False, timeout=30)
    answer.raise_for_status()
    report.row("strip of a document, first time", (time.perf_counter() - start) * 1000, "ms")


def _answers(report: Report, address: str, pages: dict[str, str]) -> None:
    with httpx.Client(base_url=address, trust_env=False) as client:
        for name, place in pages.items():
            p50, p95 = percentile_ms(partial(client.get, place), 30)
            report.row(f"{name}: answered, p50", p50, "ms")
            report.row(f"{name}: answered, p95", p95, "ms")


def _paint(report: Report, address: str, pages: dict[str, str]) -> None:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        report.skip("largest contentful paint: no chromium on this machine")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        for name, place in pages.items():
            taken = [_visit(browser, address + place) for _ in range(VISITS)]
            report.row(f"{name}: largest content painted, median", statistics.median(taken), "ms", bar=BAR_MS)
        browser.close()


def _visit(browser: Any, address: str) -> float:
    """One visit by somebody who was never here."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        page = context.new_page()
        page.goto(address)
        return float(page.evaluate(_LARGEST_PAINT))
    finally:
        context.close()


async def _fill(redis_url: str, documents: str, folder: Path) -> str:
    """Forty reviews, the first of them finished, with as many findings as a large one has."""
    async with redis_client(redis_url) as redis:
        reviews = Reviews(redis)
        made = [await reviews.create(f"25/{10000 + n}/F", None, None, request_id="-") for n in range(REVIEWS)]
        lease = await Queue(redis).claim("bench")
        assert lease is not None
        await reviews.start(lease)
        document_id = await _ingest(documents, folder, made[0].application_ref)
        await reviews.complete(lease, made[0].application_ref, _large_result(document_id))
        return made[0].review_id


async def _ingest(documents: str, folder: Path, application_ref: str) -> str:
    """Make the document that the finished review quotes and give it to the document store. Return its id."""
    path = folder / "Transport Assessment.pdf"
    with pymupdf.open() as document:
        for _ in range(QUOTED_PAGE):
            document.new_page().insert_textbox((72, 72, 520, 400), TEXT * 8)
        document.save(path)
    async with ToolClient(documents) as client:
        answer = await client.call("ingest_document", {"file_path": str(path), "application_ref": application_ref})
    return str(answer["document_id"])


def _large_result(document_id: str) -> ReviewResult:
    evidence = {
        "document": "Transport Assessment.pdf",
        "document_id": document_id,
        "pages": [QUOTED_PAGE],
        "passage_id": f"{document_id}_011_018",
        "quote": TEXT * 2,
        "speaks": "partly",
    }
    policy = {
        "source": "LTN_1_20",
        "revision_id": "rev_LTN_1_20_2020_07",
        "version_label": "July 2020",
        "section_ref": "Table 11-1",
        "passage_id": "LTN_1_20__rev_LTN_1_20_2020_07__Table_11-1__0",
        "ref": "LTN 1/20:Table 11-1",
        "quote": TEXT,
    }
    finding = {
        "check": "parking-rate",
        "requirement": "One secure space per bedroom",
        "outcome": "partly",
        "text": TEXT,
        "essential": True,
        "evidence": [evidence] * 5,
        "policy": [policy] * 2,
        "flags": [],
    }
    aspect = {
        "rating": "amber",
        "key_issue": TEXT,
        "detail": TEXT * 4,
        "policy_refs": ["LTN 1/20:Table 11-1"],
        "findings": [finding] * 5,
    }
    row = {"requirement": TEXT, "policy_source": "LTN_1_20", "compliant": False, "notes": TEXT}
    return ReviewResult(
        application={"reference": "25/10000/F", "address": "Gavray Drive", "proposal": TEXT},
        review={
            "overall_rating": "amber",
            "summary": TEXT * 5,
            "aspects": [{"name": f"Aspect {n}", **aspect} for n in range(10)],
            "policy_compliance": [row] * 30,
            "recommendations": [TEXT] * 16,
            "suggested_conditions": [TEXT] * 16,
            "full_markdown": "# Review",
        },
        metadata={"model": "rules", "policy_effective_date": "2025-05-21", "policy_revisions_used": []},
    )
