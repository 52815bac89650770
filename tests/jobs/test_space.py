"""A disk that is nearly full: new work is refused with the reason, running work pauses and goes on by itself."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis
from watched_pipeline import until_status

from serving_api import running_api
from trigpoint.config import Settings, load_settings
from trigpoint.errors import NoSpace, StoreUnavailable
from trigpoint.jobs.reviews import Reviews
from trigpoint.storage import space, valkey
from trigpoint.storage.redis import redis_client, redis_server
from trigpoint.storage.space import look, require_space, writing_in

REF = "25/01178/REM"
FAR_TOO_MUCH = 10**9


@pytest.fixture(autouse=True)
def _look_every_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "_LOOK_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr("trigpoint.jobs.pausing._LOOK_SECONDS", 0.05)


def test_below_the_first_mark_new_work_is_refused_and_health_says_why(job_settings: Callable[..., Settings]) -> None:
    with running_api(job_settings(disk_low_mb=FAR_TOO_MUCH)) as api:
        health = api.get("/health").json()
        assert health["status"] == "degraded"
        assert "DISK_LOW_MB" in health["problems"][0]
        reindex = api.post("/api/v1/policies/NEW/revisions/rev_NEW_2025_01/reindex")
        for answer in (submit(api), upload(api), reindex, api.post("/api/v1/policies/update")):
            assert answer.status_code == 507
            assert answer.json()["error"]["code"] == "insufficient_storage"
            assert "No space left for new work" in answer.json()["error"]["message"]
        assert api.get("/api/v1/reviews").json()["total"] == 0
        assert api.get("/api/v1/policies").status_code == 200  # reading goes on


def submit(api: httpx.Client) -> httpx.Response:
    return api.post("/api/v1/reviews", json={"application_ref": REF})


def upload(api: httpx.Client) -> httpx.Response:
    api.post("/api/v1/policies", json={"source": "NEW", "title": "New", "category": "national_policy"})
    fields = {"version_label": "One", "effective_from": "2025-01-01"}
    return api.post("/api/v1/policies/NEW/revisions", data=fields, files={"file": ("a.pdf", b"%PDF-1.4")})


@pytest.mark.fault(
    "disk space below `DISK_CRITICAL_MB`",
    phase="any",
    seen="health `degraded`; jobs pause and go on when there is space",
)
async def test_below_the_second_mark_jobs_wait_and_go_on_when_there_is_space(
    reviews: Reviews, working: Any, monkeypatch: pytest.MonkeyPatch, goes_on: Callable[[float], None]
) -> None:
    free = {"mb": 1}
    monkeypatch.setattr(space, "_free_mb", lambda folder: free["mb"])
    review = await reviews.create(REF, None, None, request_id="-")
    async with working():
        await asyncio.sleep(0.5)
        assert (await reviews.get(review.review_id)).status == "queued"
        free["mb"] = 100_000
        freed = time.monotonic()
        await until_status(reviews, review.review_id, "completed")
        goes_on(time.monotonic() - freed)


def test_a_full_disk_is_named_with_its_folder_and_other_errors_pass(tmp_path: Path) -> None:
    with pytest.raises(NoSpace, match=str(tmp_path)), writing_in(tmp_path):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError), writing_in(tmp_path):
        raise PermissionError


def test_a_data_folder_that_does_not_exist_yet_is_judged_by_the_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def statvfs(folder: Path) -> os.statvfs_result:
        asked.append(folder)
        return real(folder)

    real = os.statvfs
    monkeypatch.setattr(os, "statvfs", statvfs)
    settings = load_settings(trigpoint_data_dir=tmp_path / "a" / "b" / "c", disk_low_mb=0)
    assert look(settings).free > 0
    require_space(settings)
    assert set(asked) == {tmp_path}


async def test_a_redis_that_cannot_write_is_away_and_not_an_error_of_the_caller(redis: Redis) -> None:
    """Redis answers MISCONF from the moment its disk is full; a worker must wait, and the message must name the cause."""
    reviews = Reviews(redis)

    async def misconf(*args: Any, **kwargs: Any) -> Any:
        from redis.exceptions import ResponseError

        raise ResponseError("MISCONF Errors writing to the AOF file: No space left on device")

    reviews._run._registered["review_create"] = misconf
    with pytest.raises(StoreUnavailable, match=r"The embedded Valkey in .* refuses changes .*No space left on device"):
        await reviews.create(REF, None, None, request_id="-")


@pytest.mark.slow
@pytest.mark.fault("all disk space", phase="submit", seen="503 with the reason; it works again once there is space")
async def test_on_a_full_disk_no_review_is_accepted_that_a_restart_would_lose(
    small_disk: Path, goes_on: Callable[[float], None]
) -> None:
    settings = load_settings(trigpoint_data_dir=small_disk / "data", disk_low_mb=0, disk_critical_mb=0)
    accepted, refused = [], 0
    with redis_server(settings) as url:
        async with redis_client(url) as redis:
            reviews = Reviews(redis)
            (small_disk / "filler").write_bytes(b"x" * (shutil.disk_usage(small_disk).free - 20_000))
            for number in range(400):
                try:
                    review = await reviews.create(f"25/{number:05d}/F", None, None, request_id="-" * 100)
                    accepted.append(review.review_id)
                except StoreUnavailable as error:
                    refused += 1
                    assert "Make space" in error.message
            assert refused > 0
            assert valkey.Server(
                settings.data_dir / "redis"
            ).answers()  # else the next process would wait for it in vain
            (small_disk / "filler").unlink()
            freed = time.monotonic()
            for _ in range(100):  # it goes on by itself
                try:
                    accepted.append((await reviews.create("26/00001/F", None, None, request_id="-")).review_id)
                    goes_on(time.monotonic() - freed)
                    break
                except StoreUnavailable:
                    await asyncio.sleep(0.2)
            else:
                raise AssertionError("Redis did not recover")
            server = (await redis.info("server"))["process_id"]
            os.kill(server, signal.SIGKILL)
    await asyncio.sleep(0.5)
    with redis_server(settings) as url:
        async with redis_client(url) as redis:
            reviews = Reviews(redis)
            for review_id in accepted:
                assert (await reviews.get(review_id)).status == "queued"
