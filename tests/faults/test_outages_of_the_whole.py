"""Chroma or the council's register goes away in the middle of a review by the whole product: the review waits and completes.

`OUTAGE_SECONDS` says for how long, as in test_outages.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from trigpoint.config import load_settings
from trigpoint.demo.faults import Fault
from trigpoint.demo.portal import DemoPortal
from trigpoint.demo.register import sample_register
from trigpoint_process import SMALL, Running, environment, finished, free_ports, submitted

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SECONDS = float(os.environ.get("OUTAGE_SECONDS", "5"))
GoesOn = Callable[[float], None]


class ChromaServer:
    """A Chroma as an operator would run it, at an address of its own."""

    def __init__(self, folder: Path) -> None:
        (self._port,) = free_ports(1)
        self.url = f"http://127.0.0.1:{self._port}"
        self._folder = folder

    def start(self) -> None:
        script = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(sys.argv[1:])"
        where = ["--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", script, "chroma", "run", *where],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(self._answers)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/api/v2/heartbeat", timeout=5).is_success
        except httpx.HTTPError:
            return False


def until(done: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


class Site:
    """`trigpoint up`, the Chroma that it uses, and the register that it reads."""

    def __init__(self, up: Running, chroma: ChromaServer, portal: DemoPortal, portal_port: int) -> None:
        self.up, self.chroma, self.portal, self._portal_port = up, chroma, portal, portal_port

    def status(self, review_id: str) -> dict[str, Any]:
        return dict(self.up.get(f"/api/v1/reviews/{review_id}/status").json())

    def reaches(self, review_id: str, phase: str) -> None:
        """Return when the review is in that phase."""

        def is_there() -> bool:
            status = self.status(review_id)
            assert status["status"] in ("queued", "processing"), status
            return bool((status.get("progress") or {}).get("phase") == phase)

        until(is_there)

    def register_away(self) -> None:
        self.portal.stop()

    def register_back(self) -> None:
        self.portal = DemoPortal(self.portal.register, port=self._portal_port).start()

    def outlasts(self, review_id: str, back: Callable[[], None]) -> float:
        """Let the outage last, end it, and return the seconds after which the review was complete."""
        time.sleep(SECONDS)
        assert self.status(review_id)["status"] == "processing"
        back()
        returned = time.monotonic()
        review = finished(self.up, review_id)
        assert review["status"] == "completed", review
        assert review["application"]["documents_fetched"] > 0
        return time.monotonic() - returned


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("outages")
    register = sample_register(load_settings(trigpoint_data_dir=folder / "portal"))
    (portal_port,) = free_ports(1)
    chroma = ChromaServer(folder / "chroma")
    chroma.start()
    env = environment(
        folder / "data",
        CHROMA_URL=chroma.url,
        CHERWELL_PORTAL_URL=f"http://127.0.0.1:{portal_port}",
        SCRAPER_RATE_LIMIT="0",
        API_RATE_LIMIT="1000000",
    )
    with DemoPortal(register, port=portal_port) as portal, Running("up", env=env) as up:
        made = Site(up, chroma, portal, portal_port)
        try:
            yield made
        finally:
            made.register_away()
            chroma.kill()


_SEEN = "the review stays `processing`; health names Chroma"


@pytest.mark.fault("Chroma (at `CHROMA_URL`)", phase="ingest", seen=_SEEN)
def test_a_review_waits_for_chroma_before_it_ingests(site: Site, goes_on: GoesOn) -> None:
    site.portal.faults.replace([Fault(kind="slow", match="Document/Download", value="2")])
    review_id = submitted(site.up, SMALL)
    site.reaches(review_id, "downloading_documents")
    site.chroma.kill()
    goes_on(site.outlasts(review_id, site.chroma.start))


@pytest.mark.fault("Chroma (at `CHROMA_URL`)", phase="analyse, policy", seen=_SEEN)
def test_a_review_waits_for_chroma_while_it_reads_documents_and_policy(site: Site, goes_on: GoesOn) -> None:
    review_id = submitted(site.up, "25/01178/REM")
    site.reaches(review_id, "analysing_application")
    site.chroma.kill()
    goes_on(site.outlasts(review_id, site.chroma.start))


@pytest.mark.fault(
    "the council's register", phase="download", seen="the review stays `processing`; after a minute it is `failed`"
)
def test_a_review_waits_for_the_register_in_the_middle_of_its_downloads(site: Site, goes_on: GoesOn) -> None:
    site.portal.faults.replace([Fault(kind="slow", match="Document/Download", value="3")])
    review_id = submitted(site.up, "24/00633/F")
    site.reaches(review_id, "downloading_documents")
    site.register_away()
    goes_on(site.outlasts(review_id, site.register_back))
