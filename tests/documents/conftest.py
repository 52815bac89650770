"""A document store on an empty folder, or (slow) on a real Chroma server, with what ingests into it and searches it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from document_bench import Bench, empty_chroma

from trigpoint.config import Settings, load_settings
from trigpoint.text.extract import DocumentProcessor


@pytest.fixture(scope="session")
def processor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DocumentProcessor]:
    shared = DocumentProcessor(load_settings(trigpoint_data_dir=tmp_path_factory.mktemp("reader"), text_workers=1))
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real `chroma run`; yields its address."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    folder = tmp_path_factory.mktemp("chroma_server")
    command = [str(Path(sys.executable).with_name("chroma")), "run", "--path", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_until(lambda: httpx.get(f"{url}/api/v2/heartbeat").is_success)
        yield url
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(params=["embedded", pytest.param("served", marks=pytest.mark.slow)])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Every test of a store runs embedded, and by `make test-all` on a Chroma server too."""
    if request.param == "embedded":
        return load_settings(trigpoint_data_dir=tmp_path / "data", text_workers=1)
    url = request.getfixturevalue("chroma_server")
    empty_chroma(url)
    return load_settings(trigpoint_data_dir=tmp_path / "data", text_workers=1, chroma_url=url)


@pytest.fixture
def embedded(settings: Settings) -> Settings:
    if settings.chroma_url is not None:
        pytest.skip("about the embedded store")
    return settings


@pytest.fixture
def bench(settings: Settings, processor: DocumentProcessor) -> Iterator[Bench]:
    bench = Bench(settings, processor)
    yield bench
    bench.store.close()


def _wait_until(ready: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if ready():
                return
        except httpx.HTTPError:
            time.sleep(0.1)
    raise TimeoutError("the server did not start")
