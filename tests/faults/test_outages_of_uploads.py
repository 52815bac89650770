"""Redis or the policy server goes away while something is submitted or uploaded, or while an upload is being ingested."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "jobs"))

from test_outages import SECONDS, GoesOn, Restartable
from test_worker_faults import own_valkey, worker
from watched_pipeline import until

from serving_api import running_api
from trigpoint.config import load_settings

pytestmark = pytest.mark.slow

REVISION = "/api/v1/policies/NEW/revisions/rev_NEW_2025_01"
POLICY = {"source": "NEW", "title": "New", "category": "national_policy"}


def submit(api: httpx.Client) -> httpx.Response:
    sent = {"application_ref": "25/01178/REM"}
    return api.post("/api/v1/reviews", json=sent, headers={"Idempotency-Key": "a-review"})


def upload(api: httpx.Client) -> httpx.Response:
    return api.post(
        "/api/v1/policies/NEW/revisions",
        data={"version_label": "One", "effective_from": "2025-01-01"},
        files={"file": ("new.pdf", b"%PDF-1.7\n% a small one\n")},
        headers={"Idempotency-Key": "an-upload"},
    )


def until_accepted(call: Callable[[httpx.Client], httpx.Response], api: httpx.Client) -> None:
    deadline = time.monotonic() + 30
    while (answer := call(api)).status_code != 202:
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)


@pytest.mark.fault(
    "Redis",
    phase="submit, upload",
    seen="health `degraded`; 503 `store_unavailable`; the same request is accepted once Redis is back",
)
async def test_what_is_sent_while_redis_is_away_is_refused_and_leaves_nothing_behind(
    tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn
) -> None:
    async with own_valkey(tmp_path / "valkey", free_port()) as valkey:
        settings = load_settings(redis_url=valkey.url, trigpoint_data_dir=tmp_path / "data")
        with running_api(settings) as api:
            await asyncio.to_thread(api.post, "/api/v1/policies", json=POLICY)
            await asyncio.to_thread(valkey.stop)
            for call in (submit, upload):
                refused = await asyncio.to_thread(call, api)
                assert refused.status_code == 503
                assert refused.headers["retry-after"]
            assert (await asyncio.to_thread(api.get, "/health")).json()["status"] == "degraded"
            assert not list((tmp_path / "data" / "policy").rglob("*.pdf"))
            await asyncio.sleep(SECONDS)
            await asyncio.to_thread(valkey.start)
            returned = time.monotonic()
            for call in (submit, upload):
                await asyncio.to_thread(until_accepted, call, api)
            goes_on(time.monotonic() - returned)
            assert len(list((tmp_path / "data" / "policy").rglob("*.pdf"))) == 1
            assert (await asyncio.to_thread(api.get, "/api/v1/reviews")).json()["total"] == 1


@pytest.mark.parametrize(
    "away",
    [
        pytest.param(
            name,
            marks=pytest.mark.fault(
                taken,
                phase="ingest of an upload",
                seen="the revision stays `processing` and becomes `active` afterwards",
            ),
        )
        for name, taken in {"redis": "Redis", "policy-kb": "the policy-kb server"}.items()
    ],
)
async def test_an_upload_that_is_being_ingested_waits(
    tmp_path: Path, free_port: Callable[[], int], goes_on: GoesOn, away: str
) -> None:
    fakes = Restartable(tmp_path / "data", free_port)
    async with own_valkey(tmp_path / "valkey", free_port()) as valkey:
        settings = load_settings(
            redis_url=valkey.url, trigpoint_data_dir=tmp_path / "data", job_lease_seconds=5, **fakes.settings()
        )
        with fakes.up(), running_api(settings) as api, worker(settings):
            fakes.hold = {"ingest_policy_revision"}
            await asyncio.to_thread(api.post, "/api/v1/policies", json=POLICY)
            assert (await asyncio.to_thread(upload, api)).status_code == 202
            assert await asyncio.to_thread(fakes.event("ingest_policy_revision").wait, 60)
            await asyncio.to_thread(valkey.stop if away == "redis" else lambda: fakes.stop(away))
            fakes.hold.clear()
            await asyncio.sleep(SECONDS)
            await asyncio.to_thread(valkey.start if away == "redis" else lambda: fakes.start(away))
            returned = time.monotonic()

            async def ended() -> str | None:
                shown = (await asyncio.to_thread(api.get, REVISION)).json()
                return str(shown["status"]) if shown.get("status") in ("active", "failed") else None

            assert await until(ended, seconds=90) == "active"
            goes_on(time.monotonic() - returned)
