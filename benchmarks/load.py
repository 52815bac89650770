"""`python -m benchmarks.load --minutes 30`: everything at once on one Trigpoint, for as long as you like.

Searches, ingests, reviews, uploads and pages run side by side while the status of a review is asked five times a second.
Printed are, minute by minute: requests, errors that are not 429, the 95th percentile of the status, and the memory of all
processes. Exit code 1 if there was such an error, or memory grew by more than a quarter after the first third.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import httpx

from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import ToolFailed, TrigpointError
from trigpoint.mcp.client import ToolClient
from trigpoint.policies.digest import digest_pdf, read_digest

_PORTS = ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER")
_PAGES = ("/", "/reviews", "/policies", "/status", "/api/v1/policies", "/api/v1/reviews")
_QUESTIONS = ("cycle parking standards", "width of a shared path", "priority at side roads", "travel plan targets")
_SAMPLE_SECONDS = 5.0
_GROWTH = 1.25


@dataclass
class Measured:
    """What happened, in all and in the current minute."""

    requests: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    limited: int = 0
    status_ms: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    @property
    def p95(self) -> float:
        ordered = sorted(self.status_ms)
        return ordered[int(len(ordered) * 0.95)] if ordered else 0.0

    @property
    def growth(self) -> float:
        """Memory at the end against that after the first third: the median of a third each."""
        third = max(1, len(self.memory_mb) // 3)
        early, late = sorted(self.memory_mb[third : 2 * third] or [1.0]), sorted(self.memory_mb[-third:] or [1.0])
        return late[len(late) // 2] / early[len(early) // 2]


class Load:
    """The callers. Each goes on until the time is up; what goes wrong is counted by what it was."""

    def __init__(self, ports: dict[str, int], files: list[Path], references: list[str]) -> None:
        self._ports, self._files, self._references = ports, files, references
        self.measured = Measured()
        self._api = httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports['API']}", timeout=30, trust_env=False)
        self._review_id: str | None = None
        self._numbers = count(1)
        self._done = asyncio.Event()

    async def run(self, seconds: float, pids: Callable[[], list[int]]) -> None:
        callers = [
            self._often("status", 0.2, self._ask_status),
            self._often("page", 0.5, self._open_page),
            self._often("search", 0.5, self._search),
            self._often("ingest", 3.0, self._ingest),
            self._often("review", 2.0, self._review),
            self._often("upload", 15.0, self._upload),
            self._watch(pids),
        ]
        tasks = [asyncio.create_task(caller) for caller in callers]
        await asyncio.sleep(seconds)
        self._done.set()
        await asyncio.gather(*tasks)
        await self._api.aclose()

    async def _often(self, name: str, pause: float, call: Callable[[], Awaitable[None]]) -> None:
        while not self._done.is_set():
            try:
                await call()
                self.measured.requests[name] += 1
            except (TrigpointError, httpx.HTTPError, _Wrong) as error:
                self.measured.errors[f"{name}: {type(error).__name__} {str(error)[:120]}"] += 1
            await asyncio.sleep(pause)

    async def _get(self, path: str) -> httpx.Response:
        return self._fine(await self._api.get(path, follow_redirects=True))

    def _fine(self, answer: httpx.Response, *also: int) -> httpx.Response:
        if answer.status_code == 429:
            self.measured.limited += 1
        elif not answer.is_success and answer.status_code not in also:
            raise _Wrong(f"{answer.request.method} {answer.request.url.path}: {answer.status_code} {answer.text[:80]}")
        return answer

    async def _ask_status(self) -> None:
        if self._review_id is None:
            return
        began = time.perf_counter()
        await self._get(f"/api/v1/reviews/{self._review_id}/status")
        self.measured.status_ms.append((time.perf_counter() - began) * 1000)

    async def _open_page(self) -> None:
        await self._get(_PAGES[next(self._numbers) % len(_PAGES)])

    async def _search(self) -> None:
        question = _QUESTIONS[next(self._numbers) % len(_QUESTIONS)]
        async with ToolClient(f"http://127.0.0.1:{self._ports['POLICY_KB']}") as tools:
            await tools.call("search_policy", {"query": question, "effective_date": "2025-06-01"}, timeout=60)

    async def _ingest(self) -> None:
        number = next(self._numbers)
        path = self._files[number % len(self._files)]
        async with ToolClient(f"http://127.0.0.1:{self._ports['DOCUMENT_STORE']}") as tools:
            given = {"file_path": str(path), "application_ref": f"25/{number % 90000 + 10000}/F"}
            try:
                answer = await tools.call("ingest_document", given, timeout=300)
            except ToolFailed as error:
                if error.code != "no_content":  # a drawing
                    raise
                return
            if document_id := answer.get("document_id"):  # the store stays of one size: what is measured is a leak
                await tools.call("remove_document", {"document_id": document_id}, timeout=60)

    async def _review(self) -> None:
        reference = self._references[next(self._numbers) % len(self._references)]
        answer = self._fine(await self._api.post("/api/v1/reviews", json={"application_ref": reference}), 409)
        if answer.status_code != 202:
            return
        self._review_id = answer.json()["review_id"]
        while not self._done.is_set():
            status = (await self._get(f"/api/v1/reviews/{self._review_id}/status")).json().get("status")
            if status == "failed":
                raise _Wrong(f"the review of {reference} failed")
            if status == "completed":
                return
            await asyncio.sleep(1)

    async def _upload(self) -> None:
        source = f"LOAD_{next(self._numbers)}"
        self._fine(
            await self._api.post(
                "/api/v1/policies", json={"source": source, "title": source, "category": "local_guidance"}
            )
        )
        self._fine(
            await self._api.post(
                f"/api/v1/policies/{source}/revisions",
                files={"file": ("a.pdf", digest_pdf(read_digest("OCC_LTCP_2022_07.md")), "application/pdf")},
                data={"version_label": "one", "effective_from": "1999-01-01", "effective_to": "1999-12-31"},
            )
        )

    async def _watch(self, pids: Callable[[], list[int]]) -> None:
        began, shown = time.monotonic(), 0
        while not self._done.is_set():
            self.measured.memory_mb.append(await asyncio.to_thread(lambda: _memory_mb(pids())))
            minute = int((time.monotonic() - began) / 60)
            if minute > shown:
                shown = minute
                self._print(minute)
            await asyncio.sleep(_SAMPLE_SECONDS)

    def _print(self, minute: int) -> None:
        measured = self.measured
        print(
            f"{minute:3d} min  {sum(measured.requests.values()):6d} requests  {sum(measured.errors.values()):3d} errors  "
            f"{measured.limited:4d} limited  status p95 {measured.p95:6.1f} ms  {measured.memory_mb[-1]:7.0f} MB",
            flush=True,
        )


class _Wrong(Exception):
    """An answer that should not have been given."""


def _memory_mb(pids: list[int]) -> float:
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue  # it has ended since
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def _processes_of(folder: Path, first: int) -> list[int]:
    """The process, those that name its data folder (embedded servers, keepers) and all their children."""
    parents, found = {}, {first}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
            if os.fsencode(folder) in command:
                found.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found)


@contextmanager
def _running(folder: Path, portal_url: str) -> Iterator[tuple[dict[str, int], int]]:
    """`trigpoint up` on a folder of its own: its ports and process."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in _PORTS]
    ports = {name: int(sock.getsockname()[1]) for name, sock in zip(_PORTS, socks, strict=True)}
    for sock in socks:
        sock.close()
    env = os.environ | {f"{name}_PORT": str(port) for name, port in ports.items()}
    env |= {"TRIGPOINT_DATA_DIR": str(folder), "CHERWELL_PORTAL_URL": portal_url, "SCRAPER_RATE_LIMIT": "0"}
    env |= {"LOG_LEVEL": "WARNING", "DOCUMENT_ROOTS": str(folder.parent)}
    with (folder.parent / "up.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, "-m", "trigpoint.cli.main", "up"], env=env, stdout=log, stderr=log)
    try:
        while b"Trigpoint is up" not in (folder.parent / "up.log").read_bytes():
            if process.poll() is not None:
                sys.exit((folder.parent / "up.log").read_text())
            time.sleep(0.5)
        yield ports, process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory(prefix="trigpoint-load-") as name:
        folder = Path(name)
        settings = load_settings(trigpoint_data_dir=folder / "portal")
        files = [path for group in sample_documents(settings).values() for path in group.values()]
        register = sample_register(settings)
        with DemoPortal(register, port=0) as portal, _running(folder / "data", portal.url) as (ports, pid):
            load = Load(ports, sorted(path for path in files if path.suffix == ".pdf"), sorted(register))
            asyncio.run(load.run(minutes * 60, lambda: _processes_of(folder / "data", pid)))
    measured = load.measured
    print(f"{minutes:g} minutes: {dict(measured.requests)}, {measured.limited} limited (429)")
    print(f"status p95 {measured.p95:.1f} ms; memory {measured.memory_mb[-1]:.0f} MB, growth {measured.growth:.2f}")
    for problem, times in measured.errors.most_common():
        print(f"  {times} times: {problem}")
    if measured.errors or measured.growth > _GROWTH:
        sys.exit(1)


if __name__ == "__main__":
    main()
