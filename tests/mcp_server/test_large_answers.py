"""No answer breaks an official client, however much was asked for: it is cut, or sent once, and says so."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from pydantic import BaseModel, Field

from trigpoint.config import Settings
from trigpoint.mcp.answers import MOST_BYTES, Cut, fitting_text
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.server import Tool, ToolCall, ToolInput, ToolServer


class Wanted(ToolInput):
    n_results: int = Field(10, ge=0, le=5000)
    characters: int = Field(800, ge=0, le=5_000_000)


class Found(BaseModel):
    status: Literal["success"] = "success"
    results_count: int
    results: list[dict[str, str]]


class Text(BaseModel):
    status: Literal["success"] = "success"
    text: str


def large_server(settings: Settings) -> ToolServer:
    async def search(given: Wanted, call: ToolCall) -> Found:
        results = [{"id": str(n), "text": '"é\n' * (given.characters // 3)} for n in range(given.n_results)]
        return Found(results_count=len(results), results=results)

    async def read(given: Wanted, call: ToolCall) -> Text:
        return Text(text="x" * given.characters)

    cut = Cut("results", "results_count", "Ask for fewer with n_results")
    return ToolServer(
        "large-mcp",
        [
            Tool("search", "Search", Wanted, Found, search, read_only=True, cut=cut),
            Tool("read", "Read", Wanted, Text, read, read_only=True),
        ],
        settings,
    )


@pytest.fixture(params=["sse", "streamable"])
def connect(request):
    return lambda url: Client(sse_client(f"{url}/sse") if request.param == "sse" else f"{url}/mcp")


async def test_a_small_answer_is_sent_as_data_and_as_text(settings, serve, connect):
    async with serve(large_server(settings).app()) as url, connect(url) as client:
        result = await client.call_tool("search", {"n_results": 3})
    assert json.loads(result.content[0].text) == result.structured_content
    assert "left_off" not in result.structured_content


async def test_an_answer_that_fits_only_once_is_sent_as_data_and_the_text_says_so(settings, serve, connect):
    async with serve(large_server(settings).app()) as url, connect(url) as client:
        result = await client.call_tool("search", {"n_results": 500})
    assert len(result.structured_content["results"]) == result.structured_content["results_count"] == 500
    assert "structuredContent only" in result.content[0].text


async def test_a_list_too_large_even_as_data_is_cut_and_says_how_many_are_missing(settings, serve, connect):
    async with serve(large_server(settings).app()) as url, connect(url) as client:
        result = await client.call_tool("search", {"n_results": 5000})
    body = result.structured_content
    assert 500 < body["results_count"] == len(body["results"]) < 5000
    assert body["left_off"]["count"] == 5000 - body["results_count"]
    assert "n_results" in body["left_off"]["reason"]
    assert [item["id"] for item in body["results"][:3]] == ["0", "1", "2"], "the best stay"


@pytest.mark.parametrize("characters", [MOST_BYTES // 2, MOST_BYTES - 100, MOST_BYTES, 5_000_000])
async def test_what_cannot_be_cut_is_an_error_that_a_client_survives(settings, serve, connect, characters):
    async with serve(large_server(settings).app()) as url, connect(url) as client:
        result = await client.call_tool("read", {"characters": characters})
        if result.is_error:
            assert result.structured_content["error_type"] == "answer_too_large"
            assert characters > MOST_BYTES - 2000
        else:
            assert len(result.structured_content["text"]) == characters
        again = await client.call_tool("read", {"characters": 5})
    assert again.structured_content["text"] == "xxxxx", "the session goes on"


async def test_our_own_client_takes_answers_of_any_size(settings, serve):
    async with serve(large_server(settings).app()) as url, ToolClient(url) as client:
        body = await client.call("search", {"n_results": 5000})
        text = await client.call("read", {"characters": 5_000_000})
    assert len(body["results"]) == 5000
    assert len(text["text"]) == 5_000_000


@pytest.mark.parametrize("text", ["a\n" * 900_000, "é" * 900_000, '"' * 900_000, "\x01" * 300_000, "short"])
def test_a_text_is_cut_to_what_fits_at_the_end_of_a_line(text):
    part = fitting_text(text)
    assert text.startswith(part)
    assert len(json.dumps(part, ensure_ascii=False).encode()) < MOST_BYTES
    assert part == text or len(part) > 100_000
    assert part == text or "\n" not in text or part.endswith("\n")
