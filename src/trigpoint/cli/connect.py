"""`trigpoint connect CLIENT`: the configuration that makes an AI client start our MCP servers, or reach running ones."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from trigpoint.config import Settings, load_settings
from trigpoint.errors import InvalidInput, shorten
from trigpoint.mcp import SERVERS
from trigpoint.storage.files import write_atomic

app = typer.Typer(add_completion=False)

_STARTER = """\
# Projects of your own sources. Add files: trigpoint library ingest me/sources FILE…
[library.projects."me/sources"]
"""
_NAMES = {
    "trigpoint-documents": "document-store",
    "trigpoint-policies": "policy-kb",
    "trigpoint-library": "library",
    "trigpoint-graph": "graph",
    "trigpoint-reviewer": "reviewer",
}
_READS_FOLDERS = ("document-store", "reviewer")
_SECRETS = ("KEY", "SECRET")


class ClientName(StrEnum):
    CLAUDE_DESKTOP = "claude-desktop"
    VSCODE = "vscode"
    CURSOR = "cursor"
    N8N = "n8n"


@dataclass(frozen=True)
class ConnectionPlan:
    """A connection to be made: the command that starts a server, its environment, the folders it may read."""

    settings: Settings
    command: str
    environment: dict[str, str]
    projects: Path
    roots: tuple[Path, ...]
    running: bool

    def entries(self) -> dict[str, dict[str, Any]]:
        """Return one entry for every server, by the name that the client shows."""
        made = self._reached if self.running else self._started
        return {name: made(server) for name, server in _NAMES.items()}

    def _started(self, server: str) -> dict[str, Any]:
        roots = self.roots if server in _READS_FOLDERS else ()
        config = {"TRIGPOINT_CONFIG": str(self.projects)} if server == "library" else {}
        return {
            "command": self.command,
            "args": ["mcp", server, *(part for root in roots for part in ("--root", str(root)))],
            "env": self.environment | config,
        }

    def _reached(self, server: str) -> dict[str, Any]:
        return {"url": f"http://127.0.0.1:{SERVERS[server].port(self.settings)}/mcp"}


@app.command()
def connect(
    client: Annotated[ClientName, typer.Argument(help="Which client.")],
    root: Annotated[list[Path] | None, typer.Option(help="Folder that documents may be read from.")] = None,
    running: Annotated[
        bool, typer.Option("--running", help="Reach the servers of a running `trigpoint up`, instead of starting them.")
    ] = False,
    write: Annotated[bool, typer.Option("--write", help="Write it into the client's file, after showing it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --write: do not ask.")] = False,
    file: Annotated[Path | None, typer.Option(help="The client's file, if it is not at its usual place.")] = None,
) -> None:
    """Print the configuration that gives an AI client the documents, policies, library, graph and reviewer."""
    plan = _plan(root or [], running=running or client is ClientName.N8N)
    shape = _SHAPES[client](plan)
    if not write:
        print(_as_json_text(shape.content))
        _say(f"Paste this into {shape.where}." if shape.path is None else f"Goes into {file or shape.path}. ")
        for note in (*shape.notes, *_notes(plan)):
            _say(note)
        return
    if shape.path is None:
        raise InvalidInput(
            f"There is no file to write: paste what `trigpoint connect {client}` prints into {shape.where}"
        )
    _write_plan(file or shape.path, shape, plan, yes=yes)


@dataclass(frozen=True)
class ClientShape:
    """A client's configuration: its content, the key that holds the servers, and the file it goes to."""

    content: dict[str, Any]
    key: str
    path: Path | None
    where: str = ""
    notes: tuple[str, ...] = ()


def _claude(plan: ConnectionPlan) -> ClientShape:
    if plan.running:
        raise InvalidInput(
            "Claude Desktop starts local servers itself: leave --running out. They work while `trigpoint up` runs, too"
        )
    notes = ("Restart Claude Desktop afterwards.",)
    return ClientShape({"mcpServers": plan.entries()}, "mcpServers", _claude_file(), notes=notes)


def _vscode(plan: ConnectionPlan) -> ClientShape:
    kind = {"type": "http"} if plan.running else {"type": "stdio"}
    servers = {name: kind | entry for name, entry in plan.entries().items()}
    content: dict[str, Any] = {"servers": servers}
    if plan.running and plan.settings.mcp_auth_on:
        asked = {"type": "promptString", "id": "trigpoint-key", "description": "MCP_API_KEY", "password": True}
        for entry in servers.values():
            entry["headers"] = {"Authorization": "Bearer ${input:trigpoint-key}"}
        content = {"inputs": [asked], **content}
    return ClientShape(content, "servers", Path.cwd() / ".vscode" / "mcp.json")


def _cursor(plan: ConnectionPlan) -> ClientShape:
    entries = plan.entries()
    if plan.running and plan.settings.mcp_auth_on:
        for entry in entries.values():
            entry["headers"] = {"Authorization": "Bearer ${env:MCP_API_KEY}"}
    return ClientShape({"mcpServers": entries}, "mcpServers", Path.home() / ".cursor" / "mcp.json")


def _n8n(plan: ConnectionPlan) -> ClientShape:
    """Return nodes that can be pasted into a workflow: *MCP Client Tool*, to be connected with an agent."""
    nodes = [
        {
            "parameters": {
                "endpointUrl": entry["url"],
                "serverTransport": "httpStreamable",
                "authentication": "bearerAuth" if plan.settings.mcp_auth_on else "none",
                "options": {},
            },
            "type": "@n8n/n8n-nodes-langchain.mcpClientTool",
            "typeVersion": 1.2,
            "position": [0, 180 * number],
            "id": name,
            "name": name,
        }
        for number, (name, entry) in enumerate(plan.entries().items())
    ]
    notes = [
        "`trigpoint up` must be running. From a container, use the machine's name instead of 127.0.0.1 (see docs/mcp.md)."
    ]
    if plan.settings.mcp_auth_on:
        notes.append("Choose a Bearer Auth credential with the value of MCP_API_KEY in each node.")
    content = {"nodes": nodes, "connections": {}}
    return ClientShape(content, "nodes", None, "the canvas of a workflow in n8n's editor (Ctrl-V)", tuple(notes))


_SHAPES: dict[ClientName, Callable[[ConnectionPlan], ClientShape]] = {
    ClientName.CLAUDE_DESKTOP: _claude,
    ClientName.VSCODE: _vscode,
    ClientName.CURSOR: _cursor,
    ClientName.N8N: _n8n,
}


def _plan(roots: list[Path], *, running: bool) -> ConnectionPlan:
    settings = load_settings()
    folders = tuple(root.expanduser().absolute() for root in roots)
    for folder in folders:
        if not folder.is_dir():
            raise InvalidInput(f"--root {shorten(folder, 200)} is not a folder")
    projects = settings.trigpoint_config or _projects_file(settings)
    return ConnectionPlan(settings, _command(), _environment(settings), projects.absolute(), folders, running)


def _projects_file(settings: Settings) -> Path:
    """Return the file of projects in this folder, or else the one in the data folder, which may not exist yet."""
    here = Path("trigpoint.toml")
    return here if here.is_file() else settings.data_dir / "trigpoint.toml"


def _command() -> str:
    """Return the full path of this command: clients have their own `PATH`."""
    beside = Path(sys.executable).with_name("trigpoint")
    return str(beside) if beside.is_file() else shutil.which("trigpoint") or "trigpoint"


def _environment(settings: Settings) -> dict[str, str]:
    """Return the settings that this shell has, which a client would not know, and the data folder in any case."""
    known = {name.upper() for name in Settings.model_fields} - {"TRIGPOINT_CONFIG", "DOCUMENT_ROOTS"}
    given = {name: value for name, value in os.environ.items() if name in known and not _is_secret(name)}
    return dict(sorted((given | {"TRIGPOINT_DATA_DIR": str(settings.data_dir)}).items()))


def _is_secret(name: str) -> bool:
    return any(part in name for part in _SECRETS)


def _claude_file() -> Path:
    name = "claude_desktop_config.json"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "Claude" / name
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA", Path.home())) / "Claude" / name
    return Path(os.environ.get("XDG_CONFIG_HOME", Path.home() / ".config")) / "Claude" / name


def _notes(plan: ConnectionPlan) -> list[str]:
    notes = []
    if not plan.running and not plan.projects.is_file():
        notes.append(
            f"The library needs {plan.projects}, which does not exist yet: --write creates it (docs/library.md describes it)."
        )
    if not plan.running and not plan.roots:
        notes.append("Documents can be read from the data folder only. Name others with --root FOLDER.")
    left_out = [
        name.upper() for name in Settings.model_fields if _is_secret(name.upper()) and name.upper() in os.environ
    ]
    if left_out and not plan.running:
        notes.append(f"Left out, because they are secret: {', '.join(sorted(left_out))}.")
    return notes


def _write_plan(path: Path, shape: ClientShape, plan: ConnectionPlan, *, yes: bool) -> None:
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    after = _as_json_text(_merged_content(path, before, shape)) + "\n"
    if before == after:
        _say(f"{path} has all of this already.")
    else:
        _show(path, before, after)
        if not yes and not typer.confirm(f"Write {path}?", default=False, err=True):
            raise typer.Exit(1)
        path.parent.mkdir(parents=True, exist_ok=True)
        if before:
            write_atomic(path.with_name(path.name + ".before-trigpoint"), before.encode())
        write_atomic(path, after.encode())
        _say(f"Written: {path}")
    if not plan.running and not plan.projects.is_file():
        plan.projects.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(plan.projects, _STARTER.encode())
        _say(f"Written: {plan.projects}")
    for note in (*shape.notes, *_notes(plan)):
        _say(note)


def _merged_content(path: Path, before: str, shape: ClientShape) -> dict[str, Any]:
    """Return the file's content with our entries in it. What others put there stays."""
    try:
        there = json.loads(before) if before.strip() else {}
    except ValueError as error:
        raise InvalidInput(
            f"{path} is not plain JSON ({error}); it may have comments. Run this without --write, and paste what it prints by hand"
        ) from None
    if not isinstance(there, dict) or not isinstance(there.get(shape.key, {}), dict):
        raise InvalidInput(f"{path} is not a configuration of that client: expected an object with '{shape.key}'")
    rest: Mapping[str, Any] = {key: value for key, value in shape.content.items() if key != shape.key}
    return {**there, **rest, shape.key: {**there.get(shape.key, {}), **shape.content[shape.key]}}


def _show(path: Path, before: str, after: str) -> None:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm="")
    print("\n".join(lines))


def _as_json_text(content: object) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _say(text: str) -> None:
    typer.echo(text.strip(), err=True)
