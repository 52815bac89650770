"""The Trigpoint that `benchmarks.load` works on: started on a folder of its own, with what it takes of the machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from trigpoint.mcp import SERVERS

_PORTS = ("API", "CHERWELL_SCRAPER", "DOCUMENT_STORE", "POLICY_KB", "LIBRARY", "GRAPH", "REVIEWER")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
PROJECT = "load"


@dataclass(frozen=True)
class Product:
    """Trigpoint as it runs: its data folder, its processes, and its addresses by the names of the port variables."""

    data: Path
    pids: tuple[int, ...]
    urls: dict[str, str]

    def memory_mb(self) -> tuple[float, float]:
        """Return the memory of all its processes but Valkey, and that of Valkey, which holds the finished reviews."""
        others = valkey = 0.0
        for pid, command in _processes_of(self.data, self.pids).items():
            size = _resident_mb(pid)
            if b"valkey-server" in command:
                valkey += size
            else:
                others += size
        return others, valkey


@contextmanager
def running(folder: Path, portal_url: str, documents: Path, *, apart: bool = False) -> Iterator[Product]:
    """Start `trigpoint up` with a library of the documents and no rate limit, and stop it at the end.

    With `apart`, the API has a process of its own, as it has in `deploy/compose.yaml`, and all else runs in another.
    """
    ports = _free_ports()
    projects = folder / "trigpoint.toml"
    projects.write_text(f'[library.projects."{PROJECT}"]\nsources = ["{documents}"]\n', encoding="utf-8")
    env = os.environ | {f"{name}_PORT": str(port) for name, port in ports.items()}
    env |= {"TRIGPOINT_DATA_DIR": str(folder / "data"), "TRIGPOINT_CONFIG": str(projects), "LOG_LEVEL": "WARNING"}
    env |= {"CHERWELL_PORTAL_URL": portal_url, "SCRAPER_RATE_LIMIT": "0", "DOCUMENT_ROOTS": str(folder)}
    env |= {"API_RATE_LIMIT": "1000000"}  # or most requests would be refused, and nothing measured
    command, log = [sys.executable, "-m", "trigpoint.cli.main"], folder / "up.log"

    subprocess.run(
        [*command, "library", "sync", "--project", PROJECT], env=env, capture_output=True
    )  # drawings have no text: exit code 1
    parts = [["serve", "api"], ["serve", "worker", *SERVERS]] if apart else [["up"]]
    if apart:
        subprocess.run([*command, "policies", "seed", "--digest"], env=env, capture_output=True, check=True)
    urls = {name: f"http://127.0.0.1:{port}" for name, port in ports.items()}
    with log.open("wb") as output:
        processes = [subprocess.Popen([*command, *one], env=env, stdout=output, stderr=output) for one in parts]
    try:
        while not (all(map(_answers, urls.values())) and (apart or b"Trigpoint is up" in log.read_bytes())):
            if any(one.poll() is not None for one in processes):
                sys.exit(log.read_text())
            time.sleep(0.5)
        yield Product(folder / "data", tuple(one.pid for one in processes), urls)
    finally:
        for one in processes:
            one.send_signal(signal.SIGTERM)
        for one in processes:
            one.wait(60)
        print(log.read_text().partition("in a browser.")[2].strip()[-3000:])


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", timeout=5, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def _free_ports() -> dict[str, int]:
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in _PORTS]
    ports = {name: int(sock.getsockname()[1]) for name, sock in zip(_PORTS, socks, strict=True)}
    for sock in socks:
        sock.close()
    return ports


class Processors:
    """How busy the processors are: `shares()` returns, for each, the share of its time since the last call."""

    def __init__(self) -> None:
        self._before = _processor_times()

    def shares(self) -> list[float]:
        before, self._before = self._before, _processor_times()
        pairs = zip(before, self._before, strict=True)
        return [(busy - old_busy) / max(1, total - old_total) for (old_busy, old_total), (busy, total) in pairs]


def _processor_times() -> list[tuple[int, int]]:
    """For each processor, the ticks that it was busy and all ticks."""
    rows = [line.split() for line in Path("/proc/stat").read_text().splitlines()]
    times = [[int(value) for value in row[1:9]] for row in rows if row[0].startswith("cpu") and row[0] != "cpu"]
    return [(sum(row) - row[3] - row[4], sum(row)) for row in times]  # idle, and waiting for a disk


def cpu_seconds(pid: int) -> float:
    """Return the processor time that one process has used."""
    values = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(values[11]) + int(values[12])) / _TICKS


def _resident_mb(pid: int) -> float:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_MB
    except OSError:
        return 0.0  # it has ended since


def _processes_of(folder: Path, first: tuple[int, ...]) -> dict[int, bytes]:
    """The processes, those that name its data folder (embedded servers, keepers) and all their children, with their commands."""
    parents, commands, found = {}, {}, set(first)
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat, command = (entry / "stat").read_text(), (entry / "cmdline").read_bytes()
            except OSError:
                continue
            pid = int(entry.name)
            parents[pid], commands[pid] = int(stat.rsplit(")", 1)[1].split()[1]), command
            if os.fsencode(folder) in command:
                found.add(pid)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: commands.get(pid, b"") for pid in found}
