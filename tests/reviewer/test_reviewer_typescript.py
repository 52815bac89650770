"""The official TypeScript SDK, from npm, leads a review from opening to PDF, over HTTP and over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from reviewing_agent import REFERENCE

from trigpoint.demo.portal import DemoPortal
from trigpoint_process import Running, environment
from typescript_sdk import next_to_the_sdk

SCRIPT = Path(__file__).parent / "typescript" / "whole_review.mjs"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next_to_the_sdk(SCRIPT, tmp_path_factory.mktemp("typescript"))


async def run(script: Path, transport: str, target: str, env: dict[str, str]) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *("node", str(script), transport, target, REFERENCE),
        env=os.environ | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(), 400)
    assert process.returncode == 0, err.decode()[-3000:]
    answers: dict[str, Any] = json.loads(out)
    return answers


def check(answers: dict[str, Any]) -> None:
    assert "review_application" in answers["prompts"]
    assert answers["first"]["verdict"] == "returned"
    assert "golden shed" in answers["first"]["reasons"][0]
    assert answers["second"]["verdict"] == "verified"
    assert answers["left_out"] == []
    assert "built without any cycle parking" in " ".join(answers["letter"].split())
    assert answers["done"]["ratings"]["Cycle Parking"] == "red"


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_the_typescript_sdk_leads_a_review_over_http(script: Path, everything: Running) -> None:
    answers = await run(script, "streamable", everything.url("REVIEWER"), {})
    check(answers)
    review = everything.get(f"/api/v1/reviews/{answers['done']['review_id']}")
    assert review.json()["metadata"]["model"] == "Node Agent 3"
    assert "golden" not in review.text


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_the_typescript_sdk_leads_a_review_over_stdio_on_an_empty_folder(
    script: Path, portal: DemoPortal, tmp_path: Path
) -> None:
    env = environment(tmp_path / "data", CHERWELL_PORTAL_URL=portal.url, SCRAPER_RATE_LIMIT="0")
    answers = await run(script, "stdio", sys.executable, env)
    check(answers)
    written = {one["format"]: Path(one["path"]) for one in answers["done"]["files"] if one["path"]}
    assert written["pdf"].read_bytes().startswith(b"%PDF")
    assert written["letter"].read_bytes().startswith(b"%PDF")
