"""Clients that are generated from our OpenAPI document work: in Python and in TypeScript, from submission to PDF."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import httpx
import pytest

from review_states import complete
from trigpoint.review.result import ReviewResult

CLIENTS = Path(__file__).with_name("clients")
pytestmark = pytest.mark.slow


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout


def installed(*command: str | Path, cwd: Path) -> None:
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        pytest.skip(f"cannot install the generator: {done.stderr[-300:]}")


def follow(command: list[str], cwd: Path, redis_url: str, result: ReviewResult) -> dict[str, Any]:
    """Run a client; when it has submitted its review, complete it as a worker does."""
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        first = client.stdout.readline()
        if first.strip() == "submitted":
            complete(redis_url, result)
        out, err = client.communicate(timeout=300)
    assert client.returncode == 0, err[-3000:]
    shown: dict[str, Any] = json.loads(out)
    return shown


@pytest.fixture
def sample() -> ReviewResult:
    sys.path.insert(0, str(Path(__file__).parents[1] / "web"))
    from page_samples import result

    return result()


def check(shown: dict[str, Any], sample: ReviewResult) -> None:
    assert shown["rating"] == sample.review.overall_rating
    assert shown["aspects"] == [[aspect.name, aspect.rating] for aspect in sample.review.aspects]
    assert shown["model"] == sample.metadata.model
    assert shown["pdf"] == "%PDF-"
    assert shown["events"][0] == "review.started"
    assert shown["events"][-1] == "review.completed"


def test_a_python_client_runs_a_review(
    api: httpx.Client, clean_redis_url: str, tmp_path: Path, sample: ReviewResult
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    installed(python, "-m", "pip", "install", "-q", "openapi-python-client==0.29.*", cwd=tmp_path)
    (tmp_path / "openapi.json").write_bytes(api.get("/openapi.json").content)
    generator = tmp_path / "venv" / "bin" / "openapi-python-client"
    said = run(
        generator, "generate", "--path", "openapi.json", "--output-path", "client", "--meta", "setup", cwd=tmp_path
    )
    assert "Unable to parse" not in said, said  # a part that no client could be made for
    shutil.copy(CLIENTS / "review.py", tmp_path / "client")
    check(follow([str(python), "review.py", str(api.base_url)], tmp_path / "client", clean_redis_url, sample), sample)


def test_a_typescript_client_runs_a_review(
    api: httpx.Client, clean_redis_url: str, tmp_path: Path, sample: ReviewResult
) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("npm and node are not on this machine")
    (tmp_path / "package.json").write_text('{"private": true, "type": "module"}')
    packages = ("openapi-typescript@7", "openapi-fetch@0.17", "typescript@5", "@types/node@20")
    installed("npm", "install", "--no-audit", "--no-fund", "--silent", *packages, cwd=tmp_path)
    (tmp_path / "openapi.json").write_bytes(api.get("/openapi.json").content)
    shutil.copy(CLIENTS / "review.ts", tmp_path)
    run("npx", "openapi-typescript", "openapi.json", "--output", "schema.d.ts", cwd=tmp_path)
    strict = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "--outDir", "built"]
    run("npx", "tsc", *strict, "review.ts", cwd=tmp_path)
    check(follow(["node", "built/review.js", str(api.base_url)], tmp_path, clean_redis_url, sample), sample)
