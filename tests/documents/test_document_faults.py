"""What a crash, a stop and a second process do to the document store: D7, E8, E11. Real processes, real signals."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from document_bench import REF, Bench, empty_chroma, make_pdf, prose

from trigpoint.config import Settings, load_settings
from trigpoint.errors import StoreError, ToolFailed
from trigpoint.mcp.client import ToolClient
from trigpoint.storage.chroma_server import Server
from trigpoint.storage.keeper import wait_until_gone

HERE = Path(__file__).parent
MOMENTS = 20


def start_ingest(data: Path, file: Path, chroma_url: str | None) -> subprocess.Popen[str]:
    command = [sys.executable, str(HERE / "ingest_process.py"), str(data), str(file)]
    environment = {**os.environ, "CHROMA_URL": chroma_url or ""}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=HERE, env=environment
    )


def finished(process: subprocess.Popen[str]) -> dict:
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return {key: value for line in out.splitlines() for key, value in json.loads(line).items()}


@pytest.mark.slow
def test_kill_9_at_twenty_moments_of_an_ingest_and_the_same_ingest_again_end_as_if_nothing_had_been(
    tmp_path: Path, settings: Settings
):
    """Embedded, and on a Chroma server, where what was half written outlives its writer."""
    url = settings.chroma_url

    def fresh(name: str) -> tuple[Path, Path]:
        if url is not None:
            empty_chroma(url)
        data = tmp_path / name / "data"
        return data, make_pdf(data / "statement.pdf", [prose(f"chapter {n}", 30) for n in range(5)])

    data, file = fresh("undisturbed")
    process = start_ingest(data, file, url)
    assert process.stdout is not None
    process.stdout.readline()
    began = time.monotonic()
    process.stdout.readline()
    took = time.monotonic() - began
    expected = json.loads(process.stdout.readline())["state"]
    assert process.wait(60) == 0
    path_before = str(file)

    rng = random.Random(20261115)
    killed_before_the_end = 0
    for moment in range(MOMENTS):
        data, file = fresh(str(moment))
        process = start_ingest(data, file, url)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(took * 0.8 * rng.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
        again = finished(start_ingest(data, file, url))
        whole = len(expected["passages"])
        assert again["seen_before"] in (0, whole), "a search saw half a document"
        if again["seen_before"] == 0:
            killed_before_the_end += 1
            assert again["outcome"]["status"] == "success"
        else:
            assert again["outcome"]["status"] == "already_ingested"
        assert json.dumps(again["state"]).replace(str(file), path_before) == json.dumps(expected), moment
    assert killed_before_the_end >= MOMENTS // 4, "the kills came too late to prove anything"


@contextmanager
def document_store(port: int, data: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """`trigpoint serve document-store` as a process of its own."""
    data.mkdir(parents=True, exist_ok=True)
    settings = {"TRIGPOINT_DATA_DIR": str(data), "DOCUMENT_STORE_PORT": str(port), "TEXT_WORKERS": "1", **environment}
    command = [sys.executable, "-m", "trigpoint.cli.main", "serve", "document-store", "--root", str(data.parent)]
    process = subprocess.Popen(command, env={**os.environ, **settings}, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health")
                break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


@pytest.mark.slow
async def test_a_server_told_to_stop_ends_an_ingest_cleanly_and_soon(tmp_path: Path, free_port: Callable[[], int]):
    port, data = free_port(), tmp_path / "data"
    file = make_pdf(data / "long.pdf", [prose(f"chapter {n}", 40) for n in range(30)])
    arguments = {"file_path": str(file), "application_ref": REF}
    begun = asyncio.Event()

    async def note(done, total, message):
        if message.startswith("passage"):
            begun.set()

    with document_store(port, data) as process:
        async with ToolClient(f"http://127.0.0.1:{port}") as client:
            ingest = asyncio.create_task(client.call("ingest_document", arguments, progress=note))
            await asyncio.wait_for(begun.wait(), 60)
            process.terminate()
            with pytest.raises(ToolFailed) as stopped:
                await ingest
        assert stopped.value.code == "cancelled"
        assert await asyncio.to_thread(process.wait, 15) == 0
    with document_store(port, data):
        async with ToolClient(f"http://127.0.0.1:{port}") as client:
            listed = await client.call("list_ingested_documents", {"application_ref": REF})
            found = await client.call("search_application_docs", {"query": "survey"})
    assert listed["document_count"] == found["results_count"] == 0


@pytest.mark.slow
async def test_a_second_server_on_the_port_says_why_it_cannot_start(tmp_path: Path, free_port: Callable[[], int]):
    port = free_port()
    with document_store(port, tmp_path / "data"), document_store(port, tmp_path / "other") as second:
        assert await asyncio.to_thread(second.wait, 30) == 1
        assert second.stderr is not None
        message = second.stderr.read()
    assert "port" in message
    assert "Traceback" not in message


@pytest.mark.slow
async def test_two_servers_write_to_one_chroma_at_once(
    tmp_path: Path, free_port: Callable[[], int], chroma_server: str
):
    empty_chroma(chroma_server)
    ports = free_port(), free_port()
    shared = [make_pdf(tmp_path / f"same{n}.pdf", [prose(f"shared {n}", 60)]) for n in range(3)]
    own = [[make_pdf(tmp_path / f"own{s}{n}.pdf", [prose(f"own {s} {n}", 60)]) for n in range(3)] for s in range(2)]
    with (
        document_store(ports[0], tmp_path / "one", CHROMA_URL=chroma_server),
        document_store(ports[1], tmp_path / "two", CHROMA_URL=chroma_server),
    ):
        async with ToolClient(f"http://127.0.0.1:{ports[0]}") as one, ToolClient(f"http://127.0.0.1:{ports[1]}") as two:
            sizes: dict[str, set[int]] = {}
            stop = asyncio.Event()

            async def watch(client: ToolClient) -> None:
                while not stop.is_set():
                    for mode in ("semantic", "hybrid"):
                        found = await client.call(
                            "search_application_docs", {"query": "survey item", "max_results": 1000, "mode": mode}
                        )
                        count: dict[str, int] = {}
                        for passage in found["results"]:
                            name = passage["metadata"]["document_id"]
                            count[name] = count.get(name, 0) + 1
                        for name, size in count.items():
                            sizes.setdefault(name, set()).add(size)

            def ingest(client: ToolClient, file: Path):
                return client.call("ingest_document", {"file_path": str(file), "application_ref": REF})

            watchers = [asyncio.create_task(watch(client)) for client in (one, two)]
            both = [(ingest(one, file), ingest(two, file)) for file in shared]
            pairs = await asyncio.gather(*(asyncio.gather(*pair) for pair in both))
            alone = await asyncio.gather(
                *(ingest(client, file) for client, files in zip((one, two), own, strict=True) for file in files)
            )
            for _ in range(2):
                await asyncio.sleep(0.5)
            stop.set()
            await asyncio.gather(*watchers)
            lists = [await client.call("list_ingested_documents", {"application_ref": REF}) for client in (one, two)]
            search = {"query": "own 1 2 of the survey", "mode": "hybrid", "max_results": 20}
            answers = [await client.call("search_application_docs", search) for client in (one, two)]
    for pair in pairs:
        assert sorted(answer["status"] for answer in pair) == ["already_ingested", "success"]
    assert [answer["status"] for answer in alone] == ["success"] * 6
    assert lists[0] == lists[1]
    assert lists[0]["document_count"] == 9
    assert answers[0] == answers[1]
    expected = {row["document_id"]: {row["chunk_count"]} for row in lists[0]["documents"]}
    assert sizes.items() <= expected.items(), "a search saw half a document"


@pytest.mark.slow
@pytest.mark.parametrize(
    "blow",
    [
        pytest.param(
            blow,
            marks=pytest.mark.fault(
                f"the embedded Chroma ({how})",
                phase="ingest, search",
                seen="searches go on; an ingest waits, or fails naming the folder, and can be repeated at once",
            ),
        )
        for blow, how in ((signal.SIGKILL, "kill -9"), (signal.SIGSTOP, "it hangs"))
    ],
)
async def test_a_store_that_dies_or_hangs_in_the_middle_of_an_ingest_loses_nothing_and_doubles_nothing(
    tmp_path: Path, free_port: Callable[[], int], goes_on: Callable[[float], None], blow: signal.Signals
):
    port, data = free_port(), tmp_path / "data"
    first = make_pdf(data / "first.pdf", [prose("first", 40)])
    long = make_pdf(data / "long.pdf", [prose(f"chapter {n}", 40) for n in range(30)])
    chroma = Server(data / "chroma" / "documents")
    health: list[float] = []
    stop = asyncio.Event()

    async def strike(done, total, message):
        if message.startswith("passage") and done >= 95:
            os.kill(chroma.process(), blow)

    async def watch_health() -> None:
        async with httpx.AsyncClient() as http:
            while not stop.is_set():
                began = time.monotonic()
                assert (await http.get(f"http://127.0.0.1:{port}/health")).json() == {"status": "ok"}
                health.append(time.monotonic() - began)
                await asyncio.sleep(0.05)

    with document_store(port, data):
        async with ToolClient(f"http://127.0.0.1:{port}") as client:
            await client.call("ingest_document", {"file_path": str(first), "application_ref": REF})
            watcher = asyncio.create_task(watch_health())
            arguments = {"file_path": str(long), "application_ref": REF}
            try:
                await client.call("ingest_document", arguments, progress=strike)
            except ToolFailed as failed:
                assert failed.code in ("store_unavailable", "store_error")
                assert str(chroma.folder) in str(failed)
            asked = time.monotonic()
            while_away = await client.call("search_application_docs", {"query": "first survey", "max_results": 5})
            goes_on(time.monotonic() - asked)
            again = await client.call("ingest_document", arguments)
            stop.set()
            await watcher
            listed = await client.call("list_ingested_documents", {"application_ref": REF})
            found = await client.call("search_application_docs", {"query": "survey", "max_results": 1000})
    assert "first.pdf" in {
        one["metadata"]["source_file"] for one in while_away["results"]
    }  # also if the other one has failed
    assert again["status"] in ("success", "already_ingested")
    expected = {row["document_id"]: row["chunk_count"] for row in listed["documents"]}
    assert len(expected) == 2
    counts: dict[str, int] = {}
    for passage in found["results"]:
        counts[passage["metadata"]["document_id"]] = counts.get(passage["metadata"]["document_id"], 0) + 1
    assert counts == expected
    assert sorted(health)[len(health) // 2] < 0.1, "health waited for the store"


@pytest.mark.slow
@pytest.mark.fault(
    "all disk space",
    phase="ingest, search",
    seen="searches go on; an ingest fails naming the folder, and works again once there is space",
)
def test_a_full_disk_is_named_and_work_goes_on_when_there_is_space_again(
    tmp_path: Path, processor, goes_on: Callable[[float], None]
):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40m", "tmpfs", str(disk)], capture_output=True, text=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"a small disk cannot be mounted here ({mounted.stderr.strip()})")
    try:
        bench = Bench(load_settings(trigpoint_data_dir=disk / "data", text_workers=1), processor)
        try:
            _fill_and_free(disk, bench, goes_on)
        finally:
            bench.store.close()
            wait_until_gone(bench.settings.chroma_dir("documents"))
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _fill_and_free(disk: Path, bench: Bench, goes_on: Callable[[float], None]) -> None:
    pages = [prose(f"chapter {n}", 40) for n in range(4)]
    first = bench.add(make_pdf(disk / "data" / "first.pdf", pages))
    files = [make_pdf(disk / "data" / f"{n}.pdf", [*pages, f"number {n}"]) for n in range(3)]
    ballast = disk / "ballast"
    with ballast.open("wb") as file, suppress(OSError):
        while True:
            file.write(b"\0" * 65536)
            file.flush()
    refused = []
    for path in files:
        try:
            bench.add(path)
        except (StoreError, OSError) as error:
            refused.append(str(error))
        assert len(bench.search("survey item", max_results=5)) == 5, "a search failed while the disk was full"
    assert refused, "the disk was not full"
    assert all(str(disk) in message for message in refused), refused
    ballast.unlink()
    freed = time.monotonic()
    deadline = freed + 30
    outcomes = {}
    while len(outcomes) < len(files) and time.monotonic() < deadline:
        for path in files:
            try:
                outcomes[path] = bench.add(path)
            except StoreError:
                time.sleep(0.5)
    goes_on(time.monotonic() - freed)
    assert {outcome.status for outcome in outcomes.values()} <= {"success", "already_ingested"}
    rows = bench.store.registry.of_application(REF)
    assert len(rows) == 1 + len(files)
    counts: dict[str, int] = {}
    for passage in bench.search("survey item", max_results=1000):
        counts[passage.metadata.document_id] = counts.get(passage.metadata.document_id, 0) + 1
    assert counts == {row.document_id: row.chunk_count for row in rows}
    assert bench.store.passages.records.count() == sum(counts.values())
    assert counts[first.document_id] == first.chunks_created
