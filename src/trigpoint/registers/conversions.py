"""Word files, e-mails and plain text as PDF, so that they are read, cited and shown like every other document.

Page breaks are those of the source (form feeds); a page of the PDF is as long as it has to be.
"""

from __future__ import annotations

import email
import email.policy
import json
import re
import unicodedata
import zipfile
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

from trigpoint.errors import InvalidInput, shorten

_Part = dict[str, object]  # {"text": …} or {"rows": [[…]]}, as the template reads it

_MAX_CHARACTERS = 5_000_000
_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
_TEMPLATE = b"""
#let data = json(bytes(sys.inputs.data))
#set page(width: 21cm, height: auto, margin: 2cm)
#set text(size: 9pt, hyphenate: false)
#set par(justify: false)
#for (number, parts) in data.enumerate() {
  if number > 0 { pagebreak(weak: false) }
  for part in parts {
    if "rows" in part {
      table(columns: part.rows.at(0).len(), ..part.rows.flatten().map(cell => text(cell)))
    } else {
      block(part.text.split("\\n").map(line => text(line)).join(linebreak()))
    }
  }
}
"""


def _text_as_pdf(path: Path) -> bytes:
    """Return a text file as PDF. Raises InvalidInput if it is empty or too long."""
    return _typeset(
        [[{"text": paragraph} for paragraph in _paragraphs(page)] for page in _decode_text(path).split("\f")]
    )


def _word_as_pdf(path: Path) -> bytes:
    """Return the paragraphs and tables of a .docx as PDF. Raises InvalidInput if it cannot be read."""
    import docx
    from docx.table import Table

    try:
        document = docx.Document(str(path))
        parts: list[_Part] = []
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                parts += _table([[cell.text for cell in row.cells] for row in block.rows])
            elif block.text.strip():
                parts.append({"text": block.text})
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as error:
        raise InvalidInput(f"The Word file cannot be read: {shorten(error)}") from None
    return _typeset([parts])


def _email_as_pdf(path: Path) -> bytes:
    """Return subject, date and text of an e-mail as PDF, without anybody's address. Raises InvalidInput if it has no text."""
    try:
        message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        body = message.get_body(preferencelist=("plain", "html"))
        content = str(body.get_content()) if body is not None else ""
        if body is not None and body.get_content_type() == "text/html":
            content = re.sub(r"<[^>]+>", " ", content)
        head = "\n".join(f"{name}: {message[name]}" for name in ("Subject", "Date") if message[name])
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise InvalidInput(f"The e-mail cannot be read: {shorten(error)}") from None
    parts: list[_Part] = [{"text": paragraph} for paragraph in (head, *_paragraphs(content))]
    return _typeset([parts])


CONVERTERS: dict[str, tuple[str, Callable[[Path], bytes]]] = {
    ".txt": ("text", _text_as_pdf),
    ".csv": ("text", _text_as_pdf),
    ".docx": ("a Word file", _word_as_pdf),
    ".eml": ("an e-mail", _email_as_pdf),
}
"""Which kinds are read by way of a PDF, with the name that the account gives them."""


def _table(rows: list[list[str]]) -> list[_Part]:
    width = max((len(row) for row in rows), default=0)
    if not width:
        return []
    return [{"rows": [[cell.strip() for cell in row] + [""] * (width - len(row)) for row in rows]}]


def _decode_text(path: Path) -> str:
    content = path.read_bytes()
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    return content.decode("latin-1")


def _paragraphs(text: str) -> Iterable[str]:
    return (paragraph.strip("\r\n") for paragraph in re.split(r"\r?\n[ \t]*\r?\n", text) if paragraph.strip())


def _typeset(pages: list[list[_Part]]) -> bytes:
    import typst

    data = json.dumps(_printable(pages), ensure_ascii=False)
    if not any(parts for parts in pages):
        raise InvalidInput("The file contains no text")
    if len(data) > _MAX_CHARACTERS:
        raise InvalidInput(f"The file has more than {_MAX_CHARACTERS:,} characters")
    made = typst.compile(
        _TEMPLATE, format="pdf", ignore_system_fonts=True, timestamp=_UNDATED, sys_inputs={"data": data}
    )
    assert isinstance(made, bytes)
    return made


def _printable(value: object) -> object:
    match value:
        case str():
            return "".join(c if c == "\n" or unicodedata.category(c) not in ("Cc", "Cs", "Cn") else " " for c in value)
        case dict():
            return {key: _printable(item) for key, item in value.items()}
        case list():
            return [_printable(item) for item in value]
        case _:
            return value
