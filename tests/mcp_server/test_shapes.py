"""Answers of tools are held against the shapes that their server declares, which are listed once for each address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from pydantic import BaseModel

from serving_api import serving
from trigpoint.config import load_settings
from trigpoint.errors import ToolFailed
from trigpoint.mcp import shapes
from trigpoint.mcp.client import ToolClient
from trigpoint.mcp.server import Tool, ToolCall, ToolInput, ToolServer


class Sum(BaseModel):
    total: int


class Numbers(ToolInput):
    numbers: list[int]


async def add(given: Numbers, call: ToolCall) -> Sum:
    return Sum(total=sum(given.numbers))


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    tool = Tool(name="add", description="Add numbers.", input=Numbers, output=Sum, handler=add)
    with serving(ToolServer("sums", [tool], load_settings(trigpoint_data_dir=tmp_path)).app()) as address:
        yield address


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Lists of tools that were asked for."""
    asked: list[str] = []
    listed = shapes._fetch_shapes

    async def counted(client: Client) -> shapes.Shapes:
        asked.append("tools")
        return await listed(client)

    monkeypatch.setattr(shapes, "_fetch_shapes", counted)
    return asked


async def call(url: str) -> dict[str, Any]:
    async with ToolClient(url) as client:
        return await client.call("add", {"numbers": [2, 3]})


async def test_tools_are_listed_once_for_all_connections_to_a_server(url: str, listings: list[str]) -> None:
    assert [await call(url) for _ in range(3)] == [{"total": 5}] * 3
    assert listings == ["tools"]


async def test_an_answer_of_another_version_of_the_server_is_held_against_its_own_list(
    url: str, listings: list[str]
) -> None:
    await call(url)
    old = {"type": "object", "properties": {"total": {"type": "string"}}}
    shapes._shapes[url]["add"] = shapes._compiled(old)
    assert await call(url) == {"total": 5}
    assert len(listings) == 2


async def test_an_answer_that_its_server_does_not_declare_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def wrong(client: Client) -> shapes.Shapes:
        return {"add": shapes._compiled({"type": "object", "properties": {"total": {"type": "string"}}})}

    monkeypatch.setattr(shapes, "_fetch_shapes", wrong)
    with pytest.raises(ToolFailed, match=r"does not declare: \$\.total: 5 is not of type 'string'") as refused:
        await call(url)
    assert refused.value.code == "invalid_answer"


async def test_a_tool_that_refuses_is_not_asked_for_its_shape(url: str, listings: list[str]) -> None:
    async with ToolClient(url) as client:
        with pytest.raises(ToolFailed, match="numbers"):
            await client.call("add", {"numbers": "two"})
    assert listings == []
