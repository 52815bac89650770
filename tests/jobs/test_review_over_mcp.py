"""A review by the real pipeline, over real MCP: phases, failures, request ids, cancellation in a tool call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fake_servers import DOCUMENTS, FakeServers
from redis.asyncio import Redis
from watched_pipeline import until, until_status

from serving_api import serving
from trigpoint.config import Settings
from trigpoint.errors import ServerUnreachable
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.reviews import Reviews
from trigpoint.jobs.tools import McpTools
from trigpoint.jobs.worker import Worker
from trigpoint.mcp.client import ToolClient

REF = "25/01178/REM"


@pytest.fixture
def at_work(redis: Redis, fakes: FakeServers, job_settings: Callable[..., Settings]) -> Any:
    @asynccontextmanager
    async def run(**overrides: Any) -> AsyncIterator[None]:
        stop = asyncio.Event()
        task = asyncio.create_task(Worker(redis, job_settings(**fakes.settings(), **overrides)).run(stop))
        try:
            yield
        finally:
            fakes.hold.clear()
            stop.set()
            await asyncio.wait_for(task, 15)

    return run


async def submit(reviews: Reviews, ref: str = REF) -> str:
    return (await reviews.create(ref, None, None, request_id="trace-42")).review_id


async def test_a_review_completes_and_each_document_is_ingested_once(
    reviews: Reviews, fakes: FakeServers, at_work: Any
) -> None:
    async with at_work():
        review_id = await submit(reviews)
        assert await until_status(reviews, review_id, "completed", "failed", seconds=30) == "completed"
    result = (await reviews.get(review_id)).result()
    assert result.application.documents_fetched == len(DOCUMENTS)
    assert result.metadata.policy_effective_date == "2025-02-07"
    assert fakes.times("download_all_documents") == 1
    assert fakes.times("ingest_document") == len(DOCUMENTS)


@pytest.mark.parametrize(
    "tool",
    [
        "get_application_details",
        "download_all_documents",
        "ingest_document",
        "get_document_text",
        "get_provisions",
    ],
)
async def test_a_store_that_is_down_for_a_while_in_any_phase_is_waited_for(
    reviews: Reviews, fakes: FakeServers, at_work: Any, tool: str
) -> None:
    fakes.away[tool] = 2
    async with at_work():
        review_id = await submit(reviews)
        assert await until_status(reviews, review_id, "completed", "failed", seconds=30) == "completed"
    assert fakes.away[tool] == 0
    result = (await reviews.get(review_id)).result()
    assert result.application.documents_ingested == len(DOCUMENTS)


async def test_an_unknown_application_is_a_scraper_error(reviews: Reviews, at_work: Any) -> None:
    """R6"""
    async with at_work():
        review_id = await submit(reviews, "99/99999/F")
        await until_status(reviews, review_id, "failed")
    error = (await reviews.get(review_id)).error
    assert error == '{"code":"scraper_error","message":"Application not found on Cherwell planning portal"}'


@pytest.mark.parametrize(
    "tool", ["get_application_details", "download_all_documents", "ingest_document", "get_document_text"]
)
async def test_a_cancel_stops_the_review_in_the_middle_of_a_tool_call(
    reviews: Reviews, redis: Redis, fakes: FakeServers, at_work: Any, tool: str
) -> None:
    """R4"""
    fakes.hold = {tool}
    async with at_work():
        review_id = await submit(reviews)
        await asyncio.to_thread(fakes.event(tool).wait, 15)
        await reviews.cancel(review_id)

        async def gone() -> bool:
            return not await Queue(redis).exists(review_id)

        await until(gone, seconds=8)
        fakes.hold.clear()
        await asyncio.sleep(0.2)
    assert (await reviews.get(review_id)).status == "cancelled"


async def test_progress_of_a_cancelled_review_writes_no_traceback_to_the_log(
    reviews: Reviews, redis: Redis, fakes: FakeServers, at_work: Any, caplog: pytest.LogCaptureFixture
) -> None:
    fakes.hold = {"download_all_documents"}
    async with at_work():
        review_id = await submit(reviews)
        await asyncio.to_thread(fakes.event("download_all_documents").wait, 15)
        await reviews.cancel(review_id)
        fakes.hold.clear()  # it reports its progress before the worker has noticed

        async def gone() -> bool:
            return not await Queue(redis).exists(review_id)

        await until(gone, seconds=8)
    assert [record.message for record in caplog.records if record.exc_info] == []
    assert (await reviews.get(review_id)).status == "cancelled"


async def test_a_server_that_is_away_for_a_moment_is_waited_for(
    reviews: Reviews, fakes: FakeServers, at_work: Any, free_port: Callable[[], int]
) -> None:
    port = free_port()
    fakes.urls["scraper"] = f"http://127.0.0.1:{port}"
    async with at_work():
        review_id = await submit(reviews)
        await until_status(reviews, review_id, "processing")
        await asyncio.sleep(0.3)
        with serving(fakes.server("scraper").app(), port):
            assert await until_status(reviews, review_id, "completed", "failed", seconds=30) == "completed"


async def test_a_connection_that_is_cancelled_while_it_opens_is_told_and_keeps_nobody_waiting(
    job_settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The protocol's library cancels its own tasks when a connection breaks: a job must not wait for that for ever."""

    async def cancelled(self: ToolClient) -> ToolClient:
        raise asyncio.CancelledError

    monkeypatch.setattr(ToolClient, "__aenter__", cancelled)
    async with McpTools(job_settings(), patience=0) as tools:
        for _ in range(2):  # the second shows that the first has let go of what it held
            with pytest.raises(ServerUnreachable, match="broke off while it was opened"):
                await asyncio.wait_for(tools.call("scraper", "get_application_details", {}), 5)
