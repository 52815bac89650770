"""The product as a newcomer meets it: how soon `trigpoint up` is ready, and the demo from a cold start to its files."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.report import Report

_PORTS = ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER")


def run(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        first, _ = _start_and_stop(Path(folder) / "data")
        report.row("trigpoint up, first start with the shipped policies", first, "s")
        again, stopped = zip(*[_start_and_stop(Path(folder) / "data") for _ in range(3)], strict=True)
        report.row("trigpoint up, ready after the first time", median(again), "s", bar="<= 5")
        report.row("trigpoint up, Ctrl-C to exit", median(stopped), "s")
        _measure_demo(report, Path(folder) / "demo")


def _start_and_stop(data: Path) -> tuple[float, float]:
    """Seconds from the command to the table, and from SIGINT to the exit."""
    data.parent.mkdir(parents=True, exist_ok=True)
    with (data.parent / "up.log").open("w+b") as log:
        began = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "trigpoint.cli.main", "up"], env=_env(data), stderr=log)
        while b"Trigpoint is up" not in Path(log.name).read_bytes():
            if process.poll() is not None or time.perf_counter() - began > 120:
                process.kill()
                raise RuntimeError(Path(log.name).read_text())
            time.sleep(0.02)
        ready = time.perf_counter() - began
        process.send_signal(signal.SIGINT)
        stopping = time.perf_counter()
        process.wait(60)
        return ready, time.perf_counter() - stopping


def _measure_demo(report: Report, out: Path) -> None:
    began = time.perf_counter()
    command = [sys.executable, "-m", "trigpoint.cli.main", "demo", "run", "--out", str(out)]
    done = subprocess.run(command, env=_env(out / "unused"), capture_output=True, text=True, timeout=600)
    taken = time.perf_counter() - began
    if done.returncode != 0:
        report.skip(f"the demo failed: {done.stderr[-300:]}")
        return
    report.row("make demo, packages installed, cold start to files", taken, "s", bar="<= 60")
    if found := re.search(r"verified; ([0-9.]+) s", done.stdout.replace("\n", " ")):
        report.row("make demo, the review itself", float(found[1]), "s")


def _env(data: Path) -> dict[str, str]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in _PORTS]
    ports = {f"{name}_PORT": str(sock.getsockname()[1]) for name, sock in zip(_PORTS, held, strict=True)}
    for sock in held:
        sock.close()
    return os.environ | ports | {"TRIGPOINT_DATA_DIR": str(data), "LOG_LEVEL": "WARNING", "COLUMNS": "120"}
