"""A server or store that goes away in the middle of a review and comes back: the review waits and completes.

`OUTAGE_SECONDS` says for how long (5 by default, 30 in the published matrix).
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "jobs"))

from fake_servers import DOCUMENTS, FakeServers
from outage_processes import embedded_processes
from test_worker_faults import Valkey, own_valkey, worker
from watched_pipeline import until, until_status

from serving_api import serving
from trigpoint.config import Settings, load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.jobs.reviews import Reviews
from trigpoint.storage.redis import redis_client
from trigpoint_process import SMALL, Running, environment, finished, submitted

pytestmark = pytest.mark.slow

SECONDS = float(os.environ.get("OUTAGE_SECONDS", "5"))
REF = "25/01178/REM"
GoesOn = Callable[[float], None]


class Restartable(FakeServers):
    """The fake servers, each of which can be stopped and started again at its address."""

    def __init__(self, folder: Path, free_port: Callable[[], int]) -> None:
        super().__init__(folder)
        self._ports = {name: free_port() for name in self.tools}
        self.urls = {name: f"http://127.0.0.1:{port}" for name, port in self._ports.items()}
        self._running: dict[str, ExitStack] = {}

    def start(self, name: str) -> None:
        self._running[name] = ExitStack()
        self._running[name].enter_context(serving(self.server(name).app(), self._ports[name]))

    def stop(self, name: str) -> None:
        self._running.pop(name).close()

    @contextmanager
    def up(self) -> Iterator[None]:
        for name in self.tools:
            self.start(name)
        try:
            yield
        finally:
            self.hold.clear()
            for name in list(self._running):
                self.stop(name)


class Reviewing(NamedTuple):
    fakes: Restartable
    valkey: Valkey
    reviews: Reviews
    review_id: str
    settings: Settings


@asynccontextmanager
async def reviewing(tmp_path: Path, free_port: Callable[[], int]) -> AsyncIterator[Reviewing]:
    """A review under way by a worker process, on a Redis and servers of its own."""
    fakes = Restartable(tmp_path / "data", free_port)
    async with own_valkey(tmp_path / "valkey", free_port()) as valkey:
        settings = load_settings(
            redis_url=valkey.url, trigpoint_data_dir=tmp_path / "data", job_lease_seconds=5, **fakes.settings()
        )
        with fakes.up():
            async with redis_client(valkey.url) as client:
                reviews = Reviews(client)
                yield (
                    fakes,
                    valkey,
                    reviews,
                    (await reviews.create(REF, None, None, request_id="-")).review_id,
                    settings,
                )


PHASES = {
    "look-up": "get_application_details",
    "download": "download_all_documents",
    "ingest": "ingest_document",
    "analyse": "get_document_text",
    "policy": "get_provisions",
}


async def _outage(
    tmp_path: Path,
    free_port: Callable[[], int],
    tool: str,
    go: Callable[[Restartable, Valkey], None],
    back: Callable[[Restartable, Valkey], None],
) -> float:
    async with reviewing(tmp_path, free_port) as (fakes, valkey, reviews, review_id, settings):
        fakes.hold = {tool}
        with worker(settings) as process:
            assert await asyncio.to_thread(fakes.event(tool).wait, 120)
            await asyncio.to_thread(go, fakes, valkey)
            fakes.hold.clear()
            await asyncio.sleep(SECONDS)
            await asyncio.to_thread(back, fakes, valkey)
            returned = time.monotonic()
            assert await until_status(reviews, review_id, "completed", "failed", seconds=150) == "completed"
            assert process.poll() is None
        assert len(fakes.ingested) == len(DOCUMENTS)
        return time.monotonic() - returned


def _server_rows() -> Iterator[Any]:
    servers = {"look-up": "scraper", "download": "scraper", "policy": "policy-kb"}
    for phase, tool in PHASES.items():
        name = servers.get(phase, "document-store")
        mark = pytest.mark.fault(
            f"the {name} server", phase=phase, seen="the review stays `processing`; the worker's log names the server"
        )
        yield pytest.param(name, tool, marks=mark, id=f"{name}-{phase}")


@pytest.mark.parametrize(("name", "tool"), list(_server_rows()))
async def test_a_review_waits_for_a_server_that_is_away(
    tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn, name: str, tool: str
) -> None:
    goes_on(
        await _outage(tmp_path, free_port, tool, lambda fakes, _: fakes.stop(name), lambda fakes, _: fakes.start(name))
    )


def _redis_rows() -> Iterator[Any]:
    for phase, tool in PHASES.items():
        mark = pytest.mark.fault(
            "Redis", phase=phase, seen="health `degraded`; 503 `store_unavailable`; the review goes on where it was"
        )
        yield pytest.param(tool, marks=mark, id=phase)


@pytest.mark.parametrize("tool", list(_redis_rows()))
async def test_a_review_waits_for_redis(
    tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn, tool: str
) -> None:
    goes_on(await _outage(tmp_path, free_port, tool, lambda _, valkey: valkey.stop(), lambda _, valkey: valkey.start()))


@pytest.mark.fault("Redis", phase="render", seen="health `degraded`; the finished review is stored when Redis is back")
async def test_a_review_that_is_being_written_waits_for_redis(
    tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn
) -> None:
    held = tmp_path / "held"
    held.touch()
    async with reviewing(tmp_path, free_port) as (_, valkey, reviews, review_id, settings):
        with worker(settings, HOLD_RENDERING=str(held)):
            await until(lambda: asyncio.to_thread(held.with_suffix(".entered").exists), seconds=120)
            await asyncio.to_thread(valkey.stop)
            held.unlink()
            await asyncio.sleep(SECONDS)
            await asyncio.to_thread(valkey.start)
            returned = time.monotonic()
            assert await until_status(reviews, review_id, "completed", "failed", seconds=120) == "completed"
            goes_on(time.monotonic() - returned)


@pytest.mark.fault(
    "the council's register",
    phase="look-up, download",
    seen="the review stays `processing`; after a minute it is `failed`",
)
def test_a_review_waits_for_the_register(tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn) -> None:
    port = free_port()
    register = sample_register(load_settings(trigpoint_data_dir=tmp_path / "portal"))
    env = environment(
        tmp_path / "data",
        CHERWELL_PORTAL_URL=f"http://127.0.0.1:{port}",
        SCRAPER_RATE_LIMIT="0",
        WORKER_CONCURRENCY="1",
    )
    with Running("up", env=env) as up:
        review_id = submitted(up, SMALL)  # nobody answers at the register's address
        time.sleep(SECONDS)
        assert up.get(f"/api/v1/reviews/{review_id}/status").json()["status"] == "processing"
        with DemoPortal(register, port=port):
            returned = time.monotonic()
            review = finished(up, review_id)
        assert review["status"] == "completed", review
        goes_on(time.monotonic() - returned)


@pytest.mark.fault(
    "every embedded server and its keeper (kill -9)",
    phase="all of a review",
    seen="nothing: they are restarted within seconds, and calls are repeated",
)
def test_a_review_survives_the_death_of_every_embedded_server_and_keeper(tmp_path: Path, goes_on: GoesOn) -> None:
    register = sample_register(load_settings(trigpoint_data_dir=tmp_path / "portal"))
    with DemoPortal(register, port=0) as portal:
        env = environment(tmp_path / "data", CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0")
        with Running("up", env=env) as up:
            review_id = submitted(up, SMALL)
            for _ in range(3):
                time.sleep(2)
                for _, pid in embedded_processes(tmp_path / "data"):
                    os.kill(pid, signal.SIGKILL)
            killed = time.monotonic()
            review = finished(up, review_id)
            goes_on(time.monotonic() - killed)
            assert review["status"] == "completed", review
            assert up.get("/api/v1/health").json()["status"] == "healthy"


@pytest.mark.fault(
    "the embedded Valkey and its keeper (kill -9)",
    phase="submit, status",
    seen="503 `store_unavailable` for a few seconds, then everything works again",
)
def test_requests_work_within_ten_seconds_of_the_death_of_valkey_and_its_keeper(
    tmp_path: Path, goes_on: GoesOn
) -> None:
    data = tmp_path / "data"
    register = sample_register(load_settings(trigpoint_data_dir=tmp_path / "portal"))
    took = []
    with DemoPortal(register, port=0) as portal:
        env = environment(data, CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0")
        with Running("up", env=env) as up:
            review_id = submitted(up, SMALL)
            assert finished(up, review_id)["status"] == "completed"
            for _ in range(3):
                killed = dict(embedded_processes(data / "redis"))
                assert killed.keys() == {"keeper", "Valkey"}
                for pid in (killed["keeper"], killed["Valkey"]):
                    os.kill(pid, signal.SIGKILL)
                took.append(seconds_until_answered(up, f"/api/v1/reviews/{review_id}"))
                assert up.get(f"/api/v1/reviews/{review_id}").json()["status"] == "completed"
            again = submitted(up, SMALL)
            assert finished(up, again)["status"] == "completed"
    goes_on(max(took))
    assert max(took) < 10, took


def seconds_until_answered(up: Running, path: str) -> float:
    """Ask until the answer is 200; each answer before is 503, never another error."""
    began = time.monotonic()
    while (answer := up.get(path)).status_code != 200:
        assert answer.status_code == 503, answer.text
        assert answer.json()["error"]["code"] == "store_unavailable"
        assert time.monotonic() - began < 60, answer.text
        time.sleep(0.05)
    return time.monotonic() - began
