"""Policy revisions as jobs: from upload to active over the policy server's tools, progress, failure, delete, reindex."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fake_servers import FakeServers
from redis.asyncio import Redis
from watched_pipeline import until

from serving_api import running_api
from trigpoint.config import Settings
from trigpoint.errors import StoreUnavailable
from trigpoint.jobs.queue import Queue
from trigpoint.jobs.revisions import NOT_QUEUED, IngestionJob
from trigpoint.jobs.worker import Worker
from trigpoint.policies.registry import PolicyRegistry

PDF = b"%PDF-1.7\n% a small one\n"
THIS = "/api/v1/policies/NPPF/revisions/rev_NPPF_2024_12"


class Api:
    """Calls of the running API, off the event loop."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    async def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        return await asyncio.to_thread(self.client.request, method, path, **more)

    async def upload(self, content: bytes = PDF, effective_from: str = "2024-12-15") -> httpx.Response:
        return await self(
            "POST",
            "/api/v1/policies/NPPF/revisions",
            files={"file": ("nppf.pdf", content)},
            data={"version_label": "December 2024", "effective_from": effective_from},
        )

    async def until_status(self, status: str, path: str = THIS) -> dict[str, Any]:
        async def reached() -> dict[str, Any] | None:
            shown: dict[str, Any] = (await self("GET", path)).json()
            return shown if shown.get("status") == status else None

        found: dict[str, Any] = await until(reached)
        return found


@pytest.fixture
def policy_settings(fakes: FakeServers, job_settings: Callable[..., Settings]) -> Settings:
    return job_settings(**fakes.settings())


@pytest.fixture
async def api(policy_settings: Settings) -> AsyncIterator[Api]:
    with running_api(policy_settings) as client:
        api = Api(client)
        policy = {"source": "NPPF", "title": "National Planning Policy Framework", "category": "national_policy"}
        await api("POST", "/api/v1/policies", json=policy)
        yield api


@pytest.fixture
async def worker(redis: Redis, policy_settings: Settings, fakes: FakeServers) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.create_task(Worker(redis, policy_settings).run(stop))
    yield
    fakes.hold.clear()
    stop.set()
    await asyncio.wait_for(task, 15)


async def test_an_upload_becomes_active_with_its_counts(api: Api, worker: None) -> None:
    assert (await api.upload()).status_code == 202
    shown = await api.until_status("active")
    assert (shown["chunk_count"], shown["page_count"], shown["error"]) == (24, 3, None)
    assert shown["ingested_at"] is not None
    assert (await api("GET", f"{THIS}/status")).json() == {
        "revision_id": "rev_NPPF_2024_12",
        "status": "active",
        "progress": {"phase": "complete", "percent_complete": 100, "chunks_processed": 24},
    }
    current = (await api("GET", "/api/v1/policies/NPPF")).json()["current_revision"]
    assert current["revision_id"] == "rev_NPPF_2024_12"
    effective = (await api("GET", "/api/v1/policies/effective?date=2024-12-14")).json()
    assert effective["policies"][0]["effective_revision"] is None
    assert effective["policies_not_yet_effective"] == ["NPPF"]


async def test_progress_is_real(api: Api, worker: None, fakes: FakeServers) -> None:
    fakes.hold = {"after_progress"}
    await api.upload()

    async def embedding() -> Any:
        progress = (await api("GET", f"{THIS}/status")).json()["progress"]
        return progress if progress["phase"] != "pending" else None

    shown = await until(embedding)
    assert shown == {"phase": "embedding", "percent_complete": 50, "chunks_processed": 12}
    fakes.hold.clear()
    await api.until_status("active")


async def test_a_damaged_pdf_ends_as_failed_and_its_predecessor_is_in_force_again(api: Api, worker: None) -> None:
    """P5, P10"""
    await api.upload(effective_from="2023-09-01")
    await api.until_status("active", "/api/v1/policies/NPPF/revisions/rev_NPPF_2023_09")
    answer = await api.upload(b"%PDF-1.7 broken")
    assert answer.json()["side_effects"]["superseded_revision"] == "rev_NPPF_2023_09"
    shown = await api.until_status("failed")
    assert shown["error"] == "The PDF cannot be read: it is damaged"
    older = (await api("GET", "/api/v1/policies/NPPF/revisions/rev_NPPF_2023_09")).json()
    assert (older["status"], older["effective_to"]) == ("active", None)


async def test_delete_removes_passages_entry_and_file(
    api: Api, worker: None, fakes: FakeServers, tmp_path: Path
) -> None:
    """P8"""
    await api.upload()
    await api.until_status("active")
    refused = await api("DELETE", THIS)
    assert refused.status_code == 409
    assert refused.json()["error"] == {
        "code": "cannot_delete_sole_revision",
        "message": "Cannot delete the sole active revision for a policy",
        "details": {"source": "NPPF", "revision_id": "rev_NPPF_2024_12"},
    }
    await api.upload(effective_from="2025-12-01")
    await api.until_status("active", "/api/v1/policies/NPPF/revisions/rev_NPPF_2025_12")
    folder = tmp_path / "data" / "policy" / "NPPF" / "rev_NPPF_2024_12"
    assert folder.is_dir()
    answer = await api("DELETE", THIS)
    assert answer.json() == {
        "source": "NPPF",
        "revision_id": "rev_NPPF_2024_12",
        "status": "deleted",
        "chunks_removed": 24,
    }
    assert (await api("GET", THIS)).json()["error"]["code"] == "revision_not_found"
    assert not folder.exists()


async def test_a_revision_can_be_deleted_while_it_is_ingested(api: Api, worker: None, fakes: FakeServers) -> None:
    fakes.hold = {"ingest_policy_revision"}
    await api.upload()
    await asyncio.to_thread(fakes.event("ingest_policy_revision").wait, 10)
    answer = await api("DELETE", THIS)
    assert answer.status_code == 200, answer.text
    assert (await api("GET", THIS)).status_code == 404
    fakes.hold.clear()


async def test_a_delete_that_broke_off_can_be_repeated(api: Api, worker: None, fakes: FakeServers) -> None:
    """P8"""
    await api.upload(b"%PDF-1.7 broken")
    await api.until_status("failed")
    fakes.failing = {"remove_policy_revision"}
    answer = await api("DELETE", THIS)
    assert answer.status_code == 502
    assert answer.json()["error"]["code"] == "policy_server_failed"
    fakes.failing.clear()
    assert (await api("DELETE", THIS)).json()["chunks_removed"] == 24
    assert (await api("GET", THIS)).status_code == 404


async def test_reindex_keeps_the_revision_in_force_meanwhile(api: Api, worker: None, fakes: FakeServers) -> None:
    """P9"""
    await api.upload()
    await api.until_status("active")
    fakes.event("ingest_policy_revision").clear()
    fakes.hold = {"ingest_policy_revision"}
    answer = await api("POST", f"{THIS}/reindex")
    assert answer.status_code == 202
    assert answer.json() == {
        "revision_id": "rev_NPPF_2024_12",
        "status": "processing",
        "progress": {"phase": "pending", "percent_complete": 0, "chunks_processed": 0},
    }
    await asyncio.to_thread(fakes.event("ingest_policy_revision").wait, 10)
    assert (await api("GET", f"{THIS}/status")).json()["status"] == "processing"
    effective = (await api("GET", "/api/v1/policies/effective?date=2025-01-01")).json()["policies"][0]
    assert effective["effective_revision"]["revision_id"] == "rev_NPPF_2024_12"
    assert (await api("POST", f"{THIS}/reindex")).json()["error"]["code"] == "cannot_reindex"
    fakes.hold.clear()

    async def done() -> bool:
        return bool((await api("GET", f"{THIS}/status")).json()["progress"]["phase"] == "complete")

    await until(done)
    assert fakes.times("ingest_policy_revision") == 2  # the upload, and one reindex


async def test_a_failed_reindex_leaves_chunks_and_status(api: Api, worker: None, tmp_path: Path) -> None:
    """P9"""
    await api.upload()
    await api.until_status("active")
    stored = tmp_path / "data" / "policy" / "NPPF" / "rev_NPPF_2024_12" / "nppf.pdf"
    await asyncio.to_thread(stored.write_bytes, b"%PDF broken")
    await api("POST", f"{THIS}/reindex")

    async def error() -> Any:
        return (await api("GET", THIS)).json()["error"]

    assert await until(error) == "The PDF cannot be read: it is damaged"
    shown = (await api("GET", THIS)).json()
    assert (shown["status"], shown["chunk_count"]) == ("active", 24)


async def test_what_a_crash_left_between_registry_and_queue_is_taken_up(
    api: Api, redis: Redis, policy_settings: Settings
) -> None:
    await api.upload()
    job_id = (await Queue(redis).holder("jobs:revision:NPPF:rev_NPPF_2024_12")) or ""
    await redis.delete(f"job:{job_id}", "jobs:queued", "jobs:revision:NPPF:rev_NPPF_2024_12")
    registry = PolicyRegistry(redis)
    job = IngestionJob(registry, Queue(redis), policy_settings)
    await job.take_up_orphans()
    assert await Queue(redis).claim("test") is None  # still held: the upload may be about to queue it
    for key in await redis.keys("policy_hold*"):
        await redis.delete(key)
    await job.take_up_orphans()
    lease = await Queue(redis).claim("test")
    assert lease is not None
    assert lease.payload["revision_id"] == "rev_NPPF_2024_12"


@pytest.mark.parametrize("replace", [False, True])
async def test_a_reindex_that_could_not_be_queued_can_be_repeated_at_once(
    api: Api, redis: Redis, tmp_path: Path, replace: bool
) -> None:
    """Otherwise the revision would be held for ten minutes by a job that does not exist."""
    registry = PolicyRegistry(redis)
    await api.upload()
    (job_id,) = [name.removeprefix("job:") for name in await redis.keys("job:*")]
    await registry.mark_active("NPPF", "rev_NPPF_2024_12", chunk_count=1, page_count=1)
    await Queue(redis).cancel_holder("jobs:revision:NPPF:rev_NPPF_2024_12")
    assert not await redis.exists(f"job:{job_id}")

    async def again() -> httpx.Response:
        if not replace:
            return await api("POST", f"{THIS}/reindex")
        return await api(
            "POST",
            "/api/v1/policies/NPPF/revisions?replace=rev_NPPF_2024_12",
            files={"file": ("nppf.pdf", PDF)},
            data={"version_label": "December 2024", "effective_from": "2024-12-15"},
        )

    before = sorted((tmp_path / "data" / "policy").rglob("*.pdf"))
    async with refusing_to_queue(redis):
        assert (await again()).status_code == 503
    assert sorted((tmp_path / "data" / "policy").rglob("*.pdf")) == before
    shown = (await api("GET", THIS)).json()
    assert (shown["status"], shown["error"]) == ("active", NOT_QUEUED)
    assert (await again()).status_code == 202


@asynccontextmanager
async def refusing_to_queue(redis: Redis) -> AsyncIterator[None]:
    """Within this context every enqueue is answered as by a Redis whose log could not be written."""

    async def refuse(self: Any, *args: Any, **more: Any) -> bool:
        raise StoreUnavailable("Redis refuses changes for now")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Queue, "enqueue", refuse)
        yield
