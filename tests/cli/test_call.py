"""`trigpoint call`: one tool of a server that is running, by the server's name or by its address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from trigpoint.cli.call import app
from trigpoint.config import Settings
from trigpoint.errors import InvalidInput, ServerUnreachable, ToolFailed
from trigpoint.mcp import build_server


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def message_of(said: Result, kind: type[Exception]) -> str:
    assert isinstance(said.exception, kind), said.output
    return str(said.exception)


async def test_an_answer_is_printed_as_json_and_values_may_be_json(
    settings: Settings, serve: Callable[[Any], AbstractAsyncContextManager[str]], tmp_path: Path
) -> None:
    file = tmp_path / "trigpoint.toml"
    file.write_text('[library.projects."me/sources"]\n', encoding="utf-8")
    server = build_server("library", settings.model_copy(update={"trigpoint_config": file}))
    async with serve(server.app()) as url:
        listed = await asyncio.to_thread(call, url, "list_projects")
        refused = await asyncio.to_thread(call, url, "inspect_collection", "project=me/sources", "sample=many")
        inspected = await asyncio.to_thread(call, url, "inspect_collection", "project=me/sources", "sample=2")
    assert [one["id"] for one in json.loads(listed.output)["projects"]] == ["me/sources"]
    assert "sample" in message_of(refused, ToolFailed)
    assert inspected.exit_code == 0, inspected.exception


@pytest.mark.parametrize(
    ("server", "variable"),
    [("scraper", "CHERWELL_SCRAPER_URL"), ("document-store", "DOCUMENT_STORE_URL"), ("policy-kb", "POLICY_KB_URL")],
)
def test_a_server_is_looked_for_where_its_setting_says(
    server: str, variable: str, free_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv(variable, nowhere)
    assert nowhere in message_of(call(server, "any_tool"), ServerUnreachable)


def test_the_library_is_looked_for_on_this_machine(
    free_port: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("LIBRARY_PORT", str(port))
    assert f"http://127.0.0.1:{port}" in message_of(call("library", "list_projects"), ServerUnreachable)


def test_an_unknown_server_lists_those_that_there_are() -> None:
    said = message_of(call("libary", "list_projects"), InvalidInput)
    assert said == (
        "No server is called 'libary'. There are: scraper, document-store, policy-kb, library, graph, reviewer"
    )


@pytest.mark.parametrize("argument", ["query", "=cycle parking"])
def test_an_argument_without_a_name_or_value_is_refused_with_an_example(argument: str) -> None:
    said = message_of(call("library", "find_chunks", argument), InvalidInput)
    assert argument in said
    assert "query='cycle parking'" in said
