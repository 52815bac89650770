"""Reads the pages of Idox Public Access: HTML in, values out, no network.

Councils run one product with many skins: tables are found by their id or their header, columns by their names. A page that is
not understood is an error that says what was expected and what was found, never an empty list.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from trigpoint.errors import PageNotUnderstood, RequestFailed
from trigpoint.registers.labels import describe, label_text, plain, register_day, same_reference, value_or_none
from trigpoint.registers.models import Application, RegisterDocument

log = logging.getLogger(__name__)

_DETAILS = "table#simpleDetailsTable, table#applicationDetails, table#importantDates"
_COLUMNS = {
    "date published": "date",
    "date": "date",
    "published": "date",
    "document type": "type",
    "type": "type",
    "description": "description",
    "drawing number": "drawing",
    "drawing/rev number": "drawing",
    "measure": "drawing",
}
_EXPECTED = "table#Documents with the columns Date Published, Document Type and Description"
_LINK = "a[href*='/files/'], a[href^='files/'], a[href*='viewDocument' i], a[href*='download' i]"
_KEY = re.compile(r"[A-Za-z0-9_.-]{3,64}", re.ASCII)
_FILE = re.compile(r"/files/([0-9A-Fa-f]{16,64})/")
_NONE = re.compile(r"\b(?:there are |currently )?no (?:\w+ ){0,2}documents?\b", re.IGNORECASE)
_FAULT = re.compile(r"unable to perform this task|remote exception occurred|an error has occurred", re.IGNORECASE)
_REFERENCE = re.compile(r"(?:Ref(?:erence)?\.? ?(?:No\.?|number)?) ?: ?(\S+)", re.IGNORECASE)


@dataclass(frozen=True)
class FoundApplication:
    """An application in a list of results."""

    reference: str
    key: str
    proposal: str | None = None
    address: str | None = None
    facts: Mapping[str, str] = field(default_factory=dict)  # what its line of facts says: "validated", "status"

    def application(self) -> Application:
        """Return what the list tells of the application."""
        return Application(
            reference=self.reference,
            proposal=self.proposal,
            address=self.address,
            status=value_or_none(self.facts.get("status", "")),
            date_received=register_day(self.facts.get("received", "")),
            date_validated=register_day(self.facts.get("validated", "")),
        )


def is_fault(page: LexborHTMLParser) -> bool:
    """Return whether the register answered with its page for passing faults, which comes with status 200."""
    if page.css_matches(_DETAILS) or page.css_matches("table#Documents"):
        return False
    return _FAULT.search(plain(page.body)[:4000]) is not None


def parse_results(page: LexborHTMLParser) -> list[FoundApplication]:
    """Return the applications of a page of results; none if the page says so. Raises PageNotUnderstood, RequestFailed."""
    rows = page.css("li.searchresult")
    results = [one for row in rows if (one := _result_in_row(row)) is not None]
    if results:
        return results
    said = _message(page)
    if "too many results" in said:
        raise RequestFailed("The register found too many applications for this reference. Give the whole reference")
    if "no results" in said:
        return []
    raise PageNotUnderstood(
        f"The page of search results has neither results (expected li.searchresult with a link to "
        f"applicationDetails.do and 'Ref. No:') nor 'No results found'. Found: {describe(page)}"
    )


def key_of_details(page: LexborHTMLParser, application_ref: str) -> str | None:
    """Return the register's key if the search led straight to the application's own page."""
    pairs = dict(details(page))
    if not pairs or not same_reference(pairs.get("reference") or "", application_ref):
        return None
    for link in page.css("a[href*='keyVal=']"):
        if key := _key_in(link.attributes.get("href") or ""):
            return key
    return None


def details(page: LexborHTMLParser) -> Iterator[tuple[str, str | None]]:
    """Yield labels and values of the tables on the summary, details and dates tabs."""
    for table in page.css(_DETAILS):
        for row in table.css("tr"):
            label, value = row.css_first("th"), row.css_first("td")
            if label is not None and value is not None:
                yield label_text(plain(label)), value_or_none(plain(value))


def require_details(page: LexborHTMLParser, tab: str, application_ref: str) -> None:
    """Raise PageNotUnderstood unless the page has a table of details."""
    if not page.css_matches(_DETAILS):
        raise PageNotUnderstood(
            f"The {tab} tab of {application_ref} has no table of details (expected table#simpleDetailsTable or "
            f"table#applicationDetails). Found: {describe(page)}"
        )


def parse_documents(page: LexborHTMLParser, page_url: str) -> list[RegisterDocument]:
    """Return the documents of one page of the documents tab. Empty only if the page shows or says that there are none."""
    table = _document_table(page)
    if table is None:
        _refuse_other_system(page)
        if _NONE.search(plain(page.css_first("#content, main, body"))):
            return []
        raise PageNotUnderstood(
            f"The documents tab has no list of documents (expected {_EXPECTED}). Found: {describe(page)}"
        )
    header, *rows = table.css("tr")
    columns = _header_columns(header)
    documents: dict[str, RegisterDocument] = {}
    without_link = 0
    for row in rows:
        cells = {columns[n]: cell for n, cell in enumerate(_row_cells(row)) if n in columns}
        if not cells or all(cell.tag == "th" for cell in cells.values()):
            continue
        url = _document_link(row, page_url)
        if url is None:
            without_link += 1
        else:
            document = _document_in_cells(cells, url)
            documents.setdefault(document.document_id, document)
    if without_link and not documents:
        raise PageNotUnderstood(
            f"None of the {without_link} documents on the tab has a link (expected a[href*='/files/'] in each row). "
            f"Found: {describe(page)}"
        )
    if without_link:
        log.warning("%d documents on the tab have no link and cannot be fetched", without_link)
    return list(documents.values())


def weeks_between(choices: Mapping[str, str], since: date, until: date) -> list[str]:
    """Return the values of the weeks, named by their first day, that have a day between two days."""
    days = {value: register_day(value) or register_day(shown) for shown, value in choices.items()}
    return [
        value
        for value, first in days.items()
        if first is not None and first <= until and first + timedelta(days=6) >= since
    ]


def next_page(page: LexborHTMLParser, page_url: str) -> str | None:
    """Return the address of the next page of results or documents."""
    link = page.css_first("p.pager a.next, .pager a.next, a.next[href*='page']")
    return _join(page_url, link.attributes.get("href") or "") if link is not None else None


def document_id(url: str) -> str:
    """Return 12 hex digits: of the hash in the address, without the file's name, or else of path and query."""
    parts = urlsplit(url)
    match = _FILE.search(parts.path)
    key = f"files/{match[1].lower()}" if match else f"{parts.path}?{parts.query}"
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def name_in_url(url: str) -> str | None:
    """Return the last part of the path, unless it is an action such as `viewDocument.do`."""
    last = unquote(urlsplit(url).path.rsplit("/", 1)[-1]).strip()
    return last if "." in last and not last.lower().endswith(".do") else None


def _result_in_row(row: LexborNode) -> FoundApplication | None:
    link = row.css_first("a[href*='applicationDetails.do']")
    key = _key_in(link.attributes.get("href") or "") if link is not None else None
    line = plain(row.css_first(".metaInfo")) or plain(row)
    match = _REFERENCE.search(line)
    if link is None or key is None or match is None:
        return None
    return FoundApplication(
        match[1], key, plain(link) or None, value_or_none(plain(row.css_first(".address"))), _facts(line)
    )


def _facts(line: str) -> dict[str, str]:
    """Return the parts of "Ref. No: … | Received: … | Validated: … | Status: …" by their labels."""
    parts = [part.partition(":") for part in line.split("|")]
    return {label_text(label.strip()): value.strip() for label, _, value in parts}


def _key_in(href: str) -> str | None:
    try:
        query = parse_qsl(urlsplit(href).query)
    except ValueError:
        return None
    key = next((value for name, value in query if name.lower() == "keyval"), "")
    return key if _KEY.fullmatch(key) else None


def _message(page: LexborHTMLParser) -> str:
    boxes = [box for box in page.css(".messagebox") if "announcement" not in (box.attributes.get("class") or "")]
    return " ".join(plain(box) for box in boxes).casefold()


def _document_table(page: LexborHTMLParser) -> LexborNode | None:
    for table in page.css("table"):
        header = table.css_first("tr")
        names = {label_text(plain(cell)) for cell in _row_cells(header)} if header is not None else set()
        if {"document type", "description"} <= names or ("date published" in names and "document type" in names):
            return table
    return None


def _refuse_other_system(page: LexborHTMLParser) -> None:
    """Raise RequestFailed if the tab only links to another system, in which some councils keep the documents."""
    for link in page.css("a[href]"):
        if re.search(r"view (?:associated |related )?documents", plain(link), re.IGNORECASE):
            target = link.attributes.get("href") or ""
            if urlsplit(_join("https://register.invalid/", target) or "").hostname not in (None, "register.invalid"):
                raise RequestFailed(
                    f"The register keeps the documents in another system, which Trigpoint does not read: {target[:300]}",
                    link=target[:300],
                )


def _row_cells(row: LexborNode) -> list[LexborNode]:
    return [cell for cell in row.iter() if cell.tag in ("td", "th")]


def _header_columns(header: LexborNode) -> dict[int, str]:
    columns: dict[int, str] = {}
    for number, cell in enumerate(_row_cells(header)):
        name = _COLUMNS.get(label_text(plain(cell)))
        if name is not None and name not in columns.values():
            columns[number] = name
    return columns


def _document_link(row: LexborNode, page_url: str) -> str | None:
    for link in row.css(_LINK):
        url = _join(page_url, (link.attributes.get("href") or "").strip())
        if url is not None:
            return url
    return None


def _join(base: str, target: str) -> str | None:
    if not target or target.startswith("#"):
        return None
    try:
        url = urljoin(base, target)
        return url if urlsplit(url).scheme in ("http", "https") and urlsplit(url).hostname else None
    except ValueError:
        return None


def _document_in_cells(cells: dict[str, LexborNode], url: str) -> RegisterDocument:
    def text(column: str) -> str | None:
        return value_or_none(plain(cells.get(column)))

    name, kind = name_in_url(url), text("type")
    description = text("description") or kind or name or "Document"
    return RegisterDocument(
        document_id=document_id(url),
        description=description,
        document_type=kind or "",
        date_published=_published(text("date")),
        url=url,
        file_size=None,
        file_name=name or description,
        drawing_ref=text("drawing"),
    )


def _published(text: str | None) -> date | None:
    return register_day(text) if text else None
