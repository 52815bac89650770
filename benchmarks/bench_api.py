"""The REST API under load: status requests over 64 connections, and lists out of 10,000 reviews.

Server and client are processes of their own on the same machine, with auth and the rate limit on.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.report import Report
from benchmarks.serving import serving
from trigpoint.config import load_settings
from trigpoint.ids import new_review_id
from trigpoint.storage.redis import redis_client, redis_server

CONNECTIONS = 64
SECONDS = float(os.environ.get("BENCH_API_SECONDS", "10"))
REVIEWS = int(os.environ.get("BENCH_API_REVIEWS", "10000"))
KEY = "bench-key"


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(trigpoint_data_dir=Path(folder))
        with redis_server(settings) as url:
            review_id = asyncio.run(_fill(url))
            for auth_on, name in ((True, "keys and rate limit on"), (False, "auth off")):
                with _server(url, folder, auth_on=auth_on) as port:
                    _measure_status(report, port, review_id, name, auth_on=auth_on)
                    if auth_on:
                        _measure_lists(report, port)


def _measure_status(report: Report, port: int, review_id: str, name: str, *, auth_on: bool) -> None:
    rate, p50, p99 = asyncio.run(_load(port, f"/api/v1/reviews/{review_id}/status"))
    bar, slow = (">= 1500", "<= 50") if auth_on else (None, None)
    report.row(f"GET status, {CONNECTIONS} connections, {name}", rate, "requests/s", bar=bar)
    report.row(f"GET status p50, {name}", p50, "ms")
    report.row(f"GET status p99, {name}", p99, "ms", bar=slow)


def _measure_lists(report: Report, port: int) -> None:
    for query, what in (
        ("limit=20", "first page"),
        ("limit=100&offset=9000", "100 rows, deep"),
        ("status=completed&limit=20", "by status"),
        ("status=queued&application_ref=25/00001/F", "by status and reference"),
    ):
        taken = asyncio.run(_one_by_one(port, f"/api/v1/reviews?{query}", 200))
        report.row(f"list of {REVIEWS} reviews, {what}, p95", statistics.quantiles(taken, n=20)[18], "ms", bar="<= 30")


async def _fill(url: str) -> str:
    """Reviews as `review_create.lua` and `review_end.lua` leave them, in bulk."""
    async with redis_client(url) as redis:
        pipe = redis.pipeline(transaction=False)
        started = int(time.time() * 1_000_000) - REVIEWS
        for number in range(REVIEWS):
            review_id, place = new_review_id(), started + number
            ref = f"25/{number % 5000:05d}/F"
            status = ("completed", "queued", "failed")[number % 3]
            record = {"review_id": review_id, "application_ref": ref, "status": status, "place": place}
            record |= {"created_at": "2025-02-07T12:34:56.789000Z", "options": "null", "percent": 0}
            pipe.hset(f"review:{review_id}", mapping=record)
            for index in ("all", f"status:{status}", f"ref:{ref}", f"ref:{ref}:{status}"):
                pipe.zadd(f"reviews:{index}", {review_id: place})
            if number % 1000 == 999:
                await pipe.execute()
        review_id = new_review_id()
        record = {"review_id": review_id, "application_ref": "25/99999/F", "status": "processing"}
        record |= {"phase": "analysing_application", "percent": 75, "created_at": "2025-02-07T12:34:56.789000Z"}
        pipe.hset(f"review:{review_id}", mapping=record)
        await pipe.execute()
    return review_id


def _server(redis_url: str, folder: str, *, auth_on: bool) -> AbstractContextManager[int]:
    environment = {"REDIS_URL": redis_url, "TRIGPOINT_DATA_DIR": folder, "API_RATE_LIMIT": "10000000"}
    return serving("trigpoint.api.app:create_app", environment | ({"API_KEYS": KEY} if auth_on else {}))


def _request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n\r\n".encode()


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> None:
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(head.decode())
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    await reader.readexactly(length)


async def _load(port: int, path: str) -> tuple[float, float, float]:
    """Requests/s, p50 and p99 in ms; plain sockets, so that the client costs little."""
    request, taken = _request(path), []
    stop_at = time.perf_counter() + SECONDS

    async def one_connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (start := time.perf_counter()) < stop_at:
            await _exchange(reader, writer, request)
            taken.append(time.perf_counter() - start)
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(one_connection() for _ in range(CONNECTIONS)))
    rate = len(taken) / (time.perf_counter() - started)
    cuts = statistics.quantiles(taken, n=100)
    return rate, cuts[49] * 1000, cuts[98] * 1000


async def _one_by_one(port: int, path: str, times: int) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        await _exchange(reader, writer, _request(path))
        taken.append((time.perf_counter() - start) * 1000)
    writer.close()
    return taken
