"""Kills random processes of a whole Trigpoint while it works, and counts what was lost, doubled, stuck or out of order.

`python tests/faults/random_kills.py --kills 200` runs it by itself. Every part is a process of its own with a short
lease; killed are the parts, the embedded Valkey and Chroma, and their keepers. The parts are started again, as systemd would.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "jobs"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx
from outage_processes import embedded_processes
from receiver import Receiver, receiving

from trigpoint.config import load_settings
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint.policies.digest import digest_pdf, read_digest
from trigpoint_process import environment, trigpoint

PARTS = (("api",), ("worker",), ("worker",), ("document-store",), ("policy-kb",), ("scraper",))
ENDED = ("completed", "failed", "cancelled")
TERMINAL = tuple(f"review.{status}" for status in ENDED)


@dataclass
class Tally:
    """What the run found. The four that must be empty name what went wrong."""

    kills: Counter[str] = field(default_factory=Counter)
    reviews: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    revisions: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{sum(self.kills.values())} kills ({dict(self.kills)}); reviews {dict(self.reviews)}, {self.revisions} policy "
            f"revisions; lost {len(self.lost)}, doubled {len(self.doubled)}, stuck {len(self.stuck)}, out of order "
            f"{len(self.disordered)}; reasons of failures: {dict(self.reasons)}"
        )


class Part:
    """`trigpoint serve NAME`, started again after each death."""

    def __init__(self, names: tuple[str, ...], env: dict[str, str], log: Path) -> None:
        self.names, self._env, self._log = names, env, log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "trigpoint.cli.main", "serve", *self.names]
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(command, env=self._env, stdout=log, stderr=log, start_new_session=True)

    def start_if_dead(self) -> None:
        if self.process is None or self.process.poll() is not None:
            self.start()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)


class Soak:
    """One run: work in the background, kills in the foreground, then the count."""

    def __init__(self, folder: Path, portal_url: str, receiver: Receiver, seed: int) -> None:
        self.data = folder / "data"
        more = {"CHERWELL_PORTAL_URL": portal_url, "SCRAPER_RATE_LIMIT": "0", "JOB_LEASE_SECONDS": "3"}
        self.env = environment(self.data, **more, API_RATE_LIMIT="100000", LOG_LEVEL="WARNING")
        self.url = f"http://127.0.0.1:{self.env['API_PORT']}"
        self.receiver = receiver
        self.random = random.Random(seed)
        self.tally = Tally()
        self.parts = [Part(names, self.env, folder / f"{names[0]}-{n}.log") for n, names in enumerate(PARTS)]
        self.accepted: dict[str, str] = {}  # review id -> reference
        self.uploaded: list[tuple[str, str]] = []
        self.working = True

    # --- work

    async def call(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Ask until somebody answers; 5xx while a part is being restarted is asked again, too."""
        while True:
            try:
                async with httpx.AsyncClient(timeout=30, trust_env=False) as client:
                    answer = await client.request(method, self.url + path, **more)
                if answer.status_code < 500:
                    return answer
            except httpx.HTTPError:
                pass  # the API was killed: the next one answers
            await asyncio.sleep(0.3)

    async def submit_reviews(self, reference: str) -> None:
        while self.working:
            body = {
                "application_ref": reference,
                "webhook": {"url": self.receiver.url, "secret": "s", "events": list(EVENTS)},
            }
            answer = await self.call(
                "POST", "/api/v1/reviews", json=body, headers={"Idempotency-Key": uuid.uuid4().hex}
            )
            if answer.status_code == 202:
                review_id = answer.json()["review_id"]
                if review_id in self.accepted:
                    self.tally.doubled.append(f"{review_id} was accepted twice")
                self.accepted[review_id] = reference
                while self.working and (await self.status(review_id)) not in ENDED:  # noqa: ASYNC110
                    await asyncio.sleep(0.5)
            await asyncio.sleep(0.2)

    async def status(self, review_id: str) -> str:
        answer = await self.call("GET", f"/api/v1/reviews/{review_id}/status")
        return str(answer.json().get("status", answer.status_code))

    async def upload_revisions(self) -> None:
        content, number = digest_pdf(read_digest("OCC_LTCP_2022_07.md")), 0
        while self.working:
            number += 1
            source = f"SOAK_{number}"
            policy = {"source": source, "title": source, "category": "local_guidance"}
            await self.call("POST", "/api/v1/policies", json=policy)
            answer = await self.call(
                "POST",
                f"/api/v1/policies/{source}/revisions",
                files={"file": ("a.pdf", content, "application/pdf")},
                data={"version_label": "one", "effective_from": "2024-01-01"},
                headers={"Idempotency-Key": uuid.uuid4().hex},
            )
            if answer.status_code == 202:
                self.uploaded.append((source, answer.json()["revision_id"]))
            await asyncio.sleep(5)

    # --- kills

    def victims(self) -> dict[str, list[int]]:
        """Everything that runs now, by kind."""
        found: dict[str, list[int]] = defaultdict(list)
        for part in self.parts:
            if part.process is not None and part.process.poll() is None:
                found[part.names[0]].append(part.process.pid)
        for kind, pid in embedded_processes(self.data):
            found[kind].append(pid)
        return found

    async def kill(self, count: int, pause: float) -> None:
        for _ in range(count):
            await asyncio.sleep(self.random.uniform(0.2, 2 * pause))
            victims = await asyncio.to_thread(self.victims)
            kind = self.random.choice(sorted(victims))
            pid = self.random.choice(victims[kind])
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            self.tally.kills[kind] += 1
            for part in self.parts:
                if part.process is not None and part.process.pid == pid:
                    await asyncio.to_thread(part.process.wait, 30)  # until then it counts as alive, and stays away
                part.start_if_dead()

    # --- the whole

    async def run(self, kills: int, pause: float, references: list[str]) -> Tally:
        for part in self.parts:
            part.start()
        try:
            await self.call("GET", "/api/v1/health")
            await asyncio.to_thread(trigpoint, "policies", "seed", "--digest", env=self.env, timeout=300)
            work = [asyncio.create_task(self.submit_reviews(reference)) for reference in references]
            work.append(asyncio.create_task(self.upload_revisions()))
            await self.kill(kills, pause)
            self.working = False
            for part in self.parts:
                part.start_if_dead()
            await asyncio.wait_for(asyncio.gather(*work), 300)
            await self.count()
        finally:
            for part in self.parts:
                await asyncio.to_thread(part.stop)
        return self.tally

    async def count(self) -> None:
        await self._count_reviews()
        await self._count_revisions()
        await self._count_events()

    async def _count_reviews(self) -> None:
        deadline = time.monotonic() + 300
        for review_id in self.accepted:
            while (status := await self.status(review_id)) not in ENDED:
                if status == "404":
                    self.tally.lost.append(f"{review_id} is not known")
                    break
                if time.monotonic() > deadline:
                    self.tally.stuck.append(f"{review_id} is {status}")
                    break
                await asyncio.sleep(0.5)
            self.tally.reviews[status] += 1
            if status == "failed":
                error = (await self.call("GET", f"/api/v1/reviews/{review_id}")).json()["error"]
                self.tally.reasons[f"{error['code']}: {error['message'][:100]}"] += 1

    async def _count_revisions(self) -> None:
        deadline = time.monotonic() + 240
        for source, revision_id in self.uploaded:
            path = f"/api/v1/policies/{source}/revisions/{revision_id}"
            while True:
                answer = await self.call("GET", path)
                if answer.status_code == 404:
                    self.tally.lost.append(f"{source}/{revision_id} is not known")
                    break
                revision = answer.json()
                if revision["status"] in ("active", "failed"):
                    self.tally.revisions += 1
                    if revision["status"] == "failed":
                        self.tally.reasons[f"revision: {revision['error']}"[:120]] += 1
                    break
                if time.monotonic() > deadline:
                    self.tally.stuck.append(f"{source}/{revision_id} is {revision['status']}")
                    break
                await asyncio.sleep(0.5)

    async def _count_events(self) -> None:
        """Each review's events in the feed and at the receiver: begun, going forward, ended once, nothing after that."""
        events = await self._feed()
        for review_id in self.accepted:
            names = [name for name, _ in events[review_id]]
            percents = [percent for _, percent in events[review_id] if percent is not None]
            if [name in TERMINAL for name in names].count(True) > 1:
                self.tally.doubled.append(f"{review_id} ended {names.count(names[-1])} times: {names}")
            in_order = names[:1] == ["review.started"] and names[-1] in TERMINAL and percents == sorted(percents)
            if names and not in_order:
                self.tally.disordered.append(f"{review_id}: {events[review_id]}")
        await self._count_deliveries()

    async def _feed(self) -> dict[str, list[tuple[str, int | None]]]:
        found: dict[str, list[tuple[str, int | None]]] = defaultdict(list)
        cursor: str | None = None
        while True:
            more = {"after": cursor} if cursor else {}
            page = (await self.call("GET", "/api/v1/events", params={"limit": 1000, **more})).json()
            for one in page["events"]:
                body = one["body"]
                percent = (body.get("progress") or {}).get("percent_complete")
                found[body["review_id"]].append((body["event"], percent))
            cursor = page["cursor"]
            if not page["events"]:
                return found

    async def _count_deliveries(self) -> None:
        """A receiver may get a delivery twice, under one id; it never gets a later one first."""
        for review_id in self.accepted:
            first: dict[str, str] = {}
            for one in self.receiver.received:
                if one.json["review_id"] == review_id:
                    first.setdefault(one.headers["x-webhook-delivery-id"], one.json["event"])
            ends = [event for event in first.values() if event in TERMINAL]
            if len(ends) > 1:
                self.tally.doubled.append(f"{review_id}: {len(ends)} ends were delivered")
            if ends and list(first.values())[-1] not in TERMINAL:
                self.tally.disordered.append(f"{review_id}: delivered {list(first.values())}")


EVENTS = ("review.started", "review.progress", *TERMINAL)


async def soak(kills: int, *, pause: float, seed: int, folder: Path) -> Tally:
    register = sample_register(load_settings(trigpoint_data_dir=folder / "portal"))
    with DemoPortal(register, port=0) as portal:
        async with receiving() as receiver:
            return await Soak(folder, portal.url, receiver, seed).run(kills, pause, sorted(register)[:3])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between two kills, on average")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trigpoint-kills-") as name:
        tally = asyncio.run(soak(given.kills, pause=given.pause, seed=given.seed, folder=Path(name)))
    print(tally)
    for problem in (*tally.lost, *tally.doubled, *tally.stuck, *tally.disordered):
        print("  ", problem)
    sys.exit(bool(tally.lost or tally.doubled or tally.stuck or tally.disordered))


if __name__ == "__main__":
    main()
