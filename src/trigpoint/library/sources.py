"""Sources: a PDF, EPUB, Markdown, HTML, DOCX or text file becomes one text with its headings and any pages it has."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from trigpoint.errors import ExtractionFailed, NoContent, UnsupportedFileType
from trigpoint.library.epub import read_epub
from trigpoint.library.pdf_headings import SourceHeading, headings_of, text_headings
from trigpoint.library.progress import PageReader
from trigpoint.library.web_text import read_web_text
from trigpoint.text.chunk import PAGE_BREAK, PageText, document_text
from trigpoint.text.pages import clean_text
from trigpoint.text.running_lines import Body

_DOI = re.compile(r"\b10\.[0-9]{4,9}/[^\s\"<>|]{2,200}", re.ASCII)
_FRONT_MATTER = re.compile(r"---[ \t]*\n.*?\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_NO_TITLE = re.compile(r"^(untitled|microsoft |powerpoint )|\.(docx?|indd|pdf|pptx?|qxp|tex|dvi)$", re.IGNORECASE)
_LARGEST_PLAIN_FILE = 64 * 1024 * 1024


@dataclass(frozen=True)
class SourceText:
    """A source's text. `pages` are (physical page, offset of its first character); `labels` the printed numbers."""

    text: str
    headings: tuple[SourceHeading, ...] = ()
    pages: tuple[tuple[int, int], ...] = ()
    labels: dict[int, str] = field(default_factory=dict)
    title: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def doi(self) -> str | None:
        """The first DOI of the opening pages."""
        found = _DOI.search(self.text[:6000])
        return found.group().rstrip(".,;)]}").lower() if found else None


def read_source(path: Path, processor: PageReader) -> SourceText:
    """Return the text of a file. Raises UnsupportedFileType, ExtractionFailed or NoContent."""
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UnsupportedFileType(f"'{path.name}': only {', '.join(sorted(READERS))} can be read")
    source = reader(path, processor)
    if not source.text.strip():
        raise NoContent(f"'{path.name}' has no text")
    return source


def _read_pdf(path: Path, processor: PageReader) -> SourceText:
    extraction = processor.extract(path)
    outline = processor.outline(path)
    pages = Body.of(extraction.pages).pages
    starts, offset = [], 0
    for page in pages:
        starts.append((page.number, offset))
        offset += len(page.text) + len(PAGE_BREAK)
    return SourceText(
        text=document_text(pages),
        headings=headings_of(pages, outline, dict(starts)),
        pages=tuple(starts),
        labels={page.number: page.label for page in pages if page.label},
        title=outline.title if outline.title and not _NO_TITLE.search(outline.title) else None,
        warnings=extraction.warnings,
    )


def _read_markdown(path: Path, _: PageReader) -> SourceText:
    """Return the text as it is written, with the headings of Markdown itself: a comment in code is not one."""
    from markdown_it import MarkdownIt

    text, warnings = _decode_file(path)
    front = _FRONT_MATTER.match(text)
    lines = text.splitlines(keepends=True)
    starts = [0, *accumulate(map(len, lines))]
    first = text[: front.end()].count("\n") if front else 0
    tokens = MarkdownIt("commonmark").parse("".join(lines[first:]).replace("\x0b", " ").replace("\x0c", " "))
    headings = tuple(
        SourceHeading(starts[first + token.map[0]], int(token.tag[1]), words)
        for token, inline in pairwise(tokens)
        if token.type == "heading_open" and token.map and (words := _plain_words(inline))
    )
    said = re.search(r"^title:[ \t]*(.+)$", front[0], re.MULTILINE) if front else None
    title = said[1].strip(" \"'") if said else next((h.title for h in headings if h.level == 1), None)
    return SourceText(text, headings, title=title, warnings=warnings)


def _plain_words(inline: Any) -> str:
    parts = (child.content if child.type in ("text", "code_inline") else " " for child in inline.children or ())
    return " ".join("".join(parts).split())


def _read_html(path: Path, _: PageReader) -> SourceText:
    text, warnings = _decode_file(path)
    page = read_web_text(text)
    builder = _Builder()
    for words, level in page.blocks:
        builder.add(words, level=level)
    return builder.source(page.title, warnings)


def _read_epub(path: Path, _: PageReader) -> SourceText:
    book = read_epub(path)
    builder = _Builder()
    for chapter in book.chapters:
        for words, level in read_web_text(chapter, whole=True).blocks:
            builder.add(words, level=level)
    return builder.source(book.title, book.warnings)


def _read_docx(path: Path, _: PageReader) -> SourceText:
    import docx
    from docx.table import Table

    try:
        document = docx.Document(str(path))
    except Exception as error:
        raise ExtractionFailed(f"'{path.name}' cannot be read as a Word document ({error})") from error
    builder = _Builder()
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                builder.add(" | ".join(" ".join(cell.text.split()) for cell in row.cells))
        else:
            style = re.fullmatch(r"Heading ([1-9])|Title", block.style.name or "") if block.style else None
            builder.add(" ".join(block.text.split()), level=int(style[1] or 1) if style else None)
    return builder.source(document.core_properties.title or None, ())


@dataclass(frozen=True)
class _TextPage:
    number: int
    text: str


def _read_plain(path: Path, _: PageReader) -> SourceText:
    """Return a plain text. Form feeds end pages, as in the output of many programs; without any there are no pages."""
    raw, warnings = _decode_file(path, keep_form_feeds=True)
    parts = raw.rstrip("\f\n").split("\f")
    pages = [_TextPage(number, clean_text(part)) for number, part in enumerate(parts, start=1)]
    starts = dict(zip(range(1, len(pages) + 1), _page_starts(pages), strict=True))
    known = tuple(starts.items()) if len(pages) > 1 else ()
    return SourceText(document_text(pages), text_headings(pages, starts), known, warnings=warnings)


def _page_starts(pages: Sequence[PageText]) -> list[int]:
    lengths = (len(page.text) + len(PAGE_BREAK) for page in pages[:-1])
    return [0, *accumulate(lengths)]


class _Builder:
    """Joins blocks with a blank line between them, and remembers the places of headings."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._headings: list[SourceHeading] = []
        self._length = 0

    def add(self, words: str, *, level: int | None = None) -> None:
        words = clean_text(words)
        if not words.strip():
            return
        if level is not None:
            self._headings.append(SourceHeading(self._length, level, words))
        self._parts.append(words)
        self._length += len(words) + len(PAGE_BREAK)

    def source(self, title: str | None, warnings: tuple[str, ...]) -> SourceText:
        title = title or next((h.title for h in self._headings if h.level == 1), None)
        return SourceText(PAGE_BREAK.join(self._parts), tuple(self._headings), title=title, warnings=warnings)


def _decode_file(path: Path, *, keep_form_feeds: bool = False) -> tuple[str, tuple[str, ...]]:
    if path.stat().st_size > _LARGEST_PLAIN_FILE:
        raise ExtractionFailed(f"'{path.name}' is larger than {_LARGEST_PLAIN_FILE // 2**20} MB")
    raw = path.read_bytes()
    if b"\0" in raw[:8192]:
        raise ExtractionFailed(f"'{path.name}' is not a text file")
    try:
        text, warnings = raw.decode("utf-8-sig"), tuple[str, ...]()
    except UnicodeDecodeError:
        text, warnings = raw.decode("cp1252", "replace"), ("not UTF-8: read as Windows-1252",)
    cleaned = (clean_text(part) for part in text.split("\f")) if keep_form_feeds else [clean_text(text)]
    return "\f".join(cleaned), warnings


SourceReader = Callable[[Path, PageReader], SourceText]
READERS: dict[str, SourceReader] = {
    ".pdf": _read_pdf,
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".html": _read_html,
    ".htm": _read_html,
    ".docx": _read_docx,
    ".epub": _read_epub,
    ".txt": _read_plain,
}
