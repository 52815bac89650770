"""`python -m benchmarks.load --minutes 30`: as much of everything as two cores can do, for as long as you like.

Searches, ingests, reviews, uploads, downloads and pages run side by side without a pause, while a process of its own asks
for the status of a review twenty times a second. Printed are, minute by minute: requests, errors that are not 429, the
95th percentile of the status, how busy the processors are, and the memory of all processes. Exit code 1 if there was such
an error, the status took longer than 100 ms at the 95th percentile, or memory grew by more than a quarter after the first
third. `--apart` gives the API a process of its own, as in `deploy/compose.yaml`; otherwise `trigpoint up` is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import httpx

from benchmarks.load_process import PROJECT, Processors, Product, cpu_seconds, running
from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.errors import ToolFailed, TrigpointError
from trigpoint.mcp.client import ToolClient
from trigpoint.policies.digest import digest_pdf, read_digest

_PAGES = ("/", "/reviews", "/policies", "/status", "/library", "/api/v1/policies", "/api/v1/reviews")
_PAGES_OF_REVIEW = ("/reviews/{}", "/reviews/{}/letter", "/api/v1/reviews/{}")
_FORMATS = ("pdf", "docx", "markdown", "letter")
_QUESTIONS = ("cycle parking standards", "width of a shared path", "priority at side roads", "travel plan targets")
_CALLERS = {"page": 2, "download": 1, "policy search": 2, "library search": 1, "ingest": 2, "upload": 1}
_SAMPLE_SECONDS = 5.0
_STATUS_PAUSE_SECONDS = 0.05
_MOST_STATUS_MS = 100.0
_GROWTH = 1.25


@dataclass
class Measured:
    """What happened, in all."""

    requests: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    limited: int = 0
    status_ms: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)

    def status(self, share: float) -> float:
        ordered = sorted(self.status_ms)
        return ordered[int(len(ordered) * share)] if ordered else 0.0

    @property
    def growth(self) -> float:
        """Memory at the end against that after the first third: the median of a third each."""
        third = max(1, len(self.memory_mb) // 3)
        early, late = sorted(self.memory_mb[third : 2 * third] or [1.0]), sorted(self.memory_mb[-third:] or [1.0])
        return late[len(late) // 2] / early[len(early) // 2]


class Load:
    """The callers. Each goes on until the time is up; what goes wrong is counted by what it was."""

    def __init__(self, product: Product, files: list[Path], references: list[str]) -> None:
        self._product, self._files, self._references = product, files, references
        self.measured = Measured()
        self._api = httpx.AsyncClient(base_url=product.urls["API"], timeout=60, trust_env=False)
        self._policy = digest_pdf(read_digest("OCC_LTCP_2022_07.md"))
        self._completed: list[str] = []
        self._lasting_revision: str | None = None
        self._numbers = count(1)
        self._done = asyncio.Event()

    async def run(self, seconds: float, asked: Connection) -> None:
        calls = {
            "page": self._open_page,
            "download": self._download,
            "policy search": self._search_policies,
            "library search": self._search_library,
            "ingest": self._ingest,
            "upload": self._upload,
        }
        tasks = [
            asyncio.create_task(self._again_and_again(name, calls[name]))
            for name, times in _CALLERS.items()
            for _ in range(times)
        ]
        tasks += [
            asyncio.create_task(self._again_and_again("review", lambda ref=ref: self._review(ref)))  # type: ignore[misc]
            for ref in self._references
        ]
        tasks.append(asyncio.create_task(self._watch(asked)))
        await asyncio.sleep(seconds)
        self._done.set()
        await asyncio.gather(*tasks)
        await self._api.aclose()

    async def _again_and_again(self, name: str, call: Callable[[], Awaitable[None]]) -> None:
        while not self._done.is_set():
            try:
                await call()
                self.measured.requests[name] += 1
            except (TrigpointError, httpx.HTTPError, _Wrong) as error:
                self.measured.errors[f"{name}: {type(error).__name__} {str(error)[:200]}"] += 1
                await asyncio.sleep(1)
            await asyncio.sleep(0)

    async def _ask(self, method: str, path: str, **more: object) -> httpx.Response:
        answer = await self._api.request(method, path, follow_redirects=True, **more)  # type: ignore[arg-type]
        if answer.status_code == 429:
            self.measured.limited += 1
        elif not answer.is_success:
            raise _Wrong(f"{method} {path}: {answer.status_code} {answer.text[:120]}")
        return answer

    async def _open_page(self) -> None:
        number = next(self._numbers)
        if self._completed and number % 2:
            path = _PAGES_OF_REVIEW[number // 2 % len(_PAGES_OF_REVIEW)].format(self._completed[-1])
        else:
            path = _PAGES[number // 2 % len(_PAGES)]
        await self._ask("GET", path)

    async def _download(self) -> None:
        if not self._completed:
            await asyncio.sleep(1)
            return
        chosen = _FORMATS[next(self._numbers) % len(_FORMATS)]
        await self._ask("GET", f"/api/v1/reviews/{self._completed[-1]}/download", params={"format": chosen})

    async def _search_policies(self) -> None:
        given = {"query": self._question(), "effective_date": "2025-06-01"}
        async with ToolClient(self._product.urls["POLICY_KB"]) as tools:
            await tools.call("search_policy", given, timeout=60)

    async def _search_library(self) -> None:
        async with ToolClient(self._product.urls["LIBRARY"]) as tools:
            await tools.call("query_hybrid", {"project": PROJECT, "query": self._question()}, timeout=60)

    def _question(self) -> str:
        return _QUESTIONS[next(self._numbers) % len(_QUESTIONS)]

    async def _ingest(self) -> None:
        number = next(self._numbers)
        path = self._files[number % len(self._files)]
        async with ToolClient(self._product.urls["DOCUMENT_STORE"]) as tools:
            given = {"file_path": str(path), "application_ref": f"25/{number % 90000 + 10000}/F"}
            try:
                answer = await tools.call("ingest_document", given, timeout=300)
            except ToolFailed as error:
                if error.code != "no_content":  # a drawing
                    raise
                return
            if document_id := answer.get("document_id"):  # the store stays of one size: what is measured is a leak
                await tools.call("remove_document", {"document_id": document_id}, timeout=60)

    async def _review(self, reference: str) -> None:
        accepted = await self._ask("POST", "/api/v1/reviews", json={"application_ref": reference})
        path = f"/api/v1/reviews/{accepted.json()['review_id']}"
        while not self._done.is_set():
            status = (await self._ask("GET", f"{path}/status")).json()["status"]
            if status == "failed":
                raise _Wrong(f"{reference} failed: {(await self._ask('GET', path)).json()['error']}")
            if status == "completed":
                self._completed.append(accepted.json()["review_id"])
                return
            await asyncio.sleep(1)

    async def _upload(self) -> None:
        if self._lasting_revision is None:  # the last revision of a policy cannot be deleted: this one stays
            policy = {"source": "LOAD", "title": "Load", "category": "local_guidance"}
            await self._ask("POST", "/api/v1/policies", json=policy)
            self._lasting_revision = await self._uploaded(1998)
        await self._ask("DELETE", await self._uploaded(1999))

    async def _uploaded(self, year: int) -> str:
        """Upload a revision that was in force for a year, and return its address once it can be searched."""
        path = "/api/v1/policies/LOAD/revisions"
        accepted = await self._ask(
            "POST",
            path,
            files={"file": ("a.pdf", self._policy, "application/pdf")},
            data={"version_label": str(year), "effective_from": f"{year}-01-01", "effective_to": f"{year}-12-31"},
        )
        path = f"{path}/{accepted.json()['revision_id']}"
        while (revision := (await self._ask("GET", path)).json())["status"] != "active":
            if revision["status"] == "failed":
                raise _Wrong(f"the revision failed: {revision['error']}")
            await asyncio.sleep(1)
        return path

    async def _watch(self, asked: Connection) -> None:
        began, shown, processors = time.monotonic(), 0, Processors()
        while not self._done.is_set():
            others, valkey = await asyncio.to_thread(self._product.memory_mb)
            self.measured.memory_mb.append(others)
            self._take_answers(asked)
            minute = int((time.monotonic() - began) / 60)
            if minute > shown:
                shown = minute
                self._print(minute, processors.shares(), others, valkey)
            await asyncio.sleep(_SAMPLE_SECONDS)
        self._take_answers(asked)

    def _take_answers(self, asked: Connection) -> None:
        while asked.poll():
            answer = asked.recv()
            if isinstance(answer, float):
                self.measured.status_ms.append(answer)
                self.measured.requests["status"] += 1
            else:
                self.measured.errors[f"status: {answer}"] += 1

    def _print(self, minute: int, shares: list[float], others: float, valkey: float) -> None:
        measured = self.measured
        busy = "+".join(f"{share:.0%}" for share in shares)
        print(
            f"{minute:3d} min  {sum(measured.requests.values()):6d} requests  {sum(measured.errors.values()):3d} errors  "
            f"{measured.limited:4d} limited  status p95 {measured.status(0.95):6.1f} ms  processors {busy} "
            f"(the callers {cpu_seconds(os.getpid()) / minute / 60:.0%} of one)  {others:5.0f} MB, Valkey {valkey:4.0f} MB",
            flush=True,
        )


def ask_for_status(url: str, answers: Connection) -> None:
    """Ask for the status of the latest review until the other end hangs up: the milliseconds of each answer, or what was wrong."""
    with httpx.Client(base_url=url, timeout=30, trust_env=False) as api:
        review_id, asked = "", count()
        while not answers.poll():
            try:
                if not review_id or next(asked) % 100 == 0:
                    reviews = api.get("/api/v1/reviews", params={"limit": 1}).json()["reviews"]
                    review_id = reviews[0]["review_id"] if reviews else ""
                if review_id:
                    began = time.perf_counter()
                    answer = api.get(f"/api/v1/reviews/{review_id}/status")
                    taken = (time.perf_counter() - began) * 1000
                    answers.send(taken if answer.is_success else f"{answer.status_code} {answer.text[:120]}")
            except httpx.HTTPError as error:
                answers.send(repr(error))
            time.sleep(_STATUS_PAUSE_SECONDS)


class _Wrong(Exception):
    """An answer that should not have been given."""


def _work(product: Product, seconds: float, files: list[Path], references: list[str]) -> Measured:
    here, there = multiprocessing.Pipe()
    asking = multiprocessing.get_context("spawn").Process(target=ask_for_status, args=(product.urls["API"], there))
    asking.start()
    try:
        load = Load(product, files, references)
        asyncio.run(load.run(seconds, here))
    finally:
        here.send("stop")
        asking.join(60)
    return load.measured


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--apart", action="store_true", help="the API in a process of its own")
    given = parser.parse_args()
    minutes = given.minutes
    with tempfile.TemporaryDirectory(prefix="trigpoint-load-") as name:
        folder = Path(name)
        settings = load_settings(trigpoint_data_dir=folder / "portal")
        files = [path for group in sample_documents(settings).values() for path in group.values()]
        register = sample_register(settings)
        with (
            DemoPortal(register, port=0) as portal,
            running(folder, portal.url, folder / "portal", apart=given.apart) as product,
        ):
            readable = sorted(path for path in files if path.suffix == ".pdf")
            measured = _work(product, minutes * 60, readable, sorted(register))
    print(f"{minutes:g} minutes: {dict(measured.requests)}, {measured.limited} limited (429)")
    shown = ", ".join(f"p{share * 100:g} {measured.status(share):.1f} ms" for share in (0.5, 0.95, 0.99))
    print(f"status {shown}; memory {measured.memory_mb[-1]:.0f} MB, growth {measured.growth:.2f}")
    for problem, times in measured.errors.most_common():
        print(f"  {times} times: {problem}")
    if measured.errors or measured.status(0.95) > _MOST_STATUS_MS or measured.growth > _GROWTH:
        sys.exit(1)


if __name__ == "__main__":
    main()
