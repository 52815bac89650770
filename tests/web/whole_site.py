"""The whole product in a process of its own: `trigpoint up --demo` on an empty data folder."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

CHROMIUM_ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PORTS = (
    "CHERWELL_SCRAPER_PORT",
    "DOCUMENT_STORE_PORT",
    "POLICY_KB_PORT",
    "LIBRARY_PORT",
    "GRAPH_PORT",
    "REVIEWER_PORT",
)
_START_SECONDS = 600  # a first start reads all policies; on a busy machine that takes minutes


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def axe_source(folder: Path) -> str | None:
    """axe-core out of its package, installed into the folder; None where there is no npm, or it finds nothing."""
    npm = shutil.which("npm")
    if npm is None:
        return None
    subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "axe-core"], cwd=folder, capture_output=True, timeout=180
    )
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    return script.read_text(encoding="utf-8") if script.is_file() else None


@contextmanager
def running_everything(folder: Path, *, seed: bool = True, **environment: str) -> Iterator[str]:
    """Yields the address of the pages, once the shipped policies and the sample graph are in place."""
    projects = folder / "trigpoint.toml"
    projects.write_text('[library.projects."team/streets"]\n', encoding="utf-8")
    api = _free_port()
    settings = {
        **os.environ,
        "TRIGPOINT_DATA_DIR": str(folder / "data"),
        "TRIGPOINT_CONFIG": str(projects),
        "API_PORT": str(api),
        **{name: str(_free_port()) for name in PORTS},
        **environment,
    }
    address = f"http://127.0.0.1:{api}"
    with _running(["up", "--demo", "--seed" if seed else "--no-seed"], settings, folder / "up.log"):
        _wait_for(address, folder / "up.log")
        if seed:
            load = [sys.executable, "-m", "trigpoint.cli.main", "graph", "load", "--sample"]
            subprocess.run(load, env=settings, check=True, capture_output=True, timeout=240)
        yield address


@contextmanager
def _running(arguments: list[str], environment: dict[str, str], log: Path) -> Iterator[None]:
    command = [sys.executable, "-m", "trigpoint.cli.main", *arguments]
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(address: str, log: Path) -> None:
    """`up` prints its table when the policies are there."""
    deadline = time.monotonic() + _START_SECONDS
    while "Trigpoint is up" not in log.read_text(encoding="utf-8", errors="replace"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"trigpoint up did not come up:\n{log.read_text(encoding='utf-8', errors='replace')}")
        time.sleep(0.2)
    httpx.get(f"{address}/health", trust_env=False).raise_for_status()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


PAGES = (
    "/",
    "/reviews",
    "REVIEW",
    "REVIEW?show=problems",
    "REVIEW/evidence/1",
    "REVIEW/documents",
    "REVIEW/letter",
    "DOCUMENT",
    "/reviews/compare",
    "/policies?date=2024-06-01",
    "/policies/NPPF",
    "/policies/NPPF/read",
    "/policies/NPPF/compare?old=rev_NPPF_2023_09&new=rev_NPPF_2024_12",
    "/policies/search?q=cycle+parking",
    "/library",
    "/library/project?project=team/streets",
    "/library/search?project=team/streets&q=kerbs",
    "/graph",
    "ENTITY",
    "/status",
    "/nothing-here",
)


def every_page(address: str, review: str) -> list[str]:
    """Every page, with the review and the best connected entity of the sample."""
    projects = httpx.get(f"{address}/api/projects", trust_env=False).json()["data"]
    project = next(p["id"] for p in projects if p["slug"] == "waymark")
    found = httpx.get(f"{address}/api/entities?search=Mode share", headers={"x-project-id": project}, trust_env=False)
    entity = f"/graph/{found.json()['data'][0]['id']}?project={project}&depth=2"
    documents = httpx.get(f"{address}{review}/documents", trust_env=False).text
    document = re.findall(rf'href="({re.escape(review)}/documents/[^"]+)"', documents)[0]
    return [path.replace("REVIEW", review).replace("ENTITY", entity).replace("DOCUMENT", document) for path in PAGES]
