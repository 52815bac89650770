"""The configurations of docs/mcp.md are what `trigpoint connect` prints, and each works as pasted, on an empty folder."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from trigpoint.config import load_settings
from trigpoint.demo.documents import sample_documents
from trigpoint_process import Running, environment, trigpoint

PAGE = Path(__file__).parents[2] / "docs" / "mcp.md"
HOME = "/home/me"
REFERENCE = "24/00633/F"


def pasted(name: str) -> str:
    """The block of the page that is marked so."""
    found = re.search(rf"<!-- configuration: {re.escape(name)} -->\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found, f"docs/mcp.md has no configuration {name}"
    return found[1]


def printed(home: Path, *arguments: str, **settings: str) -> dict[str, Any]:
    """What `trigpoint connect` prints for a person whose home is this folder, in the words of the page."""
    (home / "applications").mkdir(parents=True, exist_ok=True)
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    env = kept | {"HOME": str(home), "TRIGPOINT_DATA_DIR": str(home / "trigpoint")} | settings
    answer = trigpoint("connect", *arguments, env=env)
    assert answer.returncode == 0, answer.stderr
    plain = answer.stdout.replace(str(Path(sys.executable).with_name("trigpoint")), "trigpoint")
    content: dict[str, Any] = json.loads(plain.replace(str(home), HOME))
    return content


@pytest.mark.parametrize("client", ["claude-desktop", "vscode"])
def test_the_page_shows_what_the_command_prints(client: str, tmp_path: Path) -> None:
    assert json.loads(pasted(client)) == printed(tmp_path, client, "--root", str(tmp_path / "applications"))


def test_the_page_shows_what_the_command_prints_for_running_servers(tmp_path: Path) -> None:
    assert json.loads(pasted("cursor --running")) == printed(tmp_path, "cursor", "--running", MCP_API_KEY="k")
    assert json.loads(pasted("claude-desktop")) == printed(tmp_path, "cursor", "--root", str(tmp_path / "applications"))
    [shown], nodes = json.loads(pasted("n8n"))["nodes"], printed(tmp_path, "n8n")["nodes"]
    assert shown in nodes
    assert len(nodes) == 5


def test_writing_keeps_what_others_put_into_the_file_and_a_copy_of_it(tmp_path: Path) -> None:
    file, data = tmp_path / "claude.json", tmp_path / "data"
    file.write_text('{"theme": "dark", "mcpServers": {"other": {"command": "x"}}}')
    env = environment(data, HOME=str(tmp_path))
    asked = trigpoint("connect", "claude-desktop", "--write", "--file", str(file), env=env)
    assert asked.returncode == 1  # nobody is there to say yes
    assert "trigpoint-reviewer" in asked.stdout
    assert "trigpoint" not in file.read_text()
    done = trigpoint("connect", "claude-desktop", "--write", "--yes", "--file", str(file), env=env)
    assert done.returncode == 0, done.stderr
    written = json.loads(file.read_text())
    assert written["theme"] == "dark"
    assert {"other", "trigpoint-reviewer"} <= set(written["mcpServers"])
    assert "trigpoint" not in (tmp_path / "claude.json.before-trigpoint").read_text()
    assert "me/sources" in (data / "trigpoint.toml").read_text()
    again = trigpoint("connect", "claude-desktop", "--write", "--yes", "--file", str(file), env=env)
    assert "has all of this already" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("n8n", "--write"), "There is no file to write"),
        (("claude-desktop", "--running"), "leave --running out"),
        (("vscode", "--root", "/nowhere/at/all"), "is not a folder"),
        (("cursor", "--write", "--yes", "--file", "COMMENTED"), "is not plain JSON"),
    ],
)
def test_what_cannot_be_done_is_one_line_with_the_way_out(
    arguments: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    commented = tmp_path / "mcp.json"
    commented.write_text('{// mine\n"mcpServers": {}}')
    given = [str(commented) if one == "COMMENTED" else one for one in arguments]
    answer = trigpoint("connect", *given, env=environment(tmp_path / "data", HOME=str(tmp_path)))
    assert answer.returncode == 1
    assert says in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


async def useful_answer(name: str, client: Client, applications: Path) -> dict[str, Any]:
    """Ask each server what its user would ask first."""

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content[0].text
        body: dict[str, Any] = result.structured_content
        return body

    match name:
        case "trigpoint-documents":
            statement = str(applications / "Transport Statement.pdf")
            await call("ingest_document", file_path=statement, application_ref=REFERENCE)
            found = await call("search_application_docs", query="cycle parking for the houses", mode="hybrid")
            assert "No cycle parking is provided for the houses" in found["results"][0]["text"]
        case "trigpoint-policies":
            found = await call("search_policy", query="cycle parking", effective_date="2025-05-21", mode="hybrid")
            assert found["results"][0]["section_ref"]
        case "trigpoint-library":
            found = await call("list_projects")
            assert "me/sources" in json.dumps(found)
        case "trigpoint-graph":
            found = await call("list_projects")
            assert found["data"] == [] or found["data"][0]["id"]
        case "trigpoint-reviewer":
            given = {"date_validated": "2024-03-14", "authority": "cherwell"}
            opened = await call("open_review", folder=str(applications), **given)
            found = {"step": "opening"}
            while found["step"] == "opening":
                found = await call("read_next", review=opened["review"])
            assert found["step"] == "application"
            assert "Transport Statement.pdf" in [one["name"] for one in found["documents"]]
    return found


def prepared(home: Path, only: tuple[str, ...] = ()) -> Path:
    """A home as the page describes it: a folder of applications, the file of projects, and an otherwise empty data folder."""
    applications = home / "applications"
    applications.mkdir(parents=True)
    samples = sample_documents(load_settings(trigpoint_data_dir=home / "samples"))[REFERENCE]
    for name, path in samples.items():
        if not only or name in only:
            shutil.copy(path, applications)
    (home / "trigpoint").mkdir()
    (home / "trigpoint" / "trigpoint.toml").write_text(pasted("trigpoint.toml"))
    return applications


def as_pasted(entry: Mapping[str, Any], home: Path) -> StdioServerParameters:
    """The entry as a client starts it, with a `PATH` that has our command and with no other setting of ours."""
    plain = json.loads(json.dumps(entry).replace(HOME, str(home)))
    own = {name: value for name, value in environment(home / "unused").items() if not name.endswith("_DIR")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return StdioServerParameters(command=plain["command"], args=plain["args"], env=own | {"PATH": path} | plain["env"])


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("client", ["claude-desktop", "vscode"])
async def test_every_entry_gives_a_useful_answer_as_pasted_on_an_empty_folder(client: str, tmp_path: Path) -> None:
    applications = prepared(tmp_path)
    content = json.loads(pasted(client))
    entries = content.get("mcpServers") or content["servers"]
    assert len(entries) == 5
    for name, entry in entries.items():
        async with Client(stdio_client(as_pasted(entry, tmp_path))) as connected:
            assert await useful_answer(name, connected, applications)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_urls_of_running_servers_give_useful_answers(tmp_path: Path) -> None:
    applications = prepared(tmp_path)
    env = environment(tmp_path / "trigpoint", DOCUMENT_ROOTS=str(applications))
    env["TRIGPOINT_CONFIG"] = str(tmp_path / "trigpoint" / "trigpoint.toml")
    with Running("up", env=env):
        answer = trigpoint("connect", "n8n", env=env)
        nodes = json.loads(answer.stdout)["nodes"]
        for node in nodes:
            async with Client(node["parameters"]["endpointUrl"]) as connected:
                assert await useful_answer(node["name"], connected, applications)
        cursor = json.loads(trigpoint("connect", "cursor", "--running", env=env).stdout)["mcpServers"]
        assert [entry["url"] for entry in cursor.values()] == [node["parameters"]["endpointUrl"] for node in nodes]


def test_the_command_in_the_configuration_starts_by_its_full_path(tmp_path: Path) -> None:
    env = environment(tmp_path / "data", HOME=str(tmp_path))
    content = json.loads(trigpoint("connect", "claude-desktop", env=env).stdout)
    entry = content["mcpServers"]["trigpoint-reviewer"]
    help_text = subprocess.run([entry["command"], "mcp", "--help"], env={}, capture_output=True, text=True, timeout=300)
    assert help_text.returncode == 0, help_text.stderr
    assert "reviewer" in help_text.stdout
