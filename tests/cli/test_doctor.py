"""`trigpoint doctor` as a user runs it: a table, and an exit code that scripts can use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from redis import Redis

from trigpoint.cli.doctor import PORTS
from trigpoint.config import load_settings
from trigpoint.storage.chroma import ChromaStore

PROGRAM = Path(sys.executable).with_name("trigpoint")


def run_doctor(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    ports = {name.upper(): "0" for name in PORTS}  # what others run on this machine does not matter
    outside = {"CHERWELL_PORTAL_URL": "http://127.0.0.1:9"}  # tests ask nobody outside this machine
    environment = os.environ | {"TRIGPOINT_DATA_DIR": str(folder), "COLUMNS": "200"} | outside | ports | variables
    return subprocess.run([PROGRAM, "doctor"], env=environment, capture_output=True, text=True, timeout=300)


def test_a_fresh_machine_is_found_in_order(tmp_path: Path) -> None:
    done = run_doctor(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "embedded Valkey" in done.stdout
    assert "384 dimensions" in done.stdout
    assert "│ failed │" not in done.stdout  # the note on the register says why a connection failed


def test_what_cannot_be_reached_is_named_and_the_exit_code_says_so(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    port = free_port()
    done = run_doctor(
        tmp_path,
        CHROMA_URL=f"http://127.0.0.1:{port}",
        REDIS_URL=f"redis://127.0.0.1:{port}",
        EMBEDDING_MODEL_PATH=str(tmp_path / "none"),
    )
    assert done.returncode == 1
    assert f"CHROMA_URL=http://127.0.0.1:{port} cannot be reached" in done.stdout
    assert "REDIS_URL cannot be reached" in done.stdout
    assert done.stdout.count("failed") >= 3
    assert "Traceback" not in done.stderr


def test_a_wrong_setting_is_one_clear_line(tmp_path: Path) -> None:
    done = run_doctor(tmp_path, API_PORT="eighty")
    assert done.returncode == 1
    assert "API_PORT=eighty" in done.stderr
    assert "Traceback" not in done.stderr


def test_another_program_on_a_port_of_ours_is_not_taken_for_trigpoint(tmp_path: Path) -> None:
    with answering({"hello": "world"}) as port:
        done = run_doctor(tmp_path, API_PORT=str(port))
    assert done.returncode == 1
    assert f"{port} is in use by another program" in done.stdout
    assert "API_PORT" in done.stdout


def test_our_own_servers_are_known_by_their_health(tmp_path: Path) -> None:
    with answering({"status": "healthy", "services": {}}) as api, answering({"status": "ok"}) as library:
        done = run_doctor(tmp_path, API_PORT=str(api), LIBRARY_PORT=str(library))
    for port in (api, library):
        assert f"{port} is in use by a running Trigpoint" in done.stdout


def test_files_that_are_no_databases_are_found(tmp_path: Path) -> None:
    for file in (tmp_path / "graph" / "graph.db", tmp_path / "library" / "library.db"):
        file.parent.mkdir()
        file.write_bytes(b"not a database, " * 200)
    done = run_doctor(tmp_path, COLUMNS="400")
    assert done.returncode == 1
    assert done.stdout.count("file is not a database") == 2
    assert "graph.db" in done.stdout
    assert "library.db" in done.stdout
    assert "DATABASE_URL" not in done.stdout


def test_a_store_that_another_process_uses_is_checked_with_it(tmp_path: Path) -> None:
    with ChromaStore(load_settings(trigpoint_data_dir=tmp_path), "policies"):
        done = run_doctor(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "embedded, " in done.stdout
    assert "Stop it" not in done.stdout


def test_a_long_path_is_wrapped_and_never_cut(tmp_path: Path) -> None:
    folder = tmp_path / ("a" * 70) / ("b" * 70)
    done = run_doctor(folder, COLUMNS="80")
    assert "…" not in done.stdout
    assert str(folder) in "".join(row.split("│")[-2].strip() for row in done.stdout.splitlines() if "│" in row)


@contextmanager
def answering(body: dict[str, object]) -> Iterator[int]:
    """A server that answers everything with this JSON; its port."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_a_worker_is_shown_and_missed_only_where_an_api_takes_jobs(tmp_path: Path, clean_redis_url: str) -> None:
    alone = run_doctor(tmp_path, REDIS_URL=clean_redis_url)
    assert alone.returncode == 0, alone.stdout
    assert "none is running; `trigpoint up` starts one" in alone.stdout
    with answering({"status": "healthy", "services": {}}) as api:
        idle = run_doctor(tmp_path, REDIS_URL=clean_redis_url, API_PORT=str(api))
        with Redis.from_url(clean_redis_url) as redis:
            redis.sadd("workers", "host:7:a")
            redis.set("worker:host:7:a", "1")
        served = run_doctor(tmp_path, REDIS_URL=clean_redis_url, API_PORT=str(api))
    assert idle.returncode == 1
    assert "queued jobs wait. Start one: trigpoint serve worker" in idle.stdout
    assert served.returncode == 0, served.stdout
    assert "1 running: host:7:a" in served.stdout


def test_a_part_is_known_by_its_mcp_address_and_missed_when_it_is_taken_away(
    tmp_path: Path, free_port: Callable[[], int]
) -> None:
    with answering({"status": "ok"}) as port:
        there = run_doctor(tmp_path, DOCUMENT_STORE_URL=f"http://127.0.0.1:{port}/mcp")
    gone = run_doctor(tmp_path, DOCUMENT_STORE_URL=f"http://127.0.0.1:{free_port()}/mcp")
    assert there.returncode == 0, there.stdout
    assert f"DOCUMENT_STORE_URL=http://127.0.0.1:{port}/mcp" in there.stdout
    assert gone.returncode == 1
    assert "cannot be reached" in gone.stdout
