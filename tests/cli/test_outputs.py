"""What commands print of files that others made."""

from __future__ import annotations

import io

from rich.console import Console

from trigpoint.cli.outputs import escape


def test_the_name_of_a_file_cannot_act_on_the_terminal() -> None:
    screen = io.StringIO()
    name = escape("no\x1b[31mte\x1b]0;title\x07\x9b2J [bold]Östlich.pdf")
    Console(file=screen, width=200).print(f"unmatched {name}")
    assert screen.getvalue() == "unmatched no\ufffd[31mte\ufffd]0;title\ufffd\ufffd2J [bold]Östlich.pdf\n"
