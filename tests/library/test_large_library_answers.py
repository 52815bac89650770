"""No call that the library's schemas allow breaks an official client, however large the chunks are that were stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from library_samples import MODEL, PROJECT, item, library_settings
from mcp.client import Client
from mcp.client.sse import sse_client

from trigpoint.mcp.answers import MOST_BYTES
from trigpoint.mcp.library import server

LONGEST = 100_000
WORDS = "the cycle path beside the canal is lit at night "
PROJECTS = f"""
[library.projects."{PROJECT}"]
embed_model = "{MODEL}"
top_k_max = 100
"""
FILLINGS = [
    pytest.param("🚲 ", id="four bytes a character"),
    pytest.param(WORDS, id="ASCII", marks=pytest.mark.slow),
    pytest.param('canal "\x01\\" ', id="escaped characters", marks=pytest.mark.slow),
]


def chunk(document: str, number: int, filling: str) -> dict[str, Any]:
    """One of the largest chunks that `store_chunks` takes, with metadata to match."""
    text = (f"{document} {number} canal " + filling * LONGEST)[:LONGEST]
    doc = {"doc_id": document, "seq": number, "page_span": [1, 2], "section_path": ["A long way down " * 10] * 500}
    return item(f"{document}-{number}", text, seed=number, doc=doc)


@pytest.fixture(params=["streamable", pytest.param("sse", marks=pytest.mark.slow)])
def connect(request: pytest.FixtureRequest) -> Any:
    return lambda url: Client(sse_client(f"{url}/sse") if request.param == "sse" else f"{url}/mcp")


async def answered(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer; the same client is then answered again, so the connection has survived it."""
    result = await client.call_tool(tool, {"project": PROJECT, **arguments})
    body = result.structured_content
    assert body is not None
    assert len(json.dumps(body, ensure_ascii=False).encode()) <= MOST_BYTES
    assert (await client.call_tool("list_projects", {})).structured_content["projects"][0]["id"] == PROJECT
    assert not result.is_error or body["error"]["code"] == "ANSWER_TOO_LARGE", body
    return dict(body)


@pytest.mark.parametrize("filling", FILLINGS)
async def test_every_call_at_its_maximum_over_the_largest_chunks_is_answered(
    tmp_path: Path, serve: Any, connect: Any, filling: str
) -> None:
    settings = library_settings(tmp_path, PROJECTS)
    async with serve(server(settings).app()) as url, connect(url) as client:
        for document in ("first", "second", "third"):
            items = [chunk(document, number, filling) for number in range(12)]
            assert (await answered(client, "store_chunks", items=items))["chunks_written"] == 12
        for search in ("find_chunks", "query_hybrid"):
            found = await answered(client, search, query="canal " * 1600, top_k=100, include_full_text=True)
            assert found["count"] == len(found["items"]) >= 1
            assert found["count"] + found["left_off"]["count"] == 36
            assert "top_k" in found["left_off"]["reason"]
            assert len(found["items"][0]["full_text"]) == LONGEST
        for number in (0, 6, 11):
            alone = await answered(client, "get_chunk", chunk_id=f"first-{number}")
            assert len(alone["chunk"]["full_text"]) == LONGEST
            around = await answered(client, "get_chunk", chunk_id=f"first-{number}", neighbours=5, elsewhere=10)
            if "error" in around:
                assert "fewer neighbours" in around["error"]["message"]
            else:
                given = len(around["before"]) + len(around["after"]) + around.get("left_off", {}).get("count", 0)
                assert given == min(number, 5) + min(11 - number, 5)
        seen = await answered(client, "inspect_collection", sample=5)
        assert len(seen["sample"]) >= 1
        quoted = await answered(client, "find_quote", quote=(filling * LONGEST)[:10_000])
        assert quoted["total"] >= quoted["count"] >= 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"doc": {"section_path": ["x" * 1000] * 200}}, "metadata has 201,"),
        ({"fulltext": "x" * (LONGEST + 1)}, "metadata.fulltext must be"),
    ],
)
async def test_metadata_that_no_answer_could_hold_is_refused(
    tmp_path: Path, serve: Any, change: dict[str, Any], says: str
) -> None:
    async with serve(server(library_settings(tmp_path, PROJECTS)).app()) as url, Client(f"{url}/mcp") as client:
        result = await client.call_tool("store_chunks", {"project": PROJECT, "items": [item("a"), item("b", **change)]})
    assert result.is_error
    assert says in result.structured_content["error"]["message"]
