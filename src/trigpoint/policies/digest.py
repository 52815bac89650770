"""Digests: short summaries written by us, for machines without a network. Each becomes a PDF that says so on every page."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from importlib.resources import files

MARK = "for demonstration; not the official text"
OWN_NUMBERS = "numbered by the digest"  # in a digest's note: its sections are not those of the original

_HEADING = re.compile(r"(#{1,3}) (.+)")
_TEMPLATE = b"""
#let data = json(bytes(sys.inputs.data))
#set document(title: data.title, date: none)
#set page(
  paper: "a4",
  margin: 25mm,
  header: text(8pt, data.marking),
  footer: context align(right, text(8pt, counter(page).display())),
)
#set text(size: 11pt, lang: "en", hyphenate: false, ligatures: false)
#set par(spacing: 14pt)
#for piece in data.pieces {
  if piece.level == 0 {
    par(piece.text)
  } else {
    if piece.new_page { pagebreak(weak: true) }
    block(above: 20pt, below: 12pt, sticky: true, text(weight: "bold", size: if piece.level == 1 { 16pt } else { 12pt }, piece.text))
  }
}
"""


@dataclass(frozen=True)
class _Piece:
    level: int  # of the heading; 0: a paragraph
    text: str
    new_page: bool = False


def read_digest(name: str) -> str:
    return files("trigpoint.policies").joinpath("digests", name).read_text(encoding="utf-8")


def checked_note(markdown: str) -> str:
    """Return what of a digest was checked against which original: its paragraph that begins with "Checked:"."""
    return next((piece.text for piece in _pieces(markdown) if piece.text.startswith("Checked:")), "")


def digest_pdf(markdown: str) -> bytes:
    """Return the digest as a PDF. Its second paragraph marks it as a digest, and heads every page."""
    import typst  # loads a compiler: only when a PDF is made

    pieces = _pieces(markdown)
    marking = next(piece.text for piece in pieces if piece.level == 0)
    if MARK not in marking:
        raise ValueError(f"A digest says that it is one: its first paragraph contains '{MARK}'")
    data = {"title": pieces[0].text, "marking": marking, "pieces": [asdict(piece) for piece in pieces]}
    compiled: bytes = typst.compile(_TEMPLATE, sys_inputs={"data": json.dumps(data)})
    return compiled


def _pieces(markdown: str) -> list[_Piece]:
    pieces = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        heading = _HEADING.fullmatch(block.strip())
        if heading is not None:
            pieces += _heading(len(heading[1]), heading[2])
        elif "\n" in block:  # a table: one row a line
            pieces += [_Piece(0, line.strip()) for line in block.splitlines()]
        else:
            pieces.append(_Piece(0, block.strip()))
    return pieces


def _heading(level: int, text: str) -> list[_Piece]:
    """Return a heading: a chapter begins a page, and a paragraph's number has its own line, as in the originals."""
    number, colon, title = text.partition(": ")
    if number.startswith("Para ") and colon:
        return [_Piece(level, number), _Piece(level, title)]
    return [_Piece(level, text, new_page=level == 2)]
