"""Reads the list of documents on a DEF Atrium page: sections, columns by header, links, sizes, names."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from urllib.parse import parse_qsl, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import PageNotUnderstood, shorten
from trigpoint.registers.labels import describe, plain, register_day, value_or_none
from trigpoint.registers.models import RegisterDocument

log = logging.getLogger(__name__)

_NO_DOCUMENTS = "No Attachments found for this Application"

_COLUMNS = {
    "document type": "type",
    "document": "type",
    "type": "type",
    "date": "date",
    "date published": "date",
    "published date": "date",
    "published": "date",
    "description": "description",
    "file size": "size",
    "size": "size",
    "drawing/rev number": "drawing",
    "drawing/rev": "drawing",
    "drawing number": "drawing",
}
_LINK = "a.singledownloadlink, a[href*='/Document/Download' i], a[data-disabled-link]"
_IDENTIFYING = ("module", "recordnumber", "planid", "imageid", "isplan")
_SIZE = re.compile(r"\(?\s*([0-9]{1,9}(?:[.,][0-9]{1,3})?)\s*(bytes|b|kb|mb|gb)\s*\)?", re.IGNORECASE | re.ASCII)
_UNITS = {"bytes": 1, "b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3}
_SORT_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})", re.ASCII)
_SORT_BYTES = re.compile(r"[0-9]{1,15}", re.ASCII)
_SECTION_CLASSES = {"header", "subhead", "category-header"}


def parse_documents(page: LexborHTMLParser, base_url: str) -> list[RegisterDocument]:
    """Return all documents in the order of the page. Empty only if the page says that there are none."""
    tables = [table for table in page.css("table") if _is_document_table(table)]
    documents: dict[str, RegisterDocument] = {}
    without_link = 0
    for table in tables:
        for document in _documents_in_table(table, base_url):
            if document is None:
                without_link += 1
            else:
                documents.setdefault(document.document_id, document)
    if not documents and (without_link or _NO_DOCUMENTS.casefold() not in " ".join(page.text().split()).casefold()):
        raise PageNotUnderstood(
            f"The page lists no document that can be fetched ({without_link} rows without a link; expected rows "
            f"of table.document-list with a.singledownloadlink, or '{_NO_DOCUMENTS}'). Found: {describe(page)}"
        )
    if without_link:
        log.warning("%d documents on the page have no link and cannot be fetched", without_link)
    return list(documents.values())


def document_id(url: str) -> str:
    """Return 12 hex digits of a hash of the parameters that identify a document, without its name and the host."""
    parts = urlsplit(url)
    query = [(name.lower(), value) for name, value in parse_qsl(parts.query, keep_blank_values=True)]
    identifying = {name: value.lower() for name, value in query if name in _IDENTIFYING}
    if identifying.get("planid") or identifying.get("imageid"):
        key = "&".join(f"{name}={identifying.get(name, '')}" for name in _IDENTIFYING)
    else:
        key = f"{parts.path}?{parts.query}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def name_in_url(url: str) -> str | None:
    """Return the name in the `fileName=` of a download address."""
    query = parse_qsl(urlsplit(url).query)
    return next((value for name, value in query if name.lower() == "filename" and value.strip()), None)


def parse_size(text: str) -> int | None:
    """Return `5.2 MB`, `130kb`, `(70kb)` in bytes, as precisely as the page says."""
    match = _SIZE.fullmatch(text.strip())
    return round(float(match[1].replace(",", ".")) * _UNITS[match[2].lower()]) if match else None


def _is_document_table(table: LexborNode) -> bool:
    return "document-list" in (table.attributes.get("class") or "").split() or table.css_first(_LINK) is not None


@dataclass(frozen=True)
class _Row:
    """A data row whose cells are found by the name of their column."""

    cells: dict[str, LexborNode]

    def text(self, column: str) -> str | None:
        return value_or_none(plain(self.cells.get(column)))

    def sort_value(self, column: str) -> str:
        cell = self.cells.get(column)
        return ((cell.attributes.get("data-sort-value") if cell is not None else None) or "").strip()


def _documents_in_table(table: LexborNode, base_url: str) -> Iterator[RegisterDocument | None]:
    """Yield the documents of one table; None for a row that lists one without a link to it."""
    columns: dict[int, str] | None = None
    section: str | None = None
    for row in table.css("tr"):
        cells = _cells_by_column(row)
        link = row.css_first(_LINK)
        if link is None and columns is None and len(cells) > 1 and all(cell.tag == "th" for cell in cells.values()):
            columns = _document_columns(cells)
        elif link is None and (title := _section_title(row, cells)) is not None:
            section = title
        elif link is not None or any(cell.tag == "td" for cell in cells.values()):
            if columns is None:
                raise PageNotUnderstood("The document list has no header row; expected " + _EXPECTED_HEADER)
            named = _Row({columns[n]: cell for n, cell in cells.items() if n in columns})
            url = _first_link(row, base_url)
            yield _document_in_row(row, named, url, section) if url else None


_EXPECTED_HEADER = "Document Type, Date, Description, File Size, Drawing/Rev Number in any order"


def _cells_by_column(row: LexborNode) -> dict[int, LexborNode]:
    """Return the cells by the column in which they start."""
    placed, column = {}, 0
    for cell in row.iter():
        if cell.tag in ("td", "th"):
            placed[column] = cell
            span = cell.attributes.get("colspan") or ""
            column += int(span) if re.fullmatch(r"[1-9][0-9]?", span, re.ASCII) else 1
    return placed


def _document_columns(cells: dict[int, LexborNode]) -> dict[int, str]:
    names = {n: _COLUMNS.get(plain(cell).casefold()) for n, cell in cells.items()}
    columns = {n: name for n, name in names.items() if name is not None}
    if not {"description", "type"} & set(columns.values()):
        shown = ", ".join(shorten(plain(cell), 30) for cell in cells.values())
        raise PageNotUnderstood(f"The document list has the columns '{shown}'; expected {_EXPECTED_HEADER}")
    return columns


def _section_title(row: LexborNode, cells: dict[int, LexborNode]) -> str | None:
    classes = set((row.attributes.get("class") or "").split())
    titles = [text for cell in cells.values() if (text := plain(cell))]
    alone = len(titles) == 1 and (len(cells) == 1 or all(cell.tag == "th" for cell in cells.values()))
    if titles and (classes & _SECTION_CLASSES or alone):
        return re.sub(r"(?i)^group:\s*", "", titles[-1])
    return None


def _first_link(row: LexborNode, base_url: str) -> str | None:
    """Return the first link of a row that leads somewhere by HTTP."""
    for link in row.css(_LINK):
        for attribute in ("href", "data-disabled-link"):
            target = (link.attributes.get(attribute) or "").strip()
            if not target or target.startswith("#"):
                continue
            try:
                url = urljoin(base_url + "/", target)
                if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname:
                    return url
            except ValueError:
                continue
    return None


def _document_in_row(row: LexborNode, named: _Row, url: str, section: str | None) -> RegisterDocument:
    box = row.css_first("input[data-filename]")
    kind = named.text("type")
    file_name = (box.attributes.get("data-filename") if box is not None else None) or name_in_url(url)
    description = named.text("description") or kind or file_name or "Document"
    return RegisterDocument(
        document_id=document_id(url),
        description=description,
        document_type=section or kind or "",
        date_published=_published(named),
        url=url,
        file_size=_size_in_bytes(named),
        file_name=file_name or description,
        drawing_ref=named.text("drawing"),
    )


def _published(named: _Row) -> date | None:
    day = register_day(named.text("date") or "")
    match = _SORT_DAY.fullmatch(named.sort_value("date"))
    if day is None and match is not None:
        return register_day(f"{match[3]}/{match[2]}/{match[1]}")
    return day


def _size_in_bytes(named: _Row) -> int | None:
    exact = named.sort_value("size")
    return int(exact) if _SORT_BYTES.fullmatch(exact) else parse_size(named.text("size") or "")
