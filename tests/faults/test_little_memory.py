"""A large document with little memory: it is read, or fails cleanly, and the store answers afterwards."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from trigpoint.errors import ServerUnreachable, ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint_process import environment

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1100)]

GIGABYTE = 1024**3


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (GIGABYTE, GIGABYTE))


@pytest.mark.fault(
    "memory beyond 1 GB for each process",
    phase="ingest of 619 pages",
    seen="the document is read, or an error says why not",
)
async def test_a_document_of_619_pages_is_ingested_within_a_gigabyte(
    shared_data: Path, tmp_path: Path, goes_on: Callable[[float], None]
) -> None:
    (large,) = (shared_data / "pdfs" / "large").glob("*619*.pdf")
    env = environment(tmp_path / "data", DOCUMENT_ROOTS=str(large.parent))
    process = _limited_store(env, tmp_path / "log")
    url = f"http://127.0.0.1:{env['DOCUMENT_STORE_PORT']}"
    try:
        _until_up(url, tmp_path / "log")
        began = time.monotonic()
        outcome = await _ingested(url, large)
        assert outcome["status"] == "success" or outcome["error_type"] in ("extraction_failed", "store_error"), outcome
        answered = time.monotonic()
        async with ToolClient(url) as tools:
            listed = await tools.call("list_ingested_documents", {"application_ref": "25/00619/F"}, timeout=60)
            assert listed["document_count"] == (outcome["status"] == "success")
            if outcome["status"] == "success":
                found = await tools.call("search_application_docs", {"query": "transport"}, timeout=60)
                assert found["results"]
        goes_on(time.monotonic() - answered)
        print(f"{large.name}: {outcome['status']} in {answered - began:.0f} s, peak {_peak_mb(process.pid)} MB")
        assert process.poll() is None
    finally:
        process.terminate()
        process.wait(60)


def _limited_store(env: dict[str, str], log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "trigpoint.cli.main", "serve", "document-store"]
    with log.open("wb") as output:
        return subprocess.Popen(command, env=env, stdout=output, stderr=output, preexec_fn=limited)


async def _ingested(url: str, path: Path) -> dict[str, Any]:
    async with ToolClient(url) as tools:
        try:
            given = {"file_path": str(path), "application_ref": "25/00619/F"}
            return await tools.call("ingest_document", given, timeout=1000)
        except ToolFailed as error:
            return {"status": "error", "error_type": error.code, "message": error.message}
        except ServerUnreachable as error:
            raise AssertionError(f"the server died: {error.message}") from None


def _until_up(url: str, log: Path) -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if httpx.get(f"{url}/health", timeout=5).is_success:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(log.read_text())


def _peak_mb(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) // 1024
