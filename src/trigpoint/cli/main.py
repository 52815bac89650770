"""`trigpoint`: finds the file of the noun that was asked for, and imports no other, so that help is quick."""

from __future__ import annotations

import difflib
import importlib
import logging
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

import click
import typer
from typer.core import TyperGroup

from trigpoint import __version__
from trigpoint.errors import TrigpointError

NOUNS = {
    "up": "Run everything in one process.",
    "review": "Review a planning application.",
    "policies": "Seed, list, search and compare policies and their revisions.",
    "serve": "Run some of the servers.",
    "mcp": "Run one MCP server over stdin and stdout.",
    "connect": "Print or write the configuration for Claude Desktop, VS Code, Cursor or n8n.",
    "call": "Call a tool of a running MCP server.",
    "portal": "Look up applications in a council's planning register, and fetch their documents.",
    "watch": "Find new applications in a register that match what you look for.",
    "demo": "Try Trigpoint on a local planning portal with sample applications.",
    "library": "Your own sources: ingest, search and cite them.",
    "graph": "Load and show the graph of projects, entities and relations.",
    "backup": "Back up the data folder into one archive, even while everything runs.",
    "restore": "Restore a data folder from a backup.",
    "repair": "Repair damaged files of the data folder.",
    "doctor": "Check that everything Trigpoint needs is there, and say what to do if not.",
}


_WAYS_OUT = {  # for errors whose words the contracts fix, or that other surfaces share
    "policy_not_found": "`trigpoint policies list` shows the policies that are loaded",
    "revision_not_found": "`trigpoint policies show SOURCE` lists the revisions of a policy",
    "server_unreachable": "`trigpoint up` starts all servers; `trigpoint doctor` says which ones answer",
}


class _Nouns(TyperGroup):
    """Each noun is a module of this package with an attribute `app`."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(NOUNS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in NOUNS:
            near = difflib.get_close_matches(cmd_name, NOUNS, n=1)
            ctx.fail(f"No such command '{cmd_name}'." + (f" Did you mean '{near[0]}'?" if near else ""))
        module = importlib.import_module(f"trigpoint.cli.{cmd_name.replace('-', '_')}")
        command = typer.main.get_command(module.app)
        command.short_help = NOUNS[cmd_name]  # in the list; a command of one function keeps its own, longer help
        command.help = _unwrapped(command.help) if command.help else NOUNS[cmd_name]
        command.name = cmd_name
        return command


app = typer.Typer(cls=_Nouns, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and stop.")) -> None:
    """Evidence for planning and research: documents become passages that can be cited."""
    if version:
        print(f"trigpoint {__version__}")
        raise typer.Exit


def _unwrapped(text: str) -> str:
    """Return a text with each paragraph on one line, so that the terminal's width alone decides where it breaks."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


def main() -> None:
    """Run the command line. Our own errors, and the system's, are one clear line and exit code 1, never a traceback."""
    # Searches run side by side, so each multiplies in one thread. OpenBLAS's own threads spin while they wait: with them,
    # fifteen clients cost the server more than twice the time. It reads this when numpy is imported, further on.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    logging.lastResort.setLevel(logging.ERROR)  # type: ignore[union-attr]  # a command says what matters itself; servers set up their own logging
    try:
        app()
    except BaseExceptionGroup as group:  # of what ran side by side, the first thing that went wrong
        _end_with(_first_of(group))
    except (TrigpointError, OSError, KeyboardInterrupt) as error:
        _end_with(error)


def _first_of(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = next((one for one in error.exceptions if isinstance(one, TrigpointError)), error.exceptions[0])
    return error


def _end_with(error: BaseException) -> NoReturn:
    if isinstance(error, KeyboardInterrupt):
        sys.exit(130)
    if not isinstance(error, TrigpointError | OSError):
        raise error
    said = _with_way_out(error) if isinstance(error, TrigpointError) else _refusal(error)
    click.echo(f"trigpoint: {said}", err=True)
    sys.exit(1)


def _with_way_out(error: TrigpointError) -> str:
    way_out = _WAYS_OUT.get(error.code)
    return f"{error.message.removesuffix('.')}. {way_out}" if way_out else error.message


def _refusal(error: OSError) -> str:
    """Return what the system refused, and the variable that moves it if it belongs to the data folder."""
    from trigpoint.config import load_settings
    from trigpoint.storage.files import reason

    if not isinstance(error.filename, str):
        return reason(error)
    path, folder = Path(error.filename), load_settings().data_dir
    ours = path == folder or path in folder.parents or folder in path.parents
    hint = f". The data folder is {folder}; choose another with TRIGPOINT_DATA_DIR" if ours else ""
    return f"{path}: {reason(error)}{hint}"


if __name__ == "__main__":
    main()
