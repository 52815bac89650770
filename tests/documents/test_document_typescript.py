"""The official TypeScript SDK, from npm, runs the tools over each transport."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from document_bench import CYCLE, make_pdf

from trigpoint.config import load_settings
from trigpoint.mcp.document_store import server
from typescript_sdk import next_to_the_sdk

SCRIPT = Path(__file__).parent / "typescript" / "all_tools.mjs"


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next_to_the_sdk(SCRIPT, tmp_path_factory.mktemp("typescript"))


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["sse", "streamable", "stdio"])
async def test_the_typescript_sdk_runs_the_tools(transport: str, script: Path, tmp_path: Path, serve):
    settings = load_settings(trigpoint_data_dir=tmp_path / "data", text_workers=1)
    file = make_pdf(settings.data_dir / "Transport Assessment.pdf", [CYCLE])

    async def run(target: str) -> dict:
        process = await asyncio.create_subprocess_exec(
            "node",
            str(script),
            transport,
            target,
            str(file),
            env={**os.environ, "TRIGPOINT_DATA_DIR": str(settings.data_dir), "TEXT_WORKERS": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = await asyncio.wait_for(process.communicate(), 120)
        assert process.returncode == 0, err.decode()[-3000:]
        return json.loads(out)

    if transport == "stdio":
        answers = await run(sys.executable)
    else:
        async with serve(server(settings).app()) as url:
            answers = await run(url)

    assert answers["tools"] == [
        "ingest_document",
        "search_application_docs",
        "get_document_text",
        "list_ingested_documents",
        "remove_document",
    ]
    document_id = answers["ingest"]["body"]["document_id"]
    assert answers["ingest"]["body"]["status"] == "success"
    assert answers["again"]["body"]["status"] == "already_ingested"
    assert answers["search"]["body"]["results"][0]["metadata"]["document_id"] == document_id
    assert "score" in answers["hybrid"]["body"]["results"][0]
    assert answers["list"]["body"]["document_count"] == 1
    assert "cycle parking" in " ".join(answers["text"]["body"]["text"].split())
    assert answers["absent"]["isError"]
    assert answers["absent"]["body"]["error_type"] == "document_not_found"
    assert answers["wrong"]["isError"]
    assert answers["wrong"]["body"]["error_type"] == "validation_error"
    assert json.loads(answers["wrong"]["text"]) == answers["wrong"]["body"]
    assert answers["progress"] == sorted(answers["progress"])
    assert answers["progress"]
