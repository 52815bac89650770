"""One loaded model and one Chroma server for all tests of this area."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import httpx
import pytest

from trigpoint.config import load_settings
from trigpoint.text.embed import EmbeddingService

_RUN = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(sys.argv[1:])"


@pytest.fixture(scope="session")
def embedding() -> EmbeddingService:
    return EmbeddingService(load_settings())


@pytest.fixture(scope="session")
def chroma_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server, as CHROMA_URL would name it."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma")
    command = [sys.executable, "-c", _RUN, "chroma", "run", "--path", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while not _answers(url):
        assert time.monotonic() < deadline, "chroma run did not start"
        time.sleep(0.05)
    yield url
    process.kill()
    process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v2/heartbeat").is_success
    except httpx.HTTPError:
        return False
