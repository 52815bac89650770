"""The pages in a real browser: when the largest content is painted, with nothing kept from before; and the server's share.

The server is a process of its own with a list of reviews in it, one of them finished.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from benchmarks.report import Report, percentile_ms
from trigpoint.config import load_settings
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.review.result import ReviewResult
from trigpoint.storage.redis import redis_client, redis_server

VISITS = int(os.environ.get("BENCH_PAGES_VISITS", "7"))
REVIEWS = 40
BAR_MS = "<= 1000"
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
_SERVER = """
import sys, uvicorn
from trigpoint.api.app import create_app
from trigpoint.config import load_settings
uvicorn.run(create_app(load_settings()), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning", access_log=False)
"""
_LARGEST_PAINT = """() => new Promise(answer => new PerformanceObserver(list => {
  const entries = list.getEntries(); answer(entries[entries.length - 1].startTime);
}).observe({type: "largest-contentful-paint", buffered: true}))"""


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(trigpoint_data_dir=Path(folder))
        with redis_server(settings) as redis_url:
            finished = asyncio.run(_fill(redis_url))
            with _serving(folder, redis_url) as address:
                pages = {"first page": "/", "list of reviews": "/reviews", "a review": f"/reviews/{finished}"}
                _answers(report, address, pages)
                _paint(report, address, pages)


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


@contextmanager
def _serving(folder: str, redis_url: str) -> Iterator[str]:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = int(sock.getsockname()[1])
    environment = {**os.environ, "TRIGPOINT_DATA_DIR": folder, "REDIS_URL": redis_url}
    server = subprocess.Popen([sys.executable, "-c", _SERVER, str(port)], env=environment)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(f"{address}/health", trust_env=False)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        server.terminate()
        server.wait()


async def _fill(redis_url: str) -> str:
    """Forty reviews, the first of them finished, with as many findings as a large one has."""
    async with redis_client(redis_url) as redis:
        reviews = Reviews(redis)
        made = [await reviews.create(f"25/{10000 + n}/F", None, None, request_id="-") for n in range(REVIEWS)]
        lease = await Queue(redis).claim("bench")
        assert lease is not None
        await reviews.start(lease)
        await reviews.complete(lease, made[0].application_ref, _large_result())
        return made[0].review_id


def _large_result() -> ReviewResult:
    text = "Long-stay cycle parking is below one space per bedroom for the larger homes of the development. "
    evidence = {
        "document": "Transport Assessment.pdf",
        "document_id": "25_10000_F_0a495d",
        "pages": [11],
        "passage_id": "25_10000_F_0a495d_011_018",
        "quote": text * 2,
        "speaks": "partly",
    }
    policy = {
        "source": "LTN_1_20",
        "revision_id": "rev_LTN_1_20_2020_07",
        "version_label": "July 2020",
        "section_ref": "Table 11-1",
        "passage_id": "LTN_1_20__rev_LTN_1_20_2020_07__Table_11-1__0",
        "ref": "LTN 1/20:Table 11-1",
        "quote": text,
    }
    finding = {
        "check": "parking-rate",
        "requirement": "One secure space per bedroom",
        "outcome": "partly",
        "text": text,
        "essential": True,
        "evidence": [evidence] * 5,
        "policy": [policy] * 2,
        "flags": [],
    }
    aspect = {
        "rating": "amber",
        "key_issue": text,
        "detail": text * 4,
        "policy_refs": ["LTN 1/20:Table 11-1"],
        "findings": [finding] * 5,
    }
    row = {"requirement": text, "policy_source": "LTN_1_20", "compliant": False, "notes": text}
    return ReviewResult(
        application={"reference": "25/10000/F", "address": "Gavray Drive", "proposal": text},
        review={
            "overall_rating": "amber",
            "summary": text * 5,
            "aspects": [{"name": f"Aspect {n}", **aspect} for n in range(10)],
            "policy_compliance": [row] * 30,
            "recommendations": [text] * 16,
            "suggested_conditions": [text] * 16,
            "full_markdown": "# Review",
        },
        metadata={"model": "rules", "policy_effective_date": "2025-05-21", "policy_revisions_used": []},
    )
