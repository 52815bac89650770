"""Walks through a checkout: which of its functions run, in order, when a user asks for something over MCP or REST.

Run as `python tools/walks.py [CHECKOUT] [--list]`. Everything is started with the checkout's own code (`trigpoint up`, a demo
portal) in a data folder of its own, and asked only through its commands, tools and addresses, so that one script measures every
version. Short walks are taken three times, and what runs each time is counted. Functions that also run while nobody asks for
anything are left out, and so are those of the processes that read pages.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import httpx

REFERENCE = "25/01178/REM"
PATIENCE = 600.0
IDLE_SECONDS = 6.0
PORTS = [
    "API_PORT",
    "CHERWELL_SCRAPER_PORT",
    "DOCUMENT_STORE_PORT",
    "POLICY_KB_PORT",
    "LIBRARY_PORT",
    "GRAPH_PORT",
    "REVIEWER_PORT",
]


@dataclass(frozen=True)
class Walk:
    """The functions that one request runs through, in the order of their first call, as `file: name`."""

    name: str
    functions: list[str]

    @property
    def files(self) -> set[str]:
        return {function.partition(": ")[0] for function in self.functions}


def walks_of(checkout: Path) -> list[Walk]:
    """Return the four walks of a checkout: a document, a question, a graph list, a review by rules."""
    with tempfile.TemporaryDirectory() as folder, _Checkout(checkout, Path(folder)) as running:
        walks = [
            running.walk("a document (`ingest_document`)", running.ingest, times=3),
            running.walk("a question (`search_policy`)", running.search, times=3),
            running.walk("a graph list (`list_projects`)", running.list_projects, times=3),
            running.walk("a review by rules (`POST /reviews`)", running.review),
        ]
        return [Walk(walk.name, [one for one in walk.functions if one not in running.idle]) for walk in walks]


class _Checkout:
    """A checkout that runs, with its functions counted."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        self.folder = folder
        ports = dict(zip(PORTS, map(str, _free_ports(len(PORTS))), strict=True))
        inherited = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        self.environment = (
            inherited | ports | {"TRIGPOINT_DATA_DIR": str(folder / "data"), "DOCUMENT_ROOTS": str(folder)}
        )
        self.environment |= {"PYTHONPATH": str(checkout / "src"), "PYTHONUNBUFFERED": "1", "SCRAPER_RATE_LIMIT": "0"}
        self.api = f"http://127.0.0.1:{ports['API_PORT']}"
        self.idle: set[str] = set()
        self.ingested = 0

    def __enter__(self) -> _Checkout:
        self._run("policies", "seed", "--digest")
        self.portal = self._start(*_trigpoint("demo", "portal", "--port", "0"), stdout=subprocess.PIPE)
        self.environment["CHERWELL_PORTAL_URL"] = self._address_of_portal()
        self.counted = self._start(
            sys.executable,
            __file__,
            "--count",
            str(self.folder / "seen"),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        _wait_until(self._is_up)
        self.search()  # the first of each kind loads the model and opens the stores
        self.list_projects()
        return self

    def __exit__(self, *exception: object) -> None:
        for process in (self.counted, self.portal):
            process.terminate()
            process.wait(60)

    def walk(self, name: str, steps: Callable[[], object], times: int = 1) -> Walk:
        """Take the steps, and return the functions that ran each time."""
        runs = []
        for _ in range(times):
            self._functions_since_last_time()
            time.sleep(IDLE_SECONDS)
            self.idle.update(self._functions_since_last_time())
            steps()
            runs.append(self._functions_since_last_time())
        return Walk(name, [one for one in runs[0] if all(one in run for run in runs)])

    def ingest(self) -> None:
        import pymupdf

        self.ingested += 1
        file = self.folder / f"statement-{self.ingested}.pdf"
        with pymupdf.open() as made:
            made.new_page().insert_text((72, 100), f"The development provides {self.ingested}00 cycle parking spaces.")
            made.save(file)
        self._run("call", "document-store", "ingest_document", f"file_path={file}", f"application_ref={REFERENCE}")

    def search(self) -> None:
        self._run("call", "policy-kb", "search_policy", "query=width of a cycle track", "mode=hybrid")

    def list_projects(self) -> None:
        self._run("call", "graph", "list_projects")

    def review(self) -> None:
        answer = httpx.post(f"{self.api}/api/v1/reviews", json={"application_ref": REFERENCE}).raise_for_status()
        address = f"{self.api}/api/v1/reviews/{answer.json()['review_id']}"

        def done() -> bool:
            status = httpx.get(address).raise_for_status().json()["status"]
            if status in ("failed", "cancelled"):
                raise SystemExit(f"the review ended as {status}")
            return bool(status == "completed")

        _wait_until(done, pause=5)

    def _functions_since_last_time(self) -> list[str]:
        seen = self.folder / "seen"
        assert self.counted.stdin is not None
        self.counted.stdin.write("next\n")
        self.counted.stdin.flush()
        _wait_until(seen.exists)
        functions: list[str] = json.loads(seen.read_text())
        seen.unlink()
        return functions

    def _address_of_portal(self) -> str:
        assert self.portal.stdout is not None
        for line in self.portal.stdout:
            if address := re.search(r"http://[\d.]+:\d+", line):
                return address[0]
        raise SystemExit("the demo portal did not start")

    def _is_up(self) -> bool:
        if self.counted.poll() is not None:
            raise SystemExit(f"`trigpoint up` ended with {self.counted.returncode}")
        try:
            self.list_projects()
            return httpx.get(f"{self.api}/api/v1/health").status_code == 200
        except (httpx.TransportError, subprocess.CalledProcessError):
            return False

    def _run(self, *arguments: str) -> None:
        subprocess.run(
            _trigpoint(*arguments),
            env=self.environment,
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE,
            cwd=self.folder,
        )

    def _start(self, *command: str, **streams: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command, env=self.environment, text=True, stderr=subprocess.DEVNULL, cwd=self.folder, **streams
        )


def _trigpoint(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "trigpoint.cli.main", *arguments]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def _wait_until(condition: Callable[[], bool], pause: float = 0.2) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise SystemExit(f"nothing for {PATIENCE:.0f} s")
        time.sleep(pause)


def run_counted(answer: Path) -> None:
    """Run `trigpoint up`. At each line on standard input, write to `answer` which functions ran since the last."""
    source = os.environ["PYTHONPATH"] + "/trigpoint/"
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(source) and not code.co_name.startswith("<"):
            seen.setdefault(f"{code.co_filename.removeprefix(source)}: {code.co_qualname}")

    def hand_over() -> None:
        for _ in sys.stdin:
            functions = list(seen)
            seen.clear()
            answer.with_suffix(".part").write_text(json.dumps(functions))
            answer.with_suffix(".part").rename(answer)

    threading.Thread(target=hand_over, daemon=True).start()
    with _profiled(note):
        from trigpoint.cli.main import main as trigpoint

        sys.argv = ["trigpoint", "up", "--no-seed"]
        trigpoint()


@contextmanager
def _profiled(note: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--list", action="store_true", help="also list the functions, in order")
    parser.add_argument("--count", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.count is not None:
        run_counted(arguments.count)
        return
    for walk in walks_of(arguments.checkout.absolute()):
        print(f"{walk.name}: {len(walk.functions)} functions in {len(walk.files)} files")
        for function in walk.functions if arguments.list else []:
            print(f"  {function}")


if __name__ == "__main__":
    main()
