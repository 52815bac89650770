"""Output of commands: the option for JSON, a check that files can be written before the work starts, and texts by others made safe to print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import rich.markup
import typer

from trigpoint.errors import InvalidInput
from trigpoint.storage.files import make_writable, reason

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for other programs.")]


def printable(text: str) -> str:
    """Return a text by somebody else without control codes, which would act on the terminal. File names and registers can hold them."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def escape(text: str) -> str:
    """Return a text by somebody else for rich, so that it is printed as it is: without control codes, and not read as markup."""
    return rich.markup.escape(printable(text))


def check_files(paths: Iterable[Path]) -> None:
    """Raise InvalidInput if one of these cannot be written. Missing folders are created."""
    for path in paths:
        if path.is_dir():
            raise InvalidInput(f"{path} cannot be written: it is a folder. Name a file")
        check_folder(path.parent, path)


def check_folder(folder: Path, path: Path | None = None) -> None:
    """Raise InvalidInput if nothing can be written in this folder; `path` is the file that was to be."""
    try:
        make_writable(folder)
    except OSError as error:
        raise InvalidInput(f"{path or folder} cannot be written ({reason(error)}). Choose another place") from None
