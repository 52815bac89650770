"""The commands in README and docs: where they stand, whether they are to be run, what they should print."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").rglob("*.md") if p.parent.name != "reference")]

_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"<!-- (run|not run: (.+?)) -->\s*\Z")
_VARIES = [
    (re.compile(r"rev_[0-9A-HJKMNP-TV-Z]{26}"), r"rev_[0-9A-Z]{26}"),
    (re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z"), r"[0-9T:.Z-]+"),
]


@dataclass(frozen=True)
class Command:
    line: str
    output: str


@dataclass(frozen=True)
class Block:
    page: Path
    number: int
    mark: str | None  # "run", the reason why not, or None where nobody said
    commands: tuple[Command, ...]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.number}"


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):
        language, body = fence[2], fence[3]
        commands = tuple(_commands(body))
        if language not in ("console", "bash", "sh") and not commands:
            continue
        mark = _MARK.search(text[: fence.start()].rstrip(" "))
        said = None if mark is None else ("run" if mark[1] == "run" else mark[2])
        yield Block(page, text.count("\n", 0, fence.start()) + 1, said, commands)


def _commands(body: str) -> Iterator[Command]:
    for part in re.split(r"^\s*\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        taken = 1
        while lines[taken - 1].endswith("\\"):
            taken += 1
        yield Command("\n".join(lines[:taken]), "\n".join(lines[taken:]).strip())


def matches(shown: str, printed: str) -> bool:
    """Whether the page shows what was printed: spaces do not count, `…` is anything, ids and times may differ."""
    pattern = ""
    for piece in re.split(r"(…|\s+)", shown):
        if piece == "…":
            pattern += ".*?"
        elif not piece.strip():
            pattern += r"\s*"
        else:
            pattern += _with_variation(piece)
    return re.fullmatch(rf"\s*{pattern}\s*", printed, re.DOTALL) is not None


def _with_variation(piece: str) -> str:
    for found, varying in _VARIES:
        if match := found.search(piece):
            return _with_variation(piece[: match.start()]) + varying + _with_variation(piece[match.end() :])
    return re.escape(piece)
