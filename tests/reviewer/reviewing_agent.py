"""An agent that reviews with the official Python client, as somebody's assistant would: it reads, hands in, mends, finishes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import Implementation

REFERENCE = "24/00633/F"
TRUE_WORDS = "No cycle parking is provided for the houses."
FALSE_WORDS = "Every house has a heated cycle hangar for nine bicycles."
FALSE_STATEMENT = "Every house gets a heated hangar for nine bicycles."


class Refused(Exception):
    """A tool said no."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["message"])
        self.code = body["error_type"]


class Agent:
    """A client with a name, and the sizes of all answers that it got."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.review = ""
        self.sizes: dict[str, int] = {}

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        text = result.content[0].text
        self.sizes[tool] = max(len(text), self.sizes.get(tool, 0))
        body: dict[str, Any] = result.structured_content
        assert json.loads(text) == body
        if result.is_error:
            raise Refused(body)
        return body

    async def on(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool on the open review."""
        return await self.call(tool, review=self.review, **arguments)

    async def open(self, **what: Any) -> dict[str, Any]:
        opened = await self.call("open_review", **what)
        self.review = opened["review"]
        return opened

    async def read_all(self) -> dict[str, str]:
        """Return the text of every page that was shown, by document label."""
        texts: dict[str, str] = {}
        self.steps: list[str] = []
        while True:
            shown = await self.on("read_next")
            self.steps.append(shown["step"])
            if shown["step"] == "application":
                self.documents = {one["name"]: one["label"] for one in shown["documents"]}
            if shown["step"] == "questions":
                self.aspects = [*getattr(self, "aspects", []), *shown["aspects"]]
            for part in shown["pages"]:
                texts[part["document"]] = texts.get(part["document"], "") + part["text"]
            if shown["step"] in ("judge", "ended"):
                return texts


@asynccontextmanager
async def over_http(url: str, name: str = "Test Desktop", mode: str = "auto") -> AsyncIterator[Agent]:
    info = Implementation(name=name, version="1.2")
    async with Client(f"{url}/mcp", mode=mode, client_info=info) as client:
        yield Agent(client)


@asynccontextmanager
async def over_stdio(env: dict[str, str], *arguments: str, name: str = "Test Desktop") -> AsyncIterator[Agent]:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "trigpoint.cli.main", "mcp", "reviewer", *arguments], env=os.environ | env
    )
    async with Client(stdio_client(command), client_info=Implementation(name=name, version="1.2")) as client:
        yield Agent(client)


def finding(document: str, page: int, words: str, statement: str, **more: Any) -> dict[str, Any]:
    return {
        "aspect": "cycle_parking",
        "question": "long_stay",
        "outcome": "failed",
        "statement": statement,
        "evidence": [{"document": document, "page": page, "words": words}],
        "recommendation": "Provide cycle parking for every house, in the plot of each.",
    } | more


def conclusion(good: str, *, letter: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    return {
        "summary": [{"text": "The houses have no cycle parking at all, which decides the matter.", "rests_on": [good]}],
        "recommendations": [
            {"text": "Provide cycle parking for every house, in the plot of each.", "rests_on": [good]}
        ],
        "main": [good],
        "stance": "object",
        "letter": letter or [{"text": "The houses are built without any cycle parking.", "rests_on": [good]}],
    }
