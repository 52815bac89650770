"""Writes docs/reference/ from the code: settings, command line, MCP tools, REST, error codes. A test compares (`make docs`)."""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from trigpoint import errors
from trigpoint.cli.main import NOUNS
from trigpoint.config import Settings, load_settings
from trigpoint.mcp import SERVERS, build_server

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
NOTE = "<!-- Written by tools/reference.py from the code. Change the code, then run `make docs`. -->\n\n"


def settings_page() -> str:
    """Every variable, in the order and under the headings of the class."""
    lines = ["# Settings", "", "Every variable is optional. An empty one counts as not set.", ""]
    source = inspect.getsource(Settings)
    heading_before = {_field(after): line.strip("# ").strip() for line, after in _comments(source)}
    for name, field in Settings.model_fields.items():
        if name in heading_before:
            lines += ["", f"## {heading_before[name]}", "| variable | default | meaning |", "|---|---|---|"]
        default = "" if field.default in (None, ()) else f"`{_shown(field.default)}`"
        lines.append(f"| `{name.upper()}` | {default} | {(field.description or '').replace('|', chr(92) + '|')} |")
    return "\n".join(lines) + "\n"


def cli_page() -> str:
    lines = ["# Command line", "", "`trigpoint NOUN --help` says the same.", ""]
    for noun, summary in NOUNS.items():
        app = importlib.import_module(f"trigpoint.cli.{noun.replace('-', '_')}").app
        command = typer.main.get_command(app)
        lines += [f"## trigpoint {noun}", "", summary, ""]
        lines += list(_commands(f"trigpoint {noun}", command))
    return "\n".join(lines) + "\n"


def tools_page() -> str:
    lines = ["# MCP tools", ""]
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(trigpoint_data_dir=Path(folder))
        for name, entry in SERVERS.items():
            tools = build_server(name, settings)
            lines += [
                f"## {tools.name}",
                "",
                f"Port {entry.port(settings)} (`{entry.port_setting.upper()}`), and `trigpoint mcp {name}` over stdio.",
                "",
            ]
            for tool in tools.descriptions:
                lines += list(_tool(tool))
    return "\n".join(lines) + "\n"


def rest_page() -> str:
    from trigpoint.api.app import rest_app

    with tempfile.TemporaryDirectory() as folder:
        schema = rest_app(load_settings(trigpoint_data_dir=Path(folder))).openapi()
    lines = [
        "# REST",
        "",
        "The machine's form is at `/openapi.json`, a reader's at `/docs`.",
        "",
        "| method | path | what it does | answers |",
        "|---|---|---|---|",
    ]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            answers = ", ".join(operation["responses"])
            lines.append(f"| {method.upper()} | `{path}` | {operation.get('summary', '')} | {answers} |")
    return "\n".join(lines) + "\n"


def errors_page() -> str:
    lines = [
        "# Error codes",
        "",
        "One tree, `errors/`; the code and the status are on the class.",
        "",
        "| code | status | raised as | meaning |",
        "|---|---|---|---|",
    ]
    own = (c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, errors.TrigpointError))
    for kind in sorted(own, key=lambda c: (c.code, c.__name__)):
        said = (inspect.getdoc(kind) if "__doc__" in vars(kind) and kind.__doc__ else "") or ""
        lines.append(f"| `{kind.code}` | {kind.status} | {kind.__name__} | {' '.join(said.split())} |")
    return "\n".join(lines) + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "cli.md": cli_page,
    "tools.md": tools_page,
    "rest.md": rest_page,
    "errors.md": errors_page,
}


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(NOTE + page(), encoding="utf-8")


def _comments(source: str) -> Iterator[tuple[str, str]]:
    lines = source.splitlines()
    for number, line in enumerate(lines):
        if line.startswith("    # "):
            yield line, next(after for after in lines[number + 1 :] if ":" in after)


def _field(line: str) -> str:
    return line.split(":")[0].strip()


def _shown(value: Any) -> str:
    return {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _commands(path: str, command: Any) -> Iterator[str]:
    if hasattr(command, "commands"):
        for name, child in command.commands.items():
            yield from _commands(f"{path} {name}", child)
        return
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name != "help"]
    usage = " ".join(
        [
            path,
            *(_argument(a) for a in arguments),
            *(["[OPTIONS]"] if options else []),
        ]
    )
    yield f"### `{usage}`"
    yield ""
    yield " ".join((command.help or "").split())
    yield ""
    if arguments or options:
        yield "| | |"
        yield "|---|---|"
        for parameter in [*arguments, *options]:
            name = (
                parameter.name.upper()
                if parameter in arguments
                else ", ".join([*parameter.opts, *parameter.secondary_opts])
            )
            required = " Required." if parameter in options and parameter.required else ""
            yield f"| `{name}` | {(getattr(parameter, 'help', None) or '').replace('|', chr(92) + '|')}{required} |"
        yield ""


def _argument(argument: Any) -> str:
    name = f"{argument.name.upper()}{'…' if argument.nargs == -1 else ''}"
    return name if argument.required else f"[{name}]"


def _tool(tool: Any) -> Iterator[str]:
    hints = [
        word
        for word, on in (
            ("read-only", tool.annotations.read_only_hint),
            ("idempotent", tool.annotations.idempotent_hint),
            ("destructive", tool.annotations.destructive_hint),
        )
        if on
    ]
    yield f"### `{tool.name}`"
    yield ""
    yield f"{tool.description} {'(' + ', '.join(hints) + ')' if hints else ''}".strip()
    yield ""
    required = set(tool.input_schema.get("required", ()))
    properties = tool.input_schema.get("properties", {})
    if properties:
        yield "| argument | type | | meaning |"
        yield "|---|---|---|---|"
    for name, schema in properties.items():
        default = "required" if name in required else f"default `{json.dumps(schema.get('default'))}`"
        yield f"| `{name}` | {_type(schema)} | {default} | {' '.join(schema.get('description', '').split()).replace('|', chr(92) + '|')} |"
    yield ""


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(part) for part in schema["anyOf"])
    if "enum" in schema:
        return " \\| ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


if __name__ == "__main__":
    write(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
